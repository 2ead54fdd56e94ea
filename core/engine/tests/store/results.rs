//! Results: stored with the ack, kept for their time, waited for.
use std::time::Duration;

use bytes::Bytes;
use ojs_engine::command::{Cancel, GetJob, Outcome, Ping};
use ojs_engine::job::{JobView, flag};
use ojs_model::{JobId, JobState};
use serde_json::{Value, json};

use crate::support::{Bench, seconds};

crate::on_every_store!(
    a_result_says_when_it_was_stored_and_how_large_it_is,
    a_result_goes_and_the_job_stays,
    a_result_that_is_not_wanted_is_not_stored,
    a_result_for_ever_outlives_the_usual_retention,
    a_failed_job_answers_with_its_error,
    a_caller_waits_for_the_end,
    a_caller_who_waits_is_told_of_every_end,
    waiting_has_an_end,
    a_caller_who_hangs_up_is_forgotten,
    many_results_at_once,
    a_result_that_is_too_large_leaves_the_job_active,
);

const DAY: Duration = Duration::from_secs(86_400);

async fn started(b: &Bench, options: &str) -> JobView {
    b.enqueue(&format!(r#"{{"type":"t","args":[],"options":{{"queue":"q"{options}}}}}"#)).await;
    b.claim(1).await.remove(0)
}

async fn finish(b: &Bench, job: &JobView, result: &'static str) {
    let outcome = Outcome::Ack(Some(Bytes::from_static(result.as_bytes())));
    b.settle(job.row.id, Some(job.row.lease), outcome).await.unwrap();
}

async fn result(b: &Bench, id: JobId) -> (u16, Value) {
    b.http("GET", &format!("/jobs/{id}/result"), "").await
}

async fn a_result_says_when_it_was_stored_and_how_large_it_is(b: Bench) {
    let job = started(&b, "").await;
    let (status, body) = result(&b, job.row.id).await;
    assert_eq!((status, &body["error"]["code"]), (408, &json!("request_timeout")));
    assert_eq!(body["error"]["details"]["current_state"], "active");
    b.advance(seconds(5)).await;
    finish(&b, &job, r#"{"n":1.0}"#).await;
    let (status, body) = result(&b, job.row.id).await;
    assert_eq!(status, 200);
    assert_eq!((&body["job_id"], &body["state"]), (&json!(job.row.id.to_string()), &json!("completed")));
    assert_eq!(body["result"].to_string(), r#"{"n":1.0}"#, "the same JSON");
    assert_eq!(body["result_stored_at"], "2026-01-01T00:00:05.000Z");
    assert_eq!(body["result_expires_at"], "2026-01-08T00:00:05.000Z", "7 days");
    assert_eq!(body["result_size_bytes"], 9);
    let (_, read) = b.http("GET", &format!("/jobs/{}", job.row.id), "").await;
    for name in ["result", "result_stored_at", "result_expires_at", "result_size_bytes"] {
        assert_eq!(read["job"][name], body[name], "{name} is part of the job, too");
    }
    assert_eq!(result(&b, JobId::now_v7()).await.0, 404);
}

async fn a_result_goes_and_the_job_stays(b: Bench) {
    let job = started(&b, r#","result_ttl":60"#).await;
    b.nack(&job, r#"{"code":"x","message":"first"}"#).await.unwrap();
    b.advance(seconds(2)).await;
    let job = b.claim(1).await.remove(0);
    finish(&b, &job, "7").await;
    b.advance(seconds(59)).await;
    assert_eq!(result(&b, job.row.id).await.1["result"], 7);
    // Over is over, whether the sweeper has come by or not.
    b.clock.advance(seconds(1));
    assert_eq!(result(&b, job.row.id).await.0, 410);
    b.advance(seconds(1)).await;
    let (status, body) = result(&b, job.row.id).await;
    assert_eq!((status, &body["error"]["code"]), (410, &json!("result_pruned")));
    let view = b.get(job.row.id).await;
    assert_eq!((view.row.state, view.history.result.as_str()), (JobState::Completed, ""));
    assert!(view.row.has(flag::PRUNED) && view.history.errors.contains("first"), "the history stays");
    let (_, read) = b.http("GET", &format!("/jobs/{}", job.row.id), "").await;
    assert_eq!((&read["job"]["state"], &read["job"]["result"]), (&json!("completed"), &Value::Null));
}

async fn a_result_that_is_not_wanted_is_not_stored(b: Bench) {
    let job = started(&b, r#","result_ttl":0"#).await;
    finish(&b, &job, "7").await;
    assert_eq!(b.get(job.row.id).await.history.result, "");
    let (status, body) = result(&b, job.row.id).await;
    assert_eq!((status, &body["state"], &body["result"]), (200, &json!("completed"), &Value::Null));
}

async fn a_result_for_ever_outlives_the_usual_retention(b: Bench) {
    let kept = started(&b, r#","result_ttl":-1"#).await;
    finish(&b, &kept, "1").await;
    let longer = started(&b, &format!(r#","result_ttl":{}"#, 20 * 86_400)).await;
    finish(&b, &longer, "2").await;
    b.advance(DAY * 10).await;
    let (_, body) = result(&b, kept.row.id).await;
    assert_eq!((&body["result"], &body["result_expires_at"]), (&json!(1), &Value::Null));
    assert_eq!(result(&b, longer.row.id).await.1["result"], 2);
    b.advance(DAY * 11).await;
    assert!(b.engine.store().query(GetJob(longer.row.id)).await.is_err(), "when its time is over, the job goes as usual");
    b.advance(DAY * 365).await;
    assert_eq!(result(&b, kept.row.id).await.1["result"], 1);
}

async fn a_failed_job_answers_with_its_error(b: Bench) {
    let id = b.job_in(JobState::Discarded).await;
    let (status, body) = result(&b, id).await;
    assert_eq!((status, &body["state"], &body["error"]["message"]), (200, &json!("discarded"), &json!("m")));
    let id = b.job_in(JobState::Cancelled).await;
    let (status, body) = result(&b, id).await;
    assert_eq!((status, &body["state"]), (200, &json!("cancelled")));
}

async fn a_caller_waits_for_the_end(b: Bench) {
    let job = started(&b, "").await;
    let path = format!("/jobs/{}/result?wait=true&timeout=60", job.row.id);
    // Polled first: the caller is registered and has looked before the job ends.
    let (answer, ()) = tokio::join!(b.http("GET", &path, ""), async {
        b.engine.store().query(Ping).await.unwrap();
        finish(&b, &job, "7").await;
    });
    assert_eq!((answer.0, &answer.1["result"]), (200, &json!(7)));
    assert_eq!(b.http("GET", &path, "").await.0, 200, "at once when it has ended");
}

async fn a_caller_who_waits_is_told_of_every_end(b: Bench) {
    for options in ["", r#","timeout_ms":5000,"retry":{"max_attempts":1}"#, r#","expires_at":"+PT5S""#] {
        let id = b.enqueue(&format!(r#"{{"type":"t","args":[],"options":{{"queue":"other"{options}}}}}"#)).await;
        let path = format!("/jobs/{id}/result?wait=true&timeout=60");
        let (answer, ()) = tokio::join!(b.http("GET", &path, ""), async {
            b.engine.store().query(Ping).await.unwrap();
            if options.contains("timeout_ms") {
                b.claim_for(None, &["other"], 1).await;
            }
            if options.is_empty() {
                b.change(Cancel(id)).await.unwrap();
            } else {
                b.advance(seconds(5)).await;
            }
        });
        assert_eq!(answer.0, 200, "{options}");
    }
}

async fn waiting_has_an_end(b: Bench) {
    let job = started(&b, "").await;
    let (status, body) = b.http("GET", &format!("/jobs/{}/result?wait=true&timeout=0", job.row.id), "").await;
    assert_eq!((status, &body["error"]["details"]["current_state"]), (408, &json!("active")));
    assert_eq!(b.http("GET", &format!("/jobs/{}/result?wait=maybe", job.row.id), "").await.0, 400);
    let waiting = format!("/jobs/{}/result?wait=true", job.row.id);
    let (answer, ()) = tokio::join!(b.http("GET", &waiting, ""), b.engine.close());
    assert!(matches!(answer.0, 408 | 503), "a server that stops lets no request wait: {answer:?}");
}

async fn a_caller_who_hangs_up_is_forgotten(b: Bench) {
    let job = started(&b, "").await;
    let path = format!("/jobs/{}/result?wait=true", job.row.id);
    tokio::select! {
        answer = b.http("GET", &path, "") => panic!("{answer:?}"),
        () = async { b.engine.store().query(Ping).await.unwrap(); } => {}
    }
    finish(&b, &job, "7").await;
    assert_eq!(result(&b, job.row.id).await.1["result"], 7);
}

async fn many_results_at_once(b: Bench) {
    let done = started(&b, "").await;
    finish(&b, &done, r#""x""#).await;
    let running = started(&b, "").await;
    let ids = json!({"ids": [JobId::now_v7().to_string(), done.row.id.to_string(), "nonsense", running.row.id.to_string(), done.row.id.to_string()]});
    let (status, body) = b.http("POST", "/jobs/results", &ids.to_string()).await;
    let results = body["results"].as_array().unwrap();
    assert_eq!((status, results.len(), &body["count"]), (200, 5, &json!(5)));
    let found: Vec<bool> = results.iter().map(|one| one["result"] == "x").collect();
    assert_eq!(found, [false, true, false, false, true], "in the order asked for");
    assert!(results[0].is_null() && results[2].is_null() && results[3].is_null());
    assert_eq!(b.http("POST", "/jobs/results", "{}").await.0, 400);
    let many = json!({"ids": vec!["x"; 1001]}).to_string();
    assert_eq!(b.http("POST", "/jobs/results", &many).await.0, 413);
}

async fn a_result_that_is_too_large_leaves_the_job_active(b: Bench) {
    let job = started(&b, "").await;
    let large = json!({"job_id": job.row.id.to_string(), "result": "x".repeat(1024 * 1024)}).to_string();
    let (status, body) = b.http("POST", "/workers/ack", &large).await;
    assert_eq!((status, &body["error"]["code"]), (413, &json!("result_too_large")));
    assert_eq!(b.state(job.row.id).await, JobState::Active);
    let small = json!({"job_id": job.row.id.to_string(), "result": {"ref": "s3://x"}}).to_string();
    assert_eq!(b.http("POST", "/workers/ack", &small).await.0, 200);
}
