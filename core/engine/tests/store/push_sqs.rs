//! Queues of Amazon SQS as endpoints: the requests on the wire, what answers mean, and what becomes of lost messages.
//! The queue is a server of the test that answers in the published form; tests/sqs/test_target.py has a real one.
use ojs_engine::outgoing::{AwsAccessKey, AwsOptions};
use ojs_model::JobState;
use serde_json::{Value, json};

use crate::endpoint::{Endpoint, Reply, Request};
use crate::push::{created, next, patch, shown, until_status};
use crate::streams::{Listener, listen};
use crate::support::{Bench, seconds};
use crate::trains::in_train;
use crate::webhook_endpoints::with_outgoing;

crate::on_every_store!(
    queues_are_registered_by_url_or_arn_and_have_numbers_of_their_own,
    should_3_jobs_are_sent_in_signed_batches_of_ten_and_stay_active,
    the_limit_of_bytes_splits_batches_and_large_jobs_go_by_reference,
    a_fifo_queue_gets_trains_as_groups_one_job_after_the_other,
    a_lost_message_comes_back_by_its_lease_as_another_message,
    each_message_of_a_partial_failure_has_a_fate_of_its_own,
    a_queue_that_does_not_exist_is_disabled_and_costs_no_job,
    an_uncertain_request_is_left_to_the_lease,
    a_trial_message_is_sent_and_explained,
);

async fn with_keys(b: Bench) -> Bench {
    let key = AwsAccessKey { id: "AKIDTEST".to_owned(), secret: "secret".to_owned(), session_token: Some("session".to_owned()) };
    with_outgoing(b, |outgoing| outgoing.aws = AwsOptions { region: Some("eu-west-1".to_owned()), access_key: Some(key) }).await
}

/// An answer that takes all messages; ids of messages that were not sent change nothing.
fn taken() -> Reply {
    let entries: Vec<Value> = (0..10).map(|id| json!({"Id": id.to_string(), "MessageId": "m"})).collect();
    Reply::json(&json!({"Successful": entries}))
}

async fn register(b: &Bench, sqs: &Endpoint, name: &str, config: Value) -> String {
    let url = format!("sqs:http://127.0.0.1:{}/123456789012/{name}", sqs.port);
    created(b, &json!({"endpoint": url, "job_types": ["t"], "queues": ["q"], "config": config})).await
}

fn entries(request: &Request) -> Vec<Value> {
    request.json()["Entries"].as_array().unwrap().clone()
}

fn job_in(entry: &Value) -> Value {
    serde_json::from_str(entry["MessageBody"].as_str().unwrap()).unwrap()
}

/// Acks a job as the function that reads the queue does.
async fn ack(b: &Bench, job: &Value) {
    let body = json!({"job_id": job["id"], "worker_id": job["worker_id"], "lease_token": job["lease_token"]});
    let (status, answer) = b.http("POST", "/workers/ack", &body.to_string()).await;
    assert_eq!(status, 200, "{answer}");
}

async fn endings(b: &Bench) -> Listener {
    let types = "job.completed,job.retrying,job.discarded,job.scheduled,job.released,push.endpoint.*";
    listen(b, &format!("/events/stream?types={types}"), None).await
}

async fn queues_are_registered_by_url_or_arn_and_have_numbers_of_their_own(b: Bench) {
    let url = "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs";
    for text in [url, &format!("sqs:{url}"), "arn:aws:sqs:eu-west-1:123456789012:jobs"] {
        let id = created(&b, &json!({"endpoint": text, "job_types": ["t"]})).await;
        let got = shown(&b, &id).await;
        assert_eq!(got["endpoint"], format!("sqs:{url}"), "{got}");
        assert_eq!((&got["config"]["max_concurrency"], &got["config"]["timeout_ms"]), (&json!(1000), &json!(1_800_000)));
        patch(&b, &id, json!({"endpoint": "https://example.com/a"})).await;
        let got = shown(&b, &id).await;
        assert_eq!((&got["config"]["max_concurrency"], &got["config"]["timeout_ms"]), (&json!(10), &json!(30_000)));
    }
    let refused = [
        (json!({"endpoint": "sqs:jobs", "job_types": ["t"]}), "endpoint"),
        (json!({"endpoint": "sqs:https://queues.example.com/1/jobs", "job_types": ["t"]}), "endpoint"),
        (json!({"endpoint": url, "job_types": ["t"], "config": {"timeout_ms": 100}}), "config.timeout_ms"),
        (
            json!({"endpoint": "https://example.com/a", "job_types": ["t"], "config": {"timeout_ms": 1_800_000}}),
            "config.timeout_ms",
        ),
    ];
    for (body, field) in refused {
        let (status, answer) = b.http("POST", "/push/endpoints", &body.to_string()).await;
        assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!(field)), "{answer}");
    }
}

