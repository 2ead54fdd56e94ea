//! What goes over the wire, recorded: every request carries the spellings of all published servers.
use std::time::Duration;

use ojs::testing::Recorder;
use ojs::workflow::{Callbacks, batch, chain};
use ojs::{CronJob, JobRequest, OnConflict, RetryPolicy, UniquePolicy};
use serde_json::{Value, json};

/// The body of the last request.
fn body(recorder: &Recorder) -> Value {
    serde_json::from_slice(recorder.requests().pop().unwrap().body.as_deref().unwrap()).unwrap()
}

#[tokio::test]
async fn retry_and_unique_are_sent_in_every_spelling() {
    let recorder = Recorder::new();
    let retry = RetryPolicy::new().max_attempts(5).initial_interval(Duration::from_secs(2)).max_interval(Duration::from_secs(60));
    let unique = UniquePolicy::by(["type", "args"]).period(Duration::from_secs(3600)).on_conflict(OnConflict::Ignore);
    recorder.client().enqueue("t", ()).retry(retry).unique(unique).send().await.unwrap();
    let options = body(&recorder)["options"].clone();
    assert_eq!(
        options["retry"],
        json!({"max_attempts": 5, "initial_interval": "PT2S", "initial_interval_ms": 2000, "max_interval": "PT1M", "max_interval_ms": 60_000})
    );
    assert_eq!(
        options["unique"],
        json!({"keys": ["type", "args"], "key": ["type", "args"], "period": "PT1H", "period_ms": 3_600_000, "on_conflict": "ignore"})
    );
}

#[tokio::test]
async fn cron_entries_are_sent_flat_and_by_template() {
    let recorder = Recorder::new();
    let cron = CronJob::new("daily", "0 9 * * *", JobRequest::new("report.build", 1).queue("reports"));
    // The recorder answers with an empty object: what matters is what was sent.
    let _ = recorder.client().register_cron(&cron).await;
    let body = body(&recorder);
    let job = json!({"type": "report.build", "args": [1], "options": {"queue": "reports"}});
    assert_eq!((&body["cron"], &body["expression"]), (&json!("0 9 * * *"), &json!("0 9 * * *")));
    assert_eq!(body["job_template"], job);
    for member in ["type", "args", "options"] {
        assert_eq!(body[member], job[member]);
    }
}

#[tokio::test]
async fn workflows_are_sent_with_type_name_steps_and_jobs() {
    let recorder = Recorder::new();
    let _ = recorder.client().workflow(&chain([JobRequest::new("a", ()), JobRequest::new("b", ())])).await;
    let sent = body(&recorder);
    assert_eq!((&sent["type"], &sent["name"]), (&json!("chain"), &json!("chain")));
    assert_eq!((&sent["steps"][1]["id"], &sent["steps"][1]["depends_on"]), (&json!("step-1"), &json!(["step-0"])));
    let done = Callbacks::new().on_complete(JobRequest::new("done", ()));
    let _ = recorder.client().workflow(&batch([JobRequest::new("a", ())], done)).await;
    let sent = body(&recorder);
    assert_eq!(sent["steps"], sent["jobs"]);
    assert_eq!(sent["callbacks"]["on_complete"]["type"], "done");
}
