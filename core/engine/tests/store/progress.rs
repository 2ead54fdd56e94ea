//! Progress (extensions section 20): what counts of a report, and that many reports are few writes. The numbers are
//! those of the conformance suite.
use std::time::Duration;

use ojs_engine::EventFilter;
use ojs_engine::job::JobView;
use ojs_model::{JobId, JobState};
use serde_json::{Value, json};

use crate::nodes::{advance_together, second_node};
use crate::support::{Bench, seconds};

crate::on_every_store!(
    prg_001_a_report_is_answered_with_the_progress,
    prg_002_progress_is_read,
    prg_003_fractions_are_brought_between_0_and_1,
    prg_004_progress_never_goes_back_within_an_attempt,
    prg_005_a_report_about_a_job_that_is_not_active_is_ignored,
    prg_006_a_report_renews_the_lease,
    prg_007_progress_is_of_the_latest_attempt,
    prg_008_the_end_of_a_job_completes_or_keeps_it,
    many_reports_are_few_writes,
    what_is_left_is_written_when_the_attempt_ends,
    reports_of_a_lost_lease_are_refused,
    what_is_no_report_is_refused,
    a_checkpoint_in_a_report_is_delivered_with_the_retry,
    a_workflow_has_the_progress_of_its_steps,
    progress_is_told_by_events,
    it_is_removed_with_its_job,
);

impl Bench {
    async fn report(&self, id: JobId, body: Value) -> (u16, Value) {
        self.http("PUT", &format!("/jobs/{id}/progress"), &body.to_string()).await
    }

    async fn progress(&self, id: JobId) -> Value {
        let (status, body) = self.http("GET", &format!("/jobs/{id}/progress"), "").await;
        assert_eq!(status, 200, "{body}");
        body
    }

    async fn running(&self) -> (JobId, JobView) {
        let id = self.job().await;
        let job = self.claim(1).await.remove(0);
        assert_eq!(job.row.id, id);
        (id, job)
    }

    /// How often the progress of a job was written.
    async fn writes(&self, id: JobId) -> usize {
        self.story(id).await.iter().filter(|name| *name == "job.progress").count()
    }
}

async fn prg_001_a_report_is_answered_with_the_progress(b: Bench) {
    let (id, _) = b.running().await;
    let (status, body) = b.report(id, json!({"progress": 0.5, "message": "Half way", "data": {"rows": 5}})).await;
    assert_eq!(status, 200);
    let expected = json!({
        "job_id": id.to_string(), "state": "active", "progress": 0.5, "message": "Half way", "data": {"rows": 5},
        "updated_at": "2026-01-01T00:00:00.000Z",
    });
    assert_eq!(body, expected);
}

async fn prg_002_progress_is_read(b: Bench) {
    let (id, _) = b.running().await;
    let nothing = json!({
        "job_id": id.to_string(), "state": "active", "progress": null, "message": null, "data": null, "updated_at": null,
    });
    assert_eq!(b.progress(id).await, nothing);
    for fraction in [0.25, 0.75] {
        b.report(id, json!({"progress": fraction, "message": format!("at {fraction}")})).await;
        let found = b.progress(id).await;
        assert_eq!(
            (&found["progress"], &found["message"]),
            (&json!(fraction), &json!(format!("at {fraction}"))),
            "written or not"
        );
    }
    b.report(id, json!({"data": [1]})).await;
    let found = b.progress(id).await;
    assert_eq!((&found["progress"], &found["message"], &found["data"]), (&json!(0.75), &json!("at 0.75"), &json!([1])));
    let unknown = JobId::now_v7();
    assert_eq!(b.http("GET", &format!("/jobs/{unknown}/progress"), "").await.0, 404);
    assert_eq!(b.report(unknown, json!({"progress": 0.5})).await.0, 404);
}

async fn prg_003_fractions_are_brought_between_0_and_1(b: Bench) {
    let (id, _) = b.running().await;
    assert_eq!(b.report(id, json!({"progress": -3})).await.1["progress"], 0.0);
    assert_eq!(b.report(id, json!({"progress": 1.5})).await.1["progress"], 1.0);
    assert_eq!(b.progress(id).await["progress"], 1.0);
    assert_eq!(b.state(id).await, JobState::Active, "a full fraction does not complete the job");
}

