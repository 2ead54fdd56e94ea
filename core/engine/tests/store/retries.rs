use ojs_engine::command::Outcome;
use ojs_engine::job::flag;
use ojs_model::JobState;
use serde_json::Value;

use crate::support::{Bench, seconds};

crate::on_every_store!(
    back_off_follows_the_policy,
    history_keeps_every_failure,
    an_ack_clears_the_error_and_keeps_the_history,
    a_final_error_ends_the_job,
    handler_codes_decide,
    history_is_bounded,
);

fn policy(retry: &str) -> String {
    format!(r#"{{"type":"t","args":[],"options":{{"queue":"q","retry":{retry}}}}}"#)
}

async fn back_off_follows_the_policy(b: Bench) {
    let id = b
        .enqueue(&policy(
            r#"{"max_attempts":4,"initial_interval":"PT1S","backoff_coefficient":3.0,"max_interval":"PT5S","jitter":false}"#,
        ))
        .await;
    for (attempt, wait) in [(1, 1_u64), (2, 3), (3, 5)] {
        let job = b.claim(1).await.remove(0);
        assert_eq!(job.row.attempt, attempt);
        let row = b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap().row;
        assert_eq!(
            (row.state, row.sort_key, row.retry_delay),
            (JobState::Retryable, b.now() + wait as i64 * 1000, wait as i64 * 1000)
        );
        b.advance(seconds(wait - 1)).await;
        assert!(b.claim(1).await.is_empty());
        b.advance(seconds(1)).await;
    }
    let job = b.claim(1).await.remove(0);
    assert_eq!(job.row.retry_delay, 5_000, "the latest delay is seen on the fetched job");
    assert_eq!(b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap().row.state, JobState::Discarded);
    assert_eq!(b.get(id).await.row.finished_at, b.now());
}

async fn history_keeps_every_failure(b: Bench) {
    let id = b.enqueue(&policy(r#"{"max_attempts":3,"jitter":false}"#)).await;
    for n in 1..=3 {
        let job = b.claim(1).await.remove(0);
        let error = format!(r#"{{"code":"c{n}","type":"T{n}","message":"m{n}","details":{{"n":{n}}},"backtrace":["a","b"]}}"#);
        b.nack(&job, &error).await.unwrap();
        b.advance(seconds(10)).await;
    }
    let view = b.get(id).await;
    let errors: Vec<Value> = serde_json::from_str(&view.history.errors).unwrap();
    for (n, error) in (1..).zip(&errors) {
        assert_eq!((&error["attempt"], error["code"].as_str()), (&Value::from(n), Some(format!("c{n}").as_str())));
        assert_eq!((error["type"].as_str(), &error["details"]["n"]), (Some(format!("T{n}").as_str()), &Value::from(n)));
        assert!(error["occurred_at"].as_str().unwrap().ends_with('Z'));
    }
    assert_eq!(errors.len(), 3);
    assert!(view.row.has(flag::ERROR));
}

async fn an_ack_clears_the_error_and_keeps_the_history(b: Bench) {
    let id = b.enqueue(&policy(r#"{"max_attempts":3,"jitter":false}"#)).await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.advance(seconds(1)).await;
    let job = b.claim(1).await.remove(0);
    b.settle(id, Some(job.row.lease), Outcome::Ack(Some(r#"{"n":1.50}"#.into()))).await.unwrap();
    let view = b.get(id).await;
    assert!(!view.row.has(flag::ERROR) && view.row.has(flag::ERRORS));
    assert_eq!(view.history.result, r#"{"n":1.50}"#, "a result is kept as it was written");
}

async fn a_final_error_ends_the_job(b: Bench) {
    let listed = policy(r#"{"max_attempts":5,"non_retryable_errors":["auth.*","Fatal"]}"#);
    for (error, ends) in [
        (r#"{"code":"x","message":"m","retryable":false}"#, true),
        (r#"{"code":"auth.expired","message":"m"}"#, true),
        (r#"{"code":"x","type":"Fatal","message":"m"}"#, true),
        (r#"{"code":"x","message":"m","details":{"error_class":"auth.x"}}"#, true),
        (r#"{"code":"auth","message":"m"}"#, false),
    ] {
        b.enqueue(&listed).await;
        let job = b.claim(1).await.remove(0);
        let state = b.nack(&job, error).await.unwrap().row.state;
        assert_eq!(state == JobState::Discarded, ends, "{error}");
        assert_eq!(state == JobState::Retryable, !ends, "{error}");
    }
}

async fn handler_codes_decide(b: Bench) {
    for (code, state, dead) in [
        ("DISCARD", JobState::Discarded, false),
        ("FAIL", JobState::Discarded, false),
        ("DEAD_LETTER", JobState::Discarded, true),
        ("RETRY", JobState::Retryable, false),
    ] {
        b.enqueue(&policy(r#"{"max_attempts":5,"on_exhaustion":"dead_letter"}"#)).await;
        let job = b.claim(1).await.remove(0);
        let error = format!(r#"{{"code":"{code}","message":"m","retryable":{}}}"#, code != "RETRY");
        let row = b.nack(&job, &error).await.unwrap().row;
        assert_eq!((row.state, row.has(flag::DEAD)), (state, dead), "{code}");
    }
}

async fn history_is_bounded(b: Bench) {
    let id = b
        .enqueue(&policy(r#"{"max_attempts":100,"initial_interval":"PT1S","backoff_strategy":"constant","jitter":false}"#))
        .await;
    for _ in 0..60 {
        let job = b.claim(1).await.remove(0);
        b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
        b.advance(seconds(1)).await;
    }
    let errors: Vec<Value> = serde_json::from_str(&b.get(id).await.history.errors).unwrap();
    assert_eq!((errors.len(), &errors[49]["attempt"]), (50, &Value::from(60)), "the newest fifty");
}
