use ojs_engine::command::{Cancel, Enqueue};
use ojs_engine::error::Refusal;
use ojs_engine::placed::Placed;
use ojs_model::{JobId, JobState, NewJob};
use std::sync::Arc;

use crate::support::{Bench, seconds};

crate::on_every_store!(
    reject_refuses_while_the_other_counts,
    the_period_ends,
    states_decide_what_counts,
    ignore_answers_with_the_existing_job,
    replace_cancels_the_existing_job,
    replace_except_schedule_passes_the_time_on,
    what_is_over_is_not_replaced,
    a_batch_is_checked_within_itself,
    a_refused_batch_replaces_nothing,
    retries_and_replays_are_not_checked,
    concurrent_enqueues_make_one_job,
);

fn request(unique: &str, more: &str) -> String {
    format!(r#"{{"type":"t","args":[1],"options":{{"queue":"q","unique":{unique}{more}}}}}"#)
}

async fn place(b: &Bench, requests: &[&str]) -> Result<Vec<Placed>, Refusal> {
    let now = ojs_model::Timestamp::from_millis(b.now());
    let jobs = requests.iter().map(|text| Arc::new(NewJob::parse(text, now).unwrap())).collect();
    b.engine.store().execute(Enqueue(jobs)).await
}

async fn refused(b: &Bench, request: &str) -> JobId {
    let Err(Refusal::Ojs(error)) = place(b, &[request]).await else { panic!("accepted") };
    assert!(error.is_duplicate());
    error.details.unwrap()["existing_job_id"].as_str().unwrap().parse().unwrap()
}

async fn reject_refuses_while_the_other_counts(b: Bench) {
    let unique = request(r#"{"keys":["type","args"]}"#, "");
    let first = b.enqueue(&unique).await;
    assert_eq!(refused(&b, &unique).await, first);
    let other = unique.replace("[1]", "[2]");
    b.enqueue(&other).await;
    b.job().await;
    let job = b.claim(1).await.remove(0);
    assert_eq!(refused(&b, &unique).await, first, "active counts");
    b.ack(&job).await.unwrap();
    b.enqueue(&unique).await;
}

async fn the_period_ends(b: Bench) {
    let unique = request(r#"{"period":"PT10S"}"#, "");
    b.enqueue(&unique).await;
    b.advance(seconds(9)).await;
    refused(&b, &unique).await;
    b.advance(seconds(1)).await;
    b.enqueue(&unique).await;
}

async fn states_decide_what_counts(b: Bench) {
    let unique = request(r#"{"states":["completed"]}"#, "");
    b.enqueue(&unique).await;
    b.enqueue(&unique).await;
    let job = b.claim(1).await.remove(0);
    b.ack(&job).await.unwrap();
    assert_eq!(refused(&b, &unique).await, job.row.id);
}

async fn ignore_answers_with_the_existing_job(b: Bench) {
    let unique = request(r#"{"on_conflict":"ignore"}"#, "");
    let first = b.enqueue(&unique).await;
    let placed = place(&b, &[&unique]).await.unwrap().remove(0);
    assert_eq!((placed.job.row.id, placed.deduplicated), (first, true));
    assert_eq!(b.counts("q").await[JobState::Available as usize], 1);
}

async fn replace_cancels_the_existing_job(b: Bench) {
    let unique = request(r#"{"on_conflict":"replace"}"#, "");
    let first = b.enqueue(&unique).await;
    let held = b.claim(1).await.remove(0);
    let second = b.enqueue(&unique).await;
    assert_eq!((b.state(first).await, b.state(second).await), (JobState::Cancelled, JobState::Available));
    assert_eq!(b.ack(&held).await.unwrap_err().status, 409);
    assert!(b.story(first).await.contains(&"job.cancelled".to_owned()));
}

async fn replace_except_schedule_passes_the_time_on(b: Bench) {
    let policy = r#"{"on_conflict":"replace_except_schedule"}"#;
    let first = b.enqueue(&request(policy, r#","delay_until":"+PT10S""#)).await;
    let at = b.get(first).await.row.sort_key;
    let second = b.enqueue(&request(policy, "")).await;
    let row = b.get(second).await.row;
    assert_eq!((b.state(first).await, row.state, row.sort_key), (JobState::Cancelled, JobState::Scheduled, at));
    b.advance(seconds(10)).await;
    let third = b.enqueue(&request(policy, "")).await;
    assert_eq!(b.state(third).await, JobState::Available, "nothing scheduled any more: as replace");
}

async fn what_is_over_is_not_replaced(b: Bench) {
    let states = r#""states":["available","completed","cancelled","discarded"]"#;
    for policy in ["replace", "replace_except_schedule"] {
        let unique = request(&format!(r#"{{"on_conflict":"{policy}",{states}}}"#), "");
        let done = b.enqueue(&unique).await;
        let held = b.claim(1).await.remove(0);
        b.ack(&held).await.unwrap();
        let first = b.enqueue(&unique).await;
        let second = b.enqueue(&unique).await;
        assert_eq!(
            (b.state(done).await, b.state(first).await, b.state(second).await),
            (JobState::Completed, JobState::Cancelled, JobState::Available)
        );
        b.change(Cancel(second)).await.unwrap();
    }
}

async fn a_batch_is_checked_within_itself(b: Bench) {
    let reject = request("{}", "");
    assert!(
        matches!(place(&b, &[&reject, &reject]).await, Err(Refusal::Ojs(error)) if error.details.as_ref().unwrap()["index"] == 1)
    );
    assert_eq!(b.counts("q").await, [0; 8]);
    let ignore = request(r#"{"on_conflict":"ignore"}"#, "");
    let placed = place(&b, &[&ignore, &ignore]).await.unwrap();
    assert_eq!((placed[0].job.row.id, placed[1].deduplicated), (placed[1].job.row.id, true));
    let replace = request(r#"{"on_conflict":"replace"}"#, "").replace("\"t\"", "\"u\"");
    let placed = place(&b, &[&replace, &replace]).await.unwrap();
    assert_eq!(b.state(placed[0].job.row.id).await, JobState::Cancelled);
    assert_eq!(b.story(placed[0].job.row.id).await, ["job.enqueued", "job.cancelled"]);
    assert_eq!(b.counts("q").await[JobState::Available as usize], 2);
}

async fn a_refused_batch_replaces_nothing(b: Bench) {
    let replace = request(r#"{"on_conflict":"replace"}"#, "");
    let first = b.enqueue(&replace).await;
    let known = format!(r#"{{"id":"{first}","type":"x","args":[]}}"#);
    assert!(place(&b, &[&replace, &known]).await.is_err());
    assert_eq!(b.state(first).await, JobState::Available);
    assert_eq!(b.counts("q").await.iter().sum::<i64>(), 1);
}

async fn retries_and_replays_are_not_checked(b: Bench) {
    let unique = request(
        r#"{"states":["available","retryable"]}"#,
        r#","retry":{"max_attempts":2,"initial_interval":"PT1S","jitter":false}"#,
    );
    b.enqueue(&unique).await;
    let first = b.claim(1).await.remove(0);
    let second = b.enqueue(&unique).await;
    b.nack(&first, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.advance(seconds(1)).await;
    assert_eq!((b.state(first.row.id).await, b.state(second).await), (JobState::Available, JobState::Available));
}

async fn concurrent_enqueues_make_one_job(b: Bench) {
    let unique = request("{}", "");
    let only = [unique.as_str()];
    let attempts = (0..40).map(|_| place(&b, &only));
    let accepted = futures_util::future::join_all(attempts).await.into_iter().filter(Result::is_ok).count();
    assert_eq!(accepted, 1);
}