async fn should_3_jobs_are_sent_in_signed_batches_of_ten_and_stay_active(b: Bench) {
    let b = with_keys(b).await;
    let mut sqs = Endpoint::new(vec![taken()]).await;
    let mut ids = Vec::new();
    for _ in 0..12 {
        ids.push(b.job().await);
    }
    let mut ends = endings(&b).await;
    register(&b, &sqs, "jobs", json!({})).await;
    let requests = [sqs.next().await, sqs.next().await];
    let mut sizes = requests.iter().map(|request| entries(request).len()).collect::<Vec<_>>();
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 10]);
    let first = &requests[0];
    assert_eq!((first.path.as_str(), first.header("x-amz-target")), ("/", "AmazonSQS.SendMessageBatch"));
    assert_eq!(first.header("content-type"), "application/x-amz-json-1.0");
    assert!(first.header("authorization").starts_with("AWS4-HMAC-SHA256 Credential=AKIDTEST/"), "{:?}", first.headers);
    assert!(first.header("authorization").contains("/eu-west-1/sqs/aws4_request"), "{:?}", first.headers);
    assert_eq!(first.header("x-amz-security-token"), "session");
    let jobs: Vec<Value> = requests.iter().flat_map(entries).map(|entry| job_in(&entry)).collect();
    let sent: std::collections::BTreeSet<&str> = jobs.iter().map(|job| job["id"].as_str().unwrap()).collect();
    assert_eq!(sent.len(), 12);
    for id in &ids {
        assert_eq!(b.state(*id).await, JobState::Active);
    }
    for job in &jobs {
        ack(&b, job).await;
        assert_eq!(next(&mut ends).await.0, "job.completed");
    }
}

async fn the_limit_of_bytes_splits_batches_and_large_jobs_go_by_reference(b: Bench) {
    let b = with_keys(b).await;
    let mut sqs = Endpoint::new(vec![taken()]).await;
    for length in [150_000, 150_000, 300_000] {
        let arg = "x".repeat(length);
        b.enqueue(&json!({"type": "t", "args": [arg], "options": {"queue": "q"}}).to_string()).await;
    }
    register(&b, &sqs, "jobs", json!({})).await;
    let requests = [sqs.next().await, sqs.next().await];
    assert!(requests.iter().all(|request| request.body.len() < 320_000), "the second has a reference");
    let jobs: Vec<Value> = requests.iter().flat_map(entries).map(|entry| job_in(&entry)).collect();
    assert_eq!(jobs.iter().filter(|job| job.get("args").is_some()).count(), 2);
    let reference = jobs.iter().find(|job| job.get("args").is_none()).unwrap();
    assert_eq!((&reference["type"], &reference["queue"], &reference["attempt"]), (&json!("t"), &json!("q"), &json!(1)));
    let (_, whole) = b.http("GET", &format!("/jobs/{}", reference["id"].as_str().unwrap()), "").await;
    assert_eq!(whole["job"]["args"][0].as_str().unwrap().len(), 300_000);
    ack(&b, reference).await;
}