async fn prg_004_progress_never_goes_back_within_an_attempt(b: Bench) {
    let (id, _) = b.running().await;
    b.report(id, json!({"progress": 0.7})).await;
    for _ in 0..2 {
        let (status, body) = b.report(id, json!({"progress": 0.3, "message": "again"})).await;
        assert_eq!((status, &body["progress"], &body["message"]), (200, &json!(0.7), &json!("again")));
        b.advance(seconds(2)).await;
    }
    assert_eq!(b.progress(id).await["progress"], 0.7);
}

async fn prg_005_a_report_about_a_job_that_is_not_active_is_ignored(b: Bench) {
    for state in [
        JobState::Scheduled,
        JobState::Pending,
        JobState::Retryable,
        JobState::Completed,
        JobState::Cancelled,
        JobState::Discarded,
    ] {
        let id = b.job_in(state).await;
        let (status, body) = b.report(id, json!({"progress": 0.5})).await;
        assert_eq!((status, &body["state"], &body["progress"]), (200, &json!(state.as_str()), &Value::Null), "{body}");
    }
    let waiting = b.job().await;
    assert_eq!(b.report(waiting, json!({"progress": 0.5})).await.1["progress"], Value::Null);
}

async fn prg_006_a_report_renews_the_lease(b: Bench) {
    let (id, _) = b.running().await;
    for percent in 1..=4 {
        b.advance(seconds(20)).await;
        b.report(id, json!({"progress": f64::from(percent) / 10.0})).await;
        assert_eq!(b.state(id).await, JobState::Active);
    }
    b.advance(seconds(31)).await;
    assert_eq!(b.state(id).await, JobState::Available);
    assert!(b.story(id).await.contains(&"progress.stalled".to_owned()));
}

async fn prg_007_progress_is_of_the_latest_attempt(b: Bench) {
    let (id, job) = b.running().await;
    b.report(id, json!({"progress": 0.6, "message": "first"})).await;
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    let kept = b.progress(id).await;
    assert_eq!((&kept["state"], &kept["progress"]), (&json!("retryable"), &json!(0.6)), "kept after a failure");
    b.advance(seconds(120)).await;
    b.claim(1).await;
    let fresh = b.progress(id).await;
    assert_eq!((&fresh["state"], &fresh["progress"], &fresh["message"]), (&json!("active"), &Value::Null, &Value::Null));
    assert_eq!(b.report(id, json!({"progress": 0.1})).await.1["progress"], 0.1, "lower than in the attempt before");
}

