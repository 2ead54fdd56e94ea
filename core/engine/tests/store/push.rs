//! Push delivery: registration, the requirements of "Serverless Integration" section 5.1 one by one, and what answers
//! mean.
use ojs_model::{JobId, JobState};
use serde_json::{Value, json};

use crate::endpoint::{Endpoint, PATIENCE, Reply, Request};
use crate::streams::{Listener, listen};
use crate::support::{Bench, seconds};

crate::on_every_store!(
    endpoints_are_registered_listed_changed_and_deleted,
    what_is_no_endpoint_is_refused_and_not_stored,
    must_1_requests_are_signed_and_have_the_printed_form,
    must_2_a_job_is_active_under_a_lease_before_the_call,
    must_3_the_time_limit_is_kept_and_a_time_out_is_a_retryable_failure,
    must_4_a_job_is_at_one_endpoint_at_a_time,
    should_5_retries_back_off_exponentially,
    should_6_no_endpoint_holds_more_jobs_than_it_may,
    answers_mean_what_the_document_prints,
    a_429_is_final_unless_the_endpoint_says_otherwise,
    a_late_answer_counts_under_the_current_delivery_id_only,
    a_rotated_secret_signs_for_a_day,
    a_paused_endpoint_is_sent_nothing_and_goes_on_later,
    a_trial_delivery_is_signed_and_explained,
    connections_are_used_again,
    a_function_that_falls_silent_after_a_heartbeat_takes_no_job_of_others_away,
);

pub const SECRET: &str = "whsec_test_secret";

/// An answer that completes a job.
pub fn completed() -> Reply {
    Reply::json(&json!({"status": "completed", "result": {"message_id": "msg_123"}}))
}

/// Registers an endpoint for jobs of type `t` on queue `q`; `config` is added to its configuration.
pub async fn register(b: &Bench, url: &str, config: Value) -> String {
    let mut body = json!({"endpoint": url, "job_types": ["t"], "queues": ["q"], "config": {"signing_secret": SECRET}});
    body["config"].as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
    created(b, &body).await
}

pub async fn created(b: &Bench, body: &Value) -> String {
    let (status, answer) = b.http("POST", "/push/endpoints", &body.to_string()).await;
    assert_eq!(status, 201, "{answer}");
    answer["id"].as_str().unwrap().to_owned()
}

pub async fn patch(b: &Bench, id: &str, change: Value) {
    let (status, answer) = b.http("PATCH", &format!("/push/endpoints/{id}"), &change.to_string()).await;
    assert_eq!(status, 200, "{answer}");
}

pub async fn shown(b: &Bench, id: &str) -> Value {
    b.http("GET", &format!("/push/endpoints/{id}"), "").await.1
}

/// Waits until the endpoint has this status.
pub async fn until_status(b: &Bench, id: &str, status: &str) {
    while shown(b, id).await["status"] != status {
        tokio::task::yield_now().await;
    }
}

/// Tells what becomes of jobs, and of endpoints.
pub async fn ends(b: &Bench) -> Listener {
    let types = "job.completed,job.retrying,job.discarded,push.endpoint.*";
    listen(b, &format!("/events/stream?types={types}"), None).await
}

/// Name and data of the next event.
pub async fn next(ends: &mut Listener) -> (String, Value) {
    let frame = tokio::time::timeout(PATIENCE, ends.next()).await.expect("an event in time").unwrap();
    (frame.event, frame.data["data"].clone())
}

/// Waits until so many jobs have completed.
pub async fn all_completed(ends: &mut Listener, jobs: usize) {
    for _ in 0..jobs {
        assert_eq!(next(ends).await.0, "job.completed");
    }
}

/// Waits until so many jobs of queue `q` have completed. Several writers commit side by side here, so it asks for the
/// count instead of following the events.
pub async fn completed_in_all(b: &Bench, jobs: i64) {
    in_state(b, JobState::Completed, jobs).await;
}

