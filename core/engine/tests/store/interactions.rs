//! Rules that bind several features (extension interactions, section 16), on the store. `tests/tests/interactions` has
//! all of them over a socket.

use bytes::Bytes;
use ojs_engine::Engine;
use ojs_engine::command::{CreateWorkflow, GetWorkflow, Outcome};
use ojs_engine::job::JobView;
use ojs_engine::workflow::{WorkflowState, WorkflowView};
use ojs_model::workflow::NewWorkflow;
use ojs_model::{JobId, JobState, Timestamp};
use serde_json::{Value, json};

use crate::support::{Bench, seconds};

crate::on_every_store!(
    ei_006_retries_consume_rate_slots,
    ei_006_retries_consume_the_rate_of_their_key,
    ei_006_a_retry_holds_its_keys_only_slot,
    ei_010_each_job_of_a_workflow_has_its_own_version,
);

async fn ei_006_retries_consume_rate_slots(b: Bench) {
    let options =
        |more: &str| format!(r#"{{"type":"t","args":[],"options":{{"queue":"q","rate_limit":{{"max_per_second":2}}{more}}}}}"#);
    let retry = r#","priority":1,"retry":{"initial_interval":"PT0.05S","backoff_strategy":"constant","jitter":false}"#;
    let first = b.enqueue(&options(retry)).await;
    let second = b.enqueue(&options("")).await;
    let third = b.enqueue(&options("")).await;
    let job = b.claim(1).await.remove(0);
    assert_eq!(job.row.id, first);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.advance(std::time::Duration::from_millis(50)).await;
    let ids = |jobs: Vec<JobView>| jobs.iter().map(|job| job.row.id).collect::<Vec<_>>();
    assert_eq!(ids(b.claim(5).await), [first], "the retry takes the second slot");
    assert_eq!(ids(b.claim(5).await), [], "and leaves none for new jobs");
    b.advance(seconds(1)).await;
    assert_eq!(ids(b.claim(5).await), [second, third]);
}

/// A job under a key, over HTTP; its id.
async fn keyed(b: &Bench, policy: &Value) -> String {
    let retry = json!({"initial_interval": "PT0.05S", "backoff_strategy": "constant", "jitter": false});
    let job = json!({"type": "t", "args": [], "options": {"queue": "q", "retry": retry, "rate_limit": policy}});
    let (status, body) = b.http("POST", "/jobs", &job.to_string()).await;
    assert_eq!(status, 201, "{body}");
    body["job"]["id"].as_str().unwrap().to_owned()
}

/// The job that a fetch brings, if any.
async fn fetched(b: &Bench) -> Option<String> {
    let (_, body) = b.http("POST", "/workers/fetch", r#"{"queues":["q"],"worker_id":"w"}"#).await;
    body["jobs"][0]["id"].as_str().map(str::to_owned)
}

async fn failed(b: &Bench, id: &str) {
    let nack = json!({"job_id": id, "worker_id": "w", "error": {"code": "handler_error", "message": "m"}});
    assert_eq!(b.http("POST", "/workers/nack", &nack.to_string()).await.0, 200);
    b.advance(std::time::Duration::from_millis(60)).await;
}

async fn ei_006_retries_consume_the_rate_of_their_key(b: Bench) {
    let policy = json!({"key": "k", "rate": {"limit": 2, "period": "PT2S"}, "retry_priority": "prefer_retry"});
    let (first, second) = (keyed(&b, &policy).await, keyed(&b, &policy).await);
    assert_eq!(fetched(&b).await.as_ref(), Some(&first));
    failed(&b, &first).await;
    assert_eq!(fetched(&b).await.as_ref(), Some(&first), "the retry takes the second start");
    assert_eq!(fetched(&b).await, None, "and leaves none for the new job");
    let (_, key) = b.http("GET", "/rate-limits/k", "").await;
    assert_eq!((&key["rate"]["current_count"], &key["waiting_count"]), (&json!(2), &json!(1)), "{key}");
    b.advance(seconds(2)).await;
    assert_eq!(fetched(&b).await, Some(second), "a new window");
}

async fn ei_006_a_retry_holds_its_keys_only_slot(b: Bench) {
    let policy = json!({"key": "k", "concurrency": 1, "retry_priority": "prefer_retry"});
    let (first, second) = (keyed(&b, &policy).await, keyed(&b, &policy).await);
    assert_eq!(fetched(&b).await.as_ref(), Some(&first));
    failed(&b, &first).await;
    assert_eq!(fetched(&b).await.as_ref(), Some(&first));
    assert_eq!(fetched(&b).await, None, "withheld while the retried job is active");
    let (_, key) = b.http("GET", "/rate-limits/k", "").await;
    assert_eq!(key["concurrency"], json!({"limit": 1, "active": 1, "available": 0}), "{key}");
    assert_eq!(b.http("POST", "/workers/ack", &json!({"job_id": first, "worker_id": "w"}).to_string()).await.0, 200);
    assert_eq!(fetched(&b).await, Some(second));
}

async fn create(b: &Bench, text: &str) -> WorkflowView {
    let new = NewWorkflow::parse(text, Timestamp::from_millis(b.now())).unwrap();
    b.engine.store().execute(CreateWorkflow(new)).await.unwrap()
}

fn envelope(job: &JobView) -> Value {
    serde_json::from_str(&format!("{{{}}}", job.body.text)).unwrap()
}

async fn ei_010_each_job_of_a_workflow_has_its_own_version(b: Bench) {
    let step = |version: &str| format!(r#"{{"type":"s","args":[]{version},"options":{{"queue":"q"}}}}"#);
    let steps = [step(r#","version":1"#), step(r#","version":"2.0""#), step("")].join(",");
    create(&b, &format!(r#"{{"type":"chain","name":"c","steps":[{steps}]}}"#)).await;
    for version in [Value::from(1), Value::from("2.0"), Value::Null] {
        let job = b.claim(1).await.remove(0);
        assert_eq!(envelope(&job)["version"], version);
        let (_, read) = b.http("GET", &format!("/jobs/{}", job.row.id), "").await;
        assert_eq!(read["job"]["version"], version);
        b.ack(&job).await.unwrap();
    }
}

/// The server stops after a step was acked, and between any two steps: what was done is not done again, what follows comes once.
async fn ei_009_resumes(mut b: Bench) {
    let step = |n: u32| format!(r#"{{"type":"s{n}","args":[],"options":{{"queue":"q"}}}}"#);
    let flow = create(&b, &format!(r#"{{"type":"chain","name":"c","steps":[{},{},{}]}}"#, step(1), step(2), step(3))).await;
    let mut ran: Vec<(JobId, String)> = Vec::new();
    for _ in 0..3 {
        let jobs = b.claim(5).await;
        assert_eq!(jobs.len(), 1, "one step at a time");
        restart(&mut b).await;
        let result = Outcome::Ack(Some(Bytes::from_static(b"1")));
        b.settle(jobs[0].row.id, Some(jobs[0].row.lease), result).await.unwrap();
        restart(&mut b).await;
        ran.push((jobs[0].row.id, envelope(&jobs[0])["type"].as_str().unwrap().to_owned()));
    }
    assert_eq!(ran.iter().map(|(_, kind)| kind.as_str()).collect::<Vec<_>>(), ["s1", "s2", "s3"]);
    for (id, _) in &ran {
        let row = b.get(*id).await.row;
        assert_eq!((row.state, row.attempt), (JobState::Completed, 1));
    }
    let view = b.engine.store().query(GetWorkflow(flow.row.id)).await.unwrap();
    assert_eq!(view.row.state, WorkflowState::Completed);
}

async fn restart(b: &mut Bench) {
    b.engine.close().await;
    b.succeeded_by(Engine::open(b.engine.options().clone()).await.unwrap()).await;
}

#[tokio::test]
async fn ei_009_a_workflow_resumes_after_a_restart() {
    ei_009_resumes(Bench::sqlite().await).await;
}