async fn a_fifo_queue_gets_trains_as_groups_one_job_after_the_other(b: Bench) {
    let b = with_keys(b).await;
    let mut sqs = Endpoint::new(vec![taken()]).await;
    let first = b.enqueue(&in_train(r#""dest_1""#, "")).await;
    let second = b.enqueue(&in_train(r#""dest_1""#, "")).await;
    register(&b, &sqs, "jobs.fifo", json!({})).await;
    let mut order = Vec::new();
    for _ in 0..2 {
        let entry = entries(&sqs.next().await).remove(0);
        let job = job_in(&entry);
        assert_eq!(entry["MessageGroupId"], "dest_1");
        assert!(entry["MessageDeduplicationId"].as_str().unwrap().starts_with(job["id"].as_str().unwrap()), "{entry}");
        assert!(!sqs.has_more(), "the next one follows when this one has ended");
        order.push(job["id"].clone());
        ack(&b, &job).await;
    }
    assert_eq!(order, [json!(first), json!(second)]);
    let alone = b.job().await;
    assert_eq!(entries(&sqs.next().await)[0]["MessageGroupId"], alone.to_string());
}

async fn a_lost_message_comes_back_by_its_lease_as_another_message(b: Bench) {
    let b = with_keys(b).await;
    let mut sqs = Endpoint::new(vec![taken()]).await;
    register(&b, &sqs, "jobs.fifo", json!({"timeout_ms": 60_000})).await;
    let id = b.job().await;
    let lost = entries(&sqs.next().await).remove(0);
    b.advance(seconds(89)).await;
    assert_eq!((b.state(id).await, sqs.has_more()), (JobState::Active, false));
    b.advance(seconds(2)).await;
    let again = entries(&sqs.next().await).remove(0);
    assert_eq!(job_in(&again)["id"], job_in(&lost)["id"]);
    assert_ne!(again["MessageDeduplicationId"], lost["MessageDeduplicationId"], "SQS would drop it for five minutes");
    let late = job_in(&lost);
    let body = json!({"job_id": late["id"], "worker_id": late["worker_id"], "lease_token": late["lease_token"]});
    assert_eq!(b.http("POST", "/workers/ack", &body.to_string()).await.0, 409, "the lost message turned up too late");
    ack(&b, &job_in(&again)).await;
    assert_eq!(b.state(id).await, JobState::Completed);
}

async fn each_message_of_a_partial_failure_has_a_fate_of_its_own(b: Bench) {
    let b = with_keys(b).await;
    let answer = json!({
        "Successful": [{"Id": "0", "MessageId": "m"}],
        "Failed": [
            {"Id": "1", "SenderFault": true, "Code": "InvalidMessageContents", "Message": "no"},
            {"Id": "2", "SenderFault": false, "Code": "InternalError", "Message": "later"},
        ],
    });
    let mut sqs = Endpoint::new(vec![Reply::json(&answer)]).await;
    for _ in 0..3 {
        b.job().await;
    }
    let mut ends = endings(&b).await;
    let id = register(&b, &sqs, "jobs", json!({})).await;
    let jobs: Vec<Value> = entries(&sqs.next().await).iter().map(job_in).collect();
    let mut names = [next(&mut ends).await, next(&mut ends).await].map(|(name, data)| (name, data["job_id"].clone()));
    names.sort_by_key(|(name, _)| name.clone());
    let discarded = ("job.discarded".to_owned(), jobs[1]["id"].clone());
    assert_eq!(names, [discarded, ("job.retrying".to_owned(), jobs[2]["id"].clone())]);
    assert_eq!(b.state(jobs[0]["id"].as_str().unwrap().parse().unwrap()).await, JobState::Active);
    assert_eq!(shown(&b, &id).await["status"], "active", "the queue works");
}

async fn a_queue_that_does_not_exist_is_disabled_and_costs_no_job(b: Bench) {
    let b = with_keys(b).await;
    let wrong = json!({"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "The specified queue does not exist."});
    let mut sqs = Endpoint::new(vec![Reply::Answer(400, String::new(), wrong.to_string()), taken()]).await;
    let once = r#"{"type":"t","args":[],"options":{"queue":"q","retry":{"max_attempts":1}}}"#;
    let job = b.enqueue(once).await;
    let mut ends = endings(&b).await;
    let id = register(&b, &sqs, "jobs", json!({})).await;
    sqs.next().await;
    assert_eq!(next(&mut ends).await.0, "push.endpoint.disabled");
    let disabled = shown(&b, &id).await;
    assert_eq!((&disabled["status"], &disabled["last_failure"]["status_code"]), (&json!("disabled"), &json!(400)));
    assert!(disabled["last_failure"]["reason"].as_str().unwrap().contains("QueueDoesNotExist"), "{disabled}");
    while b.state(job).await == JobState::Active {
        tokio::task::yield_now().await;
    }
    b.advance(seconds(2)).await;
    patch(&b, &id, json!({"active": true})).await;
    let sent = job_in(&entries(&sqs.next().await)[0]);
    assert_eq!(sent["id"], json!(job), "its only attempt was not charged");
    ack(&b, &sent).await;
}

async fn an_uncertain_request_is_left_to_the_lease(b: Bench) {
    let b = with_keys(b).await;
    let mut sqs = Endpoint::new(vec![Reply::Close, taken()]).await;
    let mut ends = endings(&b).await;
    let id = register(&b, &sqs, "jobs", json!({"timeout_ms": 60_000})).await;
    let job = b.job().await;
    sqs.next().await;
    until_status(&b, &id, "failing").await;
    assert_eq!((b.state(job).await, sqs.has_more()), (JobState::Active, false), "the message may be in the queue");
    b.advance(seconds(91)).await;
    ack(&b, &job_in(&entries(&sqs.next().await)[0])).await;
    while next(&mut ends).await.0 != "job.completed" {}
    // The message can be acknowledged before the sender has noted the answer of the queue.
    until_status(&b, &id, "active").await;
}

async fn a_trial_message_is_sent_and_explained(b: Bench) {
    let b = with_keys(b).await;
    let denied = json!({"__type": "AccessDeniedException", "message": "no"});
    let mut sqs = Endpoint::new(vec![taken(), Reply::Answer(400, String::new(), denied.to_string())]).await;
    let id = register(&b, &sqs, "jobs.fifo", json!({})).await;
    let path = format!("/push/endpoints/{id}/test");
    let (_, sent) = b.http("POST", &path, "{}").await;
    assert_eq!((&sent["success"], &sent["outcome"]), (&json!(true), &json!("queued")), "{sent}");
    assert_eq!(job_in(&entries(&sqs.next().await)[0])["type"], "push.test");
    let (_, refused) = b.http("POST", &path, "{}").await;
    assert_eq!((&refused["success"], &refused["outcome"]), (&json!(false), &json!("refused")), "{refused}");
    assert!(refused["explanation"].as_str().unwrap().contains("sqs:SendMessage"), "{refused}");
}