/// Waits until so many jobs of queue `q` are in a state.
pub async fn in_state(b: &Bench, state: JobState, jobs: i64) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while b.counts("q").await[state as usize] < jobs {
        assert!(tokio::time::Instant::now() < deadline, "{:?}", b.counts("q").await);
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

fn id_of(request: &Request) -> JobId {
    request.header("x-ojs-job-id").parse().unwrap()
}

async fn endpoints_are_registered_listed_changed_and_deleted(b: Bench) {
    // The example of the document, with its secret.
    let body = json!({
        "endpoint": "https://abc123.lambda-url.us-east-1.on.aws/", "job_types": ["email.send", "report.generate"],
        "queues": ["default"], "config": {"max_concurrency": 100, "timeout_ms": 30000, "signing_secret": "whsec_..."},
    });
    let (status, answer) = b.http("POST", "/push/endpoints", &body.to_string()).await;
    assert_eq!((status, &answer["endpoint"], &answer["job_types"]), (201, &body["endpoint"], &body["job_types"]), "{answer}");
    assert_eq!((&answer["config"]["signing_secret"], &answer["config"]["max_concurrency"]), (&json!("whsec_..."), &json!(100)));
    assert_eq!((&answer["status"], &answer["push_endpoint"]["id"]), (&json!("active"), &answer["id"]));
    let id = answer["id"].as_str().unwrap();
    assert!(id.starts_with("push_"), "{id}");
    let got = shown(&b, id).await;
    assert_eq!((&got["config"].get("signing_secret"), &got["queues"]), (&None, &json!(["default"])), "the secret is shown once");
    let (_, second) = b.http("POST", "/push/endpoints", r#"{"endpoint":"https://example.com/","job_types":["*"]}"#).await;
    assert!(second["config"]["signing_secret"].as_str().unwrap().starts_with("whsec_"));
    assert_eq!((&second["queues"], &second["config"]["max_concurrency"]), (&json!(["*"]), &json!(10)));
    let (_, list) = b.http("GET", "/push/endpoints?limit=1&offset=1", "").await;
    assert_eq!((&list["endpoints"][0]["id"], &list["pagination"]["total"]), (&second["id"], &json!(2)));
    assert!(!list.to_string().contains("whsec_"), "{list}");
    patch(&b, id, json!({"config": {"timeout_ms": 5000}, "provider": "aws", "queues": null})).await;
    let got = shown(&b, id).await;
    assert_eq!((&got["config"]["timeout_ms"], &got["config"]["max_concurrency"]), (&json!(5000), &json!(100)));
    assert_eq!((&got["provider"], &got["queues"]), (&json!("aws"), &json!(["*"])));
    let path = format!("/push/endpoints/{id}");
    assert_eq!([b.http("DELETE", &path, "").await.0, b.http("DELETE", &path, "").await.0], [200, 404]);
    assert_eq!([b.http("GET", &path, "").await.0, b.http("GET", "/push/endpoints/x", "").await.0], [404, 404]);
}

async fn what_is_no_endpoint_is_refused_and_not_stored(b: Bench) {
    let good = json!({"endpoint": "https://example.com/a", "job_types": ["*"]});
    let wrong = [
        ("endpoint", json!(null)),
        ("endpoint", json!("ftp://example.com/")),
        ("endpoint", json!("https://a:b@example.com/")),
        ("job_types", json!(null)),
        ("job_types", json!([])),
        ("job_types[1]", json!(["a", "b c"])),
        ("queues", json!("q")),
        ("active", json!(1)),
        ("provider", json!("a b")),
        ("routing", json!({"rules": [{"weight": 7000}]})),
        ("config", json!([])),
        ("config.max_concurrency", json!({"max_concurrency": 0})),
        ("config.timeout_ms", json!({"timeout_ms": 900_001})),
        ("config.weight", json!({"weight": "heavy"})),
        ("config.retry_429", json!({"retry_429": "yes"})),
        ("config.signing_secret", json!({"signing_secret": "short"})),
        ("config.speed", json!({"speed": 1})),
    ];
    for (field, value) in wrong {
        let mut body = good.clone();
        body[field.split(['.', '[']).next().unwrap()] = value.clone();
        let (status, answer) = b.http("POST", "/push/endpoints", &body.to_string()).await;
        assert_eq!((status, answer["error"]["details"]["field"].as_str()), (400, Some(field)), "{value}: {answer}");
    }
    assert_eq!(b.http("GET", "/push/endpoints", "").await.1["endpoints"], json!([]));
    let id = created(&b, &good).await;
    for (field, body) in [
        ("config.signing_secret", json!({"config": {"signing_secret": "whsec_another"}})),
        ("job_types", json!({"job_types": null})),
        ("endpoint", json!({"endpoint": 1})),
    ] {
        let (status, answer) = b.http("PATCH", &format!("/push/endpoints/{id}"), &body.to_string()).await;
        assert_eq!((status, answer["error"]["details"]["field"].as_str()), (400, Some(field)), "{answer}");
    }
}

async fn must_1_requests_are_signed_and_have_the_printed_form(b: Bench) {
    let mut endpoint = Endpoint::new(vec![completed()]).await;
    let mut ends = ends(&b).await;
    register(&b, &endpoint.url(), json!({})).await;
    let meta = r#"{"serverless":{"memory_mb":1024,"timeout_s":300,"runtime":"provided.al2023"}}"#;
    let job = format!(r#"{{"type":"t","args":[{{"to":"user@example.com"}}],"meta":{meta},"options":{{"queue":"q"}}}}"#);
    let job = b.enqueue(&job).await;
    let request = endpoint.next().await;
    assert!(request.is_signed_by(SECRET, b.now()) && !request.is_signed_by("whsec_another", b.now()));
    let (body, delivery) = (request.json(), request.header("x-ojs-delivery-id"));
    assert_eq!((request.header("content-type"), request.header("user-agent")), ("application/json", "OJS-Push/1.0"));
    assert_eq!(request.header("x-ojs-idempotency-window"), "60", "twice the time for the answer, in seconds");
    assert!(delivery.starts_with("del_") && request.header("x-ojs-signature").starts_with("sha256="), "{request:?}");
    assert_eq!((id_of(&request), &body["delivery_id"], request.header("webhook-id")), (job, &json!(delivery), delivery));
    assert!(body["worker_id"].as_str().unwrap().starts_with("push_worker_"), "{body}");
    let sent = &body["job"];
    assert_eq!((&sent["specversion"], &sent["id"], &sent["type"]), (&json!("1.0"), &json!(job.to_string()), &json!("t")));
    assert_eq!((&sent["queue"], &sent["args"], &sent["attempt"]), (&json!("q"), &json!([{"to": "user@example.com"}]), &json!(1)));
    assert_eq!(sent["meta"], serde_json::from_str::<Value>(meta).unwrap(), "hints are kept as they are");
    all_completed(&mut ends, 1).await;
    let done = b.get(job).await;
    assert_eq!((done.row.state, done.history.result.as_str()), (JobState::Completed, r#"{"message_id":"msg_123"}"#));
}

async fn must_2_a_job_is_active_under_a_lease_before_the_call(b: Bench) {
    let mut endpoint = Endpoint::new(vec![Reply::Hang]).await;
    register(&b, &endpoint.url(), json!({"timeout_ms": 20_000})).await;
    let job = b.job().await;
    let request = endpoint.next().await;
    let held = b.get(job).await;
    assert_eq!((held.row.state, held.row.attempt, held.row.lease_ms), (JobState::Active, 1, 50_000));
    assert_eq!(held.worker.as_deref(), request.json()["worker_id"].as_str());
    assert_eq!(b.story(job).await, ["job.enqueued", "job.started"]);
}

async fn must_3_the_time_limit_is_kept_and_a_time_out_is_a_retryable_failure(b: Bench) {
    let endpoint = Endpoint::new(vec![Reply::Hang]).await;
    let mut ends = ends(&b).await;
    register(&b, &endpoint.url(), json!({"timeout_ms": 200})).await;
    let job = b.job().await;
    let (name, data) = next(&mut ends).await;
    let error = &data["error"];
    assert_eq!((name.as_str(), &error["code"], &error["retryable"]), ("job.retrying", &json!("push_timeout"), &json!(true)));
    assert_eq!((&error["message"], b.state(job).await), (&json!("no answer within 200 ms"), JobState::Retryable));
}

async fn must_4_a_job_is_at_one_endpoint_at_a_time(b: Bench) {
    let (mut one, mut other) = (Endpoint::new(vec![completed()]).await, Endpoint::new(vec![completed()]).await);
    for endpoint in [&one, &other] {
        register(&b, &endpoint.url(), json!({})).await;
    }
    for _ in 0..10 {
        b.job().await;
    }
    completed_in_all(&b, 10).await;
    let mut seen = std::collections::BTreeMap::new();
    for endpoint in [&mut one, &mut other] {
        while let Some(request) = endpoint.taken() {
            *seen.entry(id_of(&request)).or_insert(0) += 1;
        }
    }
    assert_eq!((seen.len(), seen.values().max()), (10, Some(&1)), "each job is sent once");
}

async fn should_5_retries_back_off_exponentially(b: Bench) {
    let endpoint = Endpoint::new(vec![Reply::status(503), Reply::status(503), Reply::Close, completed()]).await;
    let mut ends = ends(&b).await;
    register(&b, &endpoint.url(), json!({})).await;
    let retry = r#"{"max_attempts":4,"initial_interval":"PT1S","backoff_coefficient":2.0,"jitter":false}"#;
    let job = b.enqueue(&format!(r#"{{"type":"t","args":[],"options":{{"queue":"q","retry":{retry}}}}}"#)).await;
    for pause in [1, 2, 4] {
        let (name, _) = next(&mut ends).await;
        let waiting = b.get(job).await.row;
        assert_eq!((name.as_str(), waiting.retry_delay), ("job.retrying", pause * 1000));
        b.advance(seconds(pause.cast_unsigned())).await;
    }
    all_completed(&mut ends, 1).await;
    assert_eq!(b.get(job).await.row.attempt, 4);
}

async fn should_6_no_endpoint_holds_more_jobs_than_it_may(b: Bench) {
    let mut endpoint = Endpoint::new(vec![Reply::Hang]).await;
    let id = register(&b, &endpoint.url(), json!({"max_concurrency": 2})).await;
    for _ in 0..5 {
        b.job().await;
    }
    let first = endpoint.next().await;
    endpoint.next().await;
    let counts = b.counts("q").await;
    assert_eq!((counts[JobState::Active as usize], counts[JobState::Available as usize]), (2, 3));
    // A place that becomes free is taken; which request has ended does not matter.
    let delivery = first.header("x-ojs-delivery-id");
    let ack = json!({"job_id": id_of(&first), "delivery_id": delivery}).to_string();
    assert_eq!(b.http("POST", "/workers/ack", &ack).await.0, 200);
    patch(&b, &id, json!({"config": {"max_concurrency": 2}})).await;
    endpoint.next().await;
    assert_eq!(b.counts("q").await[JobState::Active as usize], 2);
}

async fn answers_mean_what_the_document_prints(b: Bench) {
    let failed = |retryable: bool| {
        let error = json!({"code": "handler_error", "message": "SMTP connection refused", "retryable": retryable});
        Reply::json(&json!({"status": "failed", "error": error}))
    };
    let cases = [
        (completed(), "job.completed", ""),
        (failed(true), "job.retrying", "handler_error"),
        (failed(false), "job.discarded", "handler_error"),
        (Reply::status(400), "job.discarded", "push_rejected"),
        (Reply::status(422), "job.discarded", "push_rejected"),
        (Reply::status(500), "job.retrying", "push_unavailable"),
        (Reply::status(200), "job.retrying", "push_unreadable"),
        (Reply::json(&json!({"status": "completed"})), "job.completed", ""),
        (Reply::json(&json!({"status": "later"})), "job.retrying", "push_unreadable"),
        (Reply::status(302), "job.retrying", "push_redirected"),
        (Reply::json(&json!({"status": "completed", "result": "x".repeat(1024 * 1024)})), "job.discarded", "result_too_large"),
    ];
    let mut endpoint = Endpoint::new(cases.iter().map(|(reply, ..)| reply.clone()).collect()).await;
    let mut ends = ends(&b).await;
    register(&b, &endpoint.url(), json!({"max_concurrency": 1})).await;
    for (reply, event, code) in &cases {
        b.job().await;
        endpoint.next().await;
        let (name, data) = next(&mut ends).await;
        let error = if name == "job.discarded" { &data["last_error"] } else { &data["error"] };
        assert_eq!((name.as_str(), error["code"].as_str().unwrap_or_default()), (*event, *code), "{reply:?}: {data}");
    }
}

async fn a_429_is_final_unless_the_endpoint_says_otherwise(b: Bench) {
    let busy = Reply::Answer(429, "Retry-After: 7\r\n".to_owned(), String::new());
    let mut endpoint = Endpoint::new(vec![busy.clone(), busy, completed()]).await;
    let mut ends = ends(&b).await;
    let id = register(&b, &endpoint.url(), json!({})).await;
    b.job().await;
    endpoint.next().await;
    assert_eq!(next(&mut ends).await.0, "job.discarded");
    patch(&b, &id, json!({"config": {"retry_429": true}})).await;
    let job = b.job().await;
    endpoint.next().await;
    let mut released = listen(&b, "/events/stream?types=job.scheduled,job.available", None).await;
    while b.state(job).await == JobState::Active {
        released.next().await.unwrap();
    }
    let row = b.get(job).await.row;
    assert_eq!((row.state, row.charged(), row.retry_delay), (JobState::Retryable, 0, 7_000), "given back, not charged");
    assert_eq!(shown(&b, &id).await["status"], "waiting");
    b.advance(seconds(7)).await;
    endpoint.next().await;
    all_completed(&mut ends, 1).await;
}

async fn a_late_answer_counts_under_the_current_delivery_id_only(b: Bench) {
    let mut endpoint = Endpoint::new(vec![Reply::Hang]).await;
    register(&b, &endpoint.url(), json!({})).await;
    let job = b.job().await;
    let first = endpoint.next().await;
    // The lease ends: the time for the answer, and 30 s.
    b.advance(seconds(61)).await;
    let second = endpoint.next().await;
    assert_ne!(first.header("x-ojs-delivery-id"), second.header("x-ojs-delivery-id"), "an id for each delivery");
    let with = |request: &Request| json!({"job_id": job, "delivery_id": request.header("x-ojs-delivery-id")}).to_string();
    for path in ["/workers/ack".to_owned(), format!("/jobs/{job}/ack")] {
        let (status, answer) = b.http("POST", &path, &with(&first)).await;
        assert_eq!((status, answer["error"]["details"]["reason"].as_str()), (409, Some("stale_lease")), "{answer}");
    }
    let none = json!({"job_id": job}).to_string();
    assert_eq!(b.http("POST", "/workers/ack", &none).await.0, 409, "without an id it settles nothing");
    let wrong = json!({"job_id": job, "delivery_id": "del_1"}).to_string();
    assert_eq!(b.http("POST", "/workers/ack", &wrong).await.0, 400);
    let told = b.events(ojs_engine::EventFilter::default()).await.0;
    let row = b.get(job).await.row;
    assert_eq!((row.state, row.attempt), (JobState::Active, 2), "nothing has changed: {told:#?} {row:#?}");
    assert_eq!(b.http("POST", "/workers/ack", &with(&second)).await.0, 200);
    assert_eq!(b.state(job).await, JobState::Completed);
}

async fn a_rotated_secret_signs_for_a_day(b: Bench) {
    let mut endpoint = Endpoint::new(vec![completed()]).await;
    let mut ends = ends(&b).await;
    let id = register(&b, &endpoint.url(), json!({})).await;
    let (status, rotated) = b.http("POST", &format!("/push/endpoints/{id}/rotate-secret"), "{}").await;
    let fresh = rotated["config"]["signing_secret"].as_str().unwrap().to_owned();
    assert_eq!((status, rotated["previous_secret_expires_at"].is_string()), (200, true), "{rotated}");
    b.job().await;
    let request = endpoint.next().await;
    assert!(request.is_signed_by(SECRET, b.now()) && request.is_signed_by(&fresh, b.now()));
    // A job that still runs would be delivered again when its lease has ended, before the next one.
    all_completed(&mut ends, 1).await;
    let before = b.now();
    b.advance(seconds(86_401)).await;
    b.job().await;
    let mut request = endpoint.next().await;
    if sent_at(&request) <= before {
        // A claim that had begun before the day was over got the job; it is the only one.
        assert!(request.is_signed_by(SECRET, before) && request.is_signed_by(&fresh, before));
        b.job().await;
        request = endpoint.next().await;
    }
    assert!(!request.is_signed_by(SECRET, b.now()) && request.is_signed_by(&fresh, b.now()));
}

/// When a request was signed, in milliseconds.
fn sent_at(request: &Request) -> i64 {
    request.header("webhook-timestamp").parse::<i64>().unwrap() * 1000
}

async fn a_paused_endpoint_is_sent_nothing_and_goes_on_later(b: Bench) {
    let mut endpoint = Endpoint::new(vec![completed()]).await;
    let mut ends = ends(&b).await;
    let id = register(&b, &endpoint.url(), json!({})).await;
    patch(&b, &id, json!({"active": false})).await;
    assert_eq!(shown(&b, &id).await["status"], "paused");
    b.job().await;
    assert_eq!(b.claim(1).await.len(), 1, "a worker that fetches gets it");
    let job = b.job().await;
    patch(&b, &id, json!({"active": true})).await;
    assert_eq!(id_of(&endpoint.next().await), job);
    all_completed(&mut ends, 1).await;
    assert!(!endpoint.has_more());
}

async fn a_trial_delivery_is_signed_and_explained(b: Bench) {
    let no_handler = json!({"code": "no_handler", "message": "No handler for push.test", "retryable": false});
    let replies = vec![
        Reply::json(&json!({"status": "failed", "error": no_handler})),
        completed(),
        Reply::status(401),
        Reply::status(404),
        Reply::status(500),
        Reply::Close,
    ];
    let mut endpoint = Endpoint::new(replies).await;
    let id = register(&b, &endpoint.url(), json!({})).await;
    let expected = [
        ("failed", true),
        ("completed", true),
        ("refused", false),
        ("refused", false),
        ("undelivered", false),
        ("undelivered", false),
    ];
    for (outcome, success) in expected {
        let (status, tried) = b.http("POST", &format!("/push/endpoints/{id}/test"), "").await;
        assert_eq!((status, &tried["outcome"], &tried["success"]), (200, &json!(outcome), &json!(success)), "{tried}");
        assert!(!tried["explanation"].as_str().unwrap().is_empty());
        let request = endpoint.next().await;
        assert!(request.is_signed_by(SECRET, b.now()));
        assert_eq!((&request.json()["job"]["type"], &request.json()["job"]["queue"]), (&json!("push.test"), &json!("q")));
    }
    assert_eq!(shown(&b, &id).await["status"], "active", "a trial changes nothing");
}

async fn connections_are_used_again(b: Bench) {
    let endpoint = Endpoint::new(vec![completed()]).await;
    register(&b, &endpoint.url(), json!({"max_concurrency": 1})).await;
    for _ in 0..20 {
        b.job().await;
    }
    completed_in_all(&b, 20).await;
    assert_eq!(endpoint.connections(), 1);
}

async fn a_function_that_falls_silent_after_a_heartbeat_takes_no_job_of_others_away(b: Bench) {
    let mut endpoint = Endpoint::new(vec![Reply::Hang]).await;
    let id = register(&b, &endpoint.url(), json!({"timeout_ms": 900_000})).await;
    let worker = shown(&b, &id).await["worker_id"].clone();
    let (one, other) = (b.job().await, b.job().await);
    let (first, _) = (endpoint.next().await, endpoint.next().await);
    let beats = id_of(&first);
    let lease = first.json()["job"]["lease_token"].clone();
    let beat = json!({"worker_id": worker, "active_jobs": [beats], "lease_tokens": {beats.to_string(): lease}});
    let (status, answer) = b.http("POST", "/workers/heartbeat", &beat.to_string()).await;
    assert_eq!((status, &answer["jobs_extended"]), (200, &json!([beats])), "{answer}");
    b.advance(seconds(300)).await;
    assert_eq!((b.state(one).await, b.state(other).await), (JobState::Active, JobState::Active));
}