async fn prg_008_the_end_of_a_job_completes_or_keeps_it(b: Bench) {
    let (id, job) = b.running().await;
    b.report(id, json!({"progress": 0.6, "message": "nearly"})).await;
    b.ack(&job).await.unwrap();
    let done = b.progress(id).await;
    assert_eq!((&done["state"], &done["progress"], &done["message"]), (&json!("completed"), &json!(1.0), &json!("nearly")));
    let (id, job) = b.running().await;
    b.ack(&job).await.unwrap();
    assert_eq!(b.progress(id).await["progress"], Value::Null, "nothing was ever reported");
    let (id, job) = b.running().await;
    b.report(id, json!({"progress": 0.4})).await;
    b.nack(&job, r#"{"code":"x","message":"m","retryable":false}"#).await.unwrap();
    let failed = b.progress(id).await;
    assert_eq!((&failed["state"], &failed["progress"]), (&json!("discarded"), &json!(0.4)));
}

async fn many_reports_are_few_writes(b: Bench) {
    let (id, job) = b.running().await;
    for percent in 1..=50 {
        b.report(id, json!({"progress": f64::from(percent) / 100.0, "lease_token": job.row.lease})).await;
    }
    assert_eq!((b.writes(id).await, b.progress(id).await["progress"].clone()), (1, json!(0.5)), "the first, and memory");
    b.clock.advance(Duration::from_secs(1));
    b.report(id, json!({"progress": 0.51, "lease_token": job.row.lease})).await;
    assert_eq!(b.writes(id).await, 2);
    b.report(id, json!({"progress": 0.6, "lease_token": job.row.lease})).await;
    assert_eq!(b.writes(id).await, 2);
}

async fn what_is_left_is_written_when_the_attempt_ends(b: Bench) {
    let (id, job) = b.running().await;
    for fraction in [0.1, 0.2, 0.3] {
        b.report(id, json!({"progress": fraction, "message": format!("at {fraction}")})).await;
    }
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    let story = b.story(id).await;
    let reported = story.iter().rposition(|name| name == "job.progress").unwrap();
    assert!(story[reported..].contains(&"job.retrying".to_owned()), "before the transition: {story:?}");
    assert_eq!(b.writes(id).await, 2);
    assert_eq!(b.progress(id).await["message"], "at 0.3");
    // The rest of the memory is of an attempt that is over, and changes nothing any more.
    b.advance(seconds(120)).await;
    while b.claim(1).await.is_empty() {
        // A sweep passes over a job whose row is in use: the rest of the memory is being written.
        b.advance(seconds(1)).await;
    }
    assert_eq!(b.report(id, json!({"progress": 0.05})).await.1["progress"], 0.05);
}

async fn reports_of_a_lost_lease_are_refused(b: Bench) {
    let (id, job) = b.running().await;
    let lease = job.row.lease;
    assert_eq!(b.report(id, json!({"progress": 0.1, "lease_token": lease})).await.0, 200);
    assert_eq!(b.report(id, json!({"progress": 0.2, "worker_id": "v"})).await.0, 409);
    b.advance(seconds(31)).await;
    let (status, body) = b.report(id, json!({"progress": 0.3, "lease_token": lease})).await;
    assert_eq!((status, &body["state"]), (200, &json!("available")), "ignored while no worker holds it");
    let again = b.claim_for(Some("v"), &["q"], 1).await.remove(0);
    let (status, body) = b.report(id, json!({"progress": 0.3, "lease_token": lease})).await;
    assert_eq!((status, &body["error"]["details"]["reason"]), (409, &json!("stale_lease")));
    assert_eq!(b.report(id, json!({"progress": 0.01, "lease_token": again.row.lease})).await.1["progress"], 0.01);
}

async fn what_is_no_report_is_refused(b: Bench) {
    let (id, _) = b.running().await;
    for (body, status, field) in [
        (json!({}), 400, "progress"),
        (json!({"progress": "half"}), 400, "progress"),
        (json!({"progress": 0.5, "message": 7}), 400, "message"),
        (json!({"progress": 0.5, "worker_id": ["w"]}), 400, "worker_id"),
        (json!({"progress": 0.5, "data": "x".repeat(5_000)}), 413, "data"),
        (json!({"progress": 0.5, "message": "x".repeat(2_000)}), 413, "message"),
        (json!({"progress": 0.5, "checkpoint": "x".repeat(1_100_000)}), 413, "checkpoint"),
    ] {
        let (got, answer) = b.report(id, body).await;
        assert_eq!((got, &answer["error"]["details"]["field"]), (status, &json!(field)), "{answer}");
    }
    assert_eq!(b.progress(id).await["progress"], Value::Null);
}

async fn a_checkpoint_in_a_report_is_delivered_with_the_retry(b: Bench) {
    let (id, job) = b.running().await;
    b.report(id, json!({"progress": 0.2})).await;
    // Not kept back: it is durable when it is confirmed.
    b.report(id, json!({"progress": 0.4, "checkpoint": {"row": 40}, "worker_id": "w"})).await;
    assert_eq!(b.progress(id).await["progress"], 0.4);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    let late = b.report(id, json!({"progress": 0.9, "checkpoint": {"row": 90}})).await;
    assert_eq!((late.0, &late.1["progress"]), (200, &json!(0.4)), "ignored with its checkpoint");
    b.advance(seconds(120)).await;
    let (_, fetched) = b.http("POST", "/workers/fetch", r#"{"queues":["q"],"worker_id":"w"}"#).await;
    let job = &fetched["jobs"][0];
    assert_eq!((&job["checkpoint"]["state"], &job["last_checkpoint"]), (&json!({"row": 40}), &json!({"row": 40})));
}

async fn workflow(b: &Bench, body: Value) -> String {
    let (status, made) = b.http("POST", "/workflows", &body.to_string()).await;
    assert_eq!(status, 201, "{made}");
    made["workflow"]["id"].as_str().unwrap().to_owned()
}

async fn a_workflow_has_the_progress_of_its_steps(b: Bench) {
    let step = json!({"type": "t", "args": [], "options": {"queue": "q"}});
    for (shape, member, half, done) in [("chain", "steps", 0.25, 0.5), ("group", "jobs", 0.25, 0.5), ("batch", "jobs", 0.0, 0.5)]
    {
        let mut body = json!({"type": shape, "callbacks": {"on_complete": {"type": "c", "args": [], "options": {"queue": "c"}}}});
        body[member] = json!([step, step]);
        let id = workflow(&b, body).await;
        let of = async || b.http("GET", &format!("/workflows/{id}/progress"), "").await.1;
        assert_eq!((&of().await["workflow_id"], &of().await["progress"]), (&json!(id), &json!(0.0)));
        assert_eq!(of().await["progress"].to_string(), "0.0", "not -0.0");
        let job = b.claim(1).await.remove(0);
        b.report(job.row.id, json!({"progress": 0.5})).await;
        let found = of().await;
        assert_eq!((&found["type"], &found["progress"]), (&json!(shape), &json!(half)), "{found}");
        assert_eq!((&found["steps"][0]["progress"], &found["steps"][0]["state"]), (&json!(0.5), &json!("active")), "{found}");
        b.ack(&job).await.unwrap();
        assert_eq!(of().await["progress"], done, "{shape}");
        let job = b.claim(1).await.remove(0);
        b.ack(&job).await.unwrap();
        let found = of().await;
        assert_eq!((&found["progress"], found["steps"].as_array().unwrap().len()), (&json!(1.0), 2), "{found}");
        b.claim_for(Some("w"), &["c"], 1).await;
    }
    assert_eq!(b.http("GET", &format!("/workflows/{}/progress", JobId::now_v7()), "").await.0, 404);
}

async fn progress_is_told_by_events(b: Bench) {
    let (id, job) = b.running().await;
    b.report(id, json!({"progress": 0.333, "message": "a third"})).await;
    b.ack(&job).await.unwrap();
    let told = ["job.enqueued", "job.started", "job.progress", "progress.updated", "progress.completed", "job.completed"];
    assert_eq!(b.story(id).await, told);
    let filter = EventFilter { types: vec!["job.progress".into()], ..EventFilter::default() };
    let data: Value = serde_json::from_str(&b.events(filter).await.0[0].data).unwrap();
    assert_eq!((&data["progress_percent"], &data["progress_message"]), (&json!(33), &json!("a third")));
    assert_eq!((&data["worker_id"], &data["attempt"], &data["queue"]), (&json!("w"), &json!(1), &json!("q")));
}

async fn it_is_removed_with_its_job(b: Bench) {
    let (id, job) = b.running().await;
    b.report(id, json!({"progress": 0.3})).await;
    b.ack(&job).await.unwrap();
    b.advance(Duration::from_secs(8 * 86_400)).await;
    assert_eq!(b.http("GET", &format!("/jobs/{id}/progress"), "").await.0, 404, "the audit finds records that are left");
}

#[tokio::test]
async fn an_engine_that_closes_writes_what_it_has_in_memory() {
    let b = Bench::sqlite().await;
    let (id, _) = b.running().await;
    for fraction in [0.1, 0.2, 0.3] {
        b.report(id, json!({"progress": fraction})).await;
    }
    let b = b.reopened().await;
    assert_eq!(b.progress(id).await["progress"], 0.3);
}

#[tokio::test]
async fn reports_through_several_nodes_never_go_back() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let (id, job) = b.running().await;
    let body = |fraction: f64| json!({"progress": fraction, "message": format!("{fraction}"), "lease_token": job.row.lease});
    b.report(id, body(0.1)).await;
    b.report(id, body(0.2)).await;
    assert_eq!(other.progress(id).await["progress"], 0.1, "0.2 is in the memory of the first node");
    b.clock.advance(Duration::from_millis(500));
    assert_eq!(other.report(id, body(0.6)).await.1["progress"], 0.6);
    b.clock.advance(Duration::from_millis(600));
    // It writes what it knows: less than the other node has written, and older.
    let (_, seen) = b.report(id, json!({"progress": 0.3, "lease_token": job.row.lease})).await;
    assert_eq!((&seen["progress"], &seen["message"]), (&json!(0.6), &json!("0.6")), "the latest message, the largest fraction");
    assert_eq!(other.progress(id).await["progress"], 0.6);
    advance_together(&b, &other, seconds(60)).await;
    let again = other.claim_for(Some("v"), &["q"], 1).await.remove(0);
    assert_eq!(b.progress(id).await["progress"], Value::Null);
    other.report(id, json!({"progress": 0.05, "lease_token": again.row.lease})).await;
    assert_eq!((b.report(id, body(0.9)).await.0, b.progress(id).await["progress"].clone()), (409, json!(0.05)));
}
