//! Push delivery and faults: endpoints of every bad kind, the breaker, nodes that end in the middle of a call, names
//! that change their meaning, clocks that differ.
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use ojs_engine::Engine;
use ojs_engine::outgoing::{Names, Resolving};
use ojs_model::JobState;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::endpoint::{Endpoint, Reply};
use crate::nodes::{advance_together, second_node};
use crate::push::{SECRET, all_completed, completed, completed_in_all, created, ends, in_state, next, patch, register, shown};
use crate::streams::Listener;
use crate::support::{Bench, seconds};
use crate::webhook_endpoints::with_outgoing;

crate::on_every_store!(
    endpoints_that_break_the_protocol_fail_the_attempt_within_bounds,
    a_second_answer_changes_nothing,
    five_failures_open_the_breaker_and_the_jobs_can_be_fetched,
    a_wrong_address_disables_the_endpoint_until_it_is_changed,
    a_wrong_key_costs_one_job_also_when_many_are_on_their_way,
    private_targets_are_refused_also_when_a_name_changes_its_meaning,
    a_name_that_means_this_machine_from_the_second_look_up_on_is_refused_then,
    a_receiver_whose_clock_is_off_refuses_and_the_reason_is_shown,
    a_job_that_is_cancelled_during_the_call_stays_cancelled,
    an_endpoint_that_is_deleted_during_the_call_settles_its_job,
    a_function_that_lost_its_lease_goes_on_from_its_checkpoint,
);

/// The next delivery begins where the lost one was, and the lost one saves nothing any more.
async fn a_function_that_lost_its_lease_goes_on_from_its_checkpoint(b: Bench) {
    let mut endpoint = Endpoint::new(vec![Reply::Hang]).await;
    register(&b, &endpoint.url(), json!({})).await;
    let job = b.job().await;
    let lost = endpoint.next().await.json();
    assert_eq!(lost["job"].get("checkpoint"), None, "{lost}");
    let path = format!("/jobs/{job}/checkpoint");
    let save = async |delivery: &Value, page: u32| {
        let token = &delivery["job"]["lease_token"];
        let body = json!({"state": {"page": page}, "worker_id": delivery["worker_id"], "lease_token": token});
        b.http("PUT", &path, &body.to_string()).await
    };
    assert_eq!(save(&lost, 3).await.0, 200);
    // The lease ends: the time for the answer, and 30 s.
    b.advance(seconds(61)).await;
    let current = endpoint.next().await.json();
    assert_eq!(current["job"]["checkpoint"], json!({"state": {"page": 3}, "sequence": 1}), "{current}");
    let (status, refused) = save(&lost, 9).await;
    assert_eq!((status, &refused["error"]["details"]["reason"]), (409, &json!("stale_lease")), "{refused}");
    assert_eq!(save(&current, 4).await.1["sequence"], 2);
    assert_eq!(b.http("GET", &path, "").await.1["state"], json!({"page": 4}));
}

async fn retried(ends: &mut Listener) -> String {
    let (name, data) = next(ends).await;
    assert_eq!(name, "job.retrying", "{data}");
    data["error"]["code"].as_str().unwrap().to_owned()
}

async fn endpoints_that_break_the_protocol_fail_the_attempt_within_bounds(b: Bench) {
    let cases = [
        (Reply::Hang, "push_timeout", 200),
        (Reply::Drip, "push_timeout", 200),
        (Reply::Cut, "push_unreadable", 60_000),
        (Reply::Close, "push_unreachable", 60_000),
        (Reply::redirect(307, "http://127.0.0.1:1/"), "push_redirected", 60_000),
        (Reply::Endless, "push_unreadable", 60_000),
    ];
    let mut ends = ends(&b).await;
    for (reply, code, timeout_ms) in cases {
        let mut endpoint = Endpoint::new(vec![reply.clone()]).await;
        let id = register(&b, &endpoint.url(), json!({"timeout_ms": timeout_ms})).await;
        b.job().await;
        endpoint.next().await;
        assert_eq!(retried(&mut ends).await, code, "{reply:?}");
        let failing = shown(&b, &id).await;
        assert_eq!((&failing["status"], &failing["consecutive_failures"]), (&json!("failing"), &json!(1)));
        assert!(!failing["last_failure"]["reason"].as_str().unwrap().is_empty(), "{failing}");
        patch(&b, &id, json!({"active": false})).await;
    }
}

async fn a_second_answer_changes_nothing(b: Bench) {
    let failed = json!({"status": "failed", "error": {"code": "x", "message": "m"}}).to_string();
    let mut endpoint = Endpoint::new(vec![Reply::Twice(json!({"status": "completed"}).to_string()), Reply::Twice(failed)]).await;
    let mut ends = ends(&b).await;
    register(&b, &endpoint.url(), json!({"max_concurrency": 1})).await;
    let first = b.job().await;
    endpoint.next().await;
    all_completed(&mut ends, 1).await;
    let second = b.job().await;
    endpoint.next().await;
    assert_eq!(retried(&mut ends).await, "x", "the answer to its own request");
    assert_eq!((b.state(first).await, b.state(second).await), (JobState::Completed, JobState::Retryable));
}

async fn five_failures_open_the_breaker_and_the_jobs_can_be_fetched(b: Bench) {
    let go_on = Arc::new(Notify::new());
    let mut replies = vec![Reply::status(503); 5];
    replies.extend([Reply::Held(Arc::clone(&go_on), 503), completed()]);
    let mut endpoint = Endpoint::new(replies).await;
    let id = register(&b, &endpoint.url(), json!({"max_concurrency": 1})).await;
    let mut ends = ends(&b).await;
    let retry = r#"{"max_attempts":9,"initial_interval":"PT30M","jitter":false}"#;
    let job = format!(r#"{{"type":"t","args":[],"options":{{"queue":"q","retry":{retry}}}}}"#);
    for _ in 0..8 {
        b.enqueue(&job).await;
    }
    let mut names = Vec::new();
    for _ in 0..6 {
        names.push(next(&mut ends).await.0);
    }
    assert_eq!(names.iter().filter(|name| *name == "job.retrying").count(), 5);
    assert!(names.contains(&"push.endpoint.opened".to_owned()), "{names:?}");
    let open = shown(&b, &id).await;
    assert_eq!((&open["status"], &open["last_failure"]["status_code"]), (&json!("open"), &json!(503)), "{open}");
    for _ in 0..5 {
        endpoint.next().await;
    }
    // It falls back to pull. On PostgreSQL the look of the sender may still hold the row: then the next fetch has it.
    let fetched = loop {
        if let Some(job) = b.claim(1).await.pop() {
            break job;
        }
        tokio::task::yield_now().await;
    };
    b.ack(&fetched).await.unwrap();
    assert_eq!(next(&mut ends).await.0, "job.completed");
    b.advance(seconds(59)).await;
    assert_eq!((b.counts("q").await[JobState::Active as usize], endpoint.has_more()), (0, false));
    b.advance(seconds(1)).await;
    endpoint.next().await;
    assert_eq!(shown(&b, &id).await["status"], "probing");
    go_on.notify_one();
    assert_eq!(retried(&mut ends).await, "push_unavailable");
    assert!(!endpoint.has_more(), "one delivery only shows whether it works");
    assert_eq!(shown(&b, &id).await["status"], "open");
    b.advance(seconds(60)).await;
    let closed = [next(&mut ends).await.0, next(&mut ends).await.0];
    assert!(closed.contains(&"push.endpoint.closed".to_owned()) && closed.contains(&"job.completed".to_owned()), "{closed:?}");
    assert_eq!(shown(&b, &id).await["status"], "active");
    b.advance(seconds(1800)).await;
    completed_in_all(&b, 8).await;
}

async fn a_wrong_address_disables_the_endpoint_until_it_is_changed(b: Bench) {
    let mut endpoint = Endpoint::new(vec![Reply::status(404), completed()]).await;
    let id = register(&b, &endpoint.url(), json!({"max_concurrency": 1})).await;
    let mut ends = ends(&b).await;
    for _ in 0..2 {
        b.job().await;
    }
    endpoint.next().await;
    let names = [next(&mut ends).await.0, next(&mut ends).await.0];
    assert_eq!(names, ["push.endpoint.disabled", "job.discarded"]);
    let disabled = shown(&b, &id).await;
    assert_eq!(
        (&disabled["status"], &disabled["last_failure"]["reason"]),
        (&json!("disabled"), &json!("the endpoint answered 404"))
    );
    b.advance(seconds(3_600)).await;
    assert_eq!((b.counts("q").await[JobState::Available as usize], endpoint.has_more()), (1, false));
    patch(&b, &id, json!({"active": true})).await;
    endpoint.next().await;
    all_completed(&mut ends, 1).await;
}

/// An endpoint whose clock is off by ten minutes answers 401 to each of them.
async fn a_wrong_key_costs_one_job_also_when_many_are_on_their_way(b: Bench) {
    let answers: Vec<Arc<Notify>> = (0..10).map(|_| Arc::default()).collect();
    let held = answers.iter().map(|go_on| Reply::Held(Arc::clone(go_on), 401));
    let mut endpoint = Endpoint::new(held.chain([completed()]).collect()).await;
    for _ in &answers {
        b.job().await;
    }
    let id = register(&b, &endpoint.url(), json!({"max_concurrency": answers.len()})).await;
    let mut ends = ends(&b).await;
    for _ in &answers {
        endpoint.next().await;
    }
    answers.iter().for_each(|go_on| go_on.notify_one());
    assert_eq!([next(&mut ends).await.0, next(&mut ends).await.0], ["push.endpoint.disabled", "job.discarded"]);
    in_state(&b, JobState::Available, 9).await;
    let counts = b.counts("q").await;
    assert_eq!((counts[JobState::Available as usize], counts[JobState::Discarded as usize]), (9, 1), "{counts:?}");
    patch(&b, &id, json!({"active": true})).await;
    all_completed(&mut ends, 9).await;
}

/// A name that means another address each time it is asked for; in the end, this machine.
struct Rebinding(Mutex<Vec<IpAddr>>);

impl Names for Rebinding {
    fn resolve(&self, _host: &str) -> Resolving {
        let mut left = self.0.lock().unwrap();
        let next = if left.len() > 1 { left.pop().unwrap() } else { left[0] };
        Box::pin(async move { Ok(vec![next]) })
    }
}

async fn private_targets_are_refused_also_when_a_name_changes_its_meaning(b: Bench) {
    let names = Rebinding(Mutex::new(vec![IpAddr::from([127, 0, 0, 1])]));
    let b = with_outgoing(b, |outgoing| {
        outgoing.allow_insecure = false;
        outgoing.names = Some(Arc::new(names));
    })
    .await;
    for url in ["https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest", "http://example.com/"] {
        let body = json!({"endpoint": url, "job_types": ["*"]}).to_string();
        let (status, answer) = b.http("POST", "/push/endpoints", &body).await;
        assert_eq!((status, answer["error"]["details"]["field"].as_str()), (400, Some("endpoint")), "{url}");
    }
    let endpoint = Endpoint::new(vec![completed()]).await;
    let mut ends = ends(&b).await;
    let id = register(&b, &format!("https://rebinding.example:{}/", endpoint.port), json!({})).await;
    b.job().await;
    assert_eq!(retried(&mut ends).await, "push_target_refused");
    let reason = "rebinding.example is not a public address; an operator may allow it";
    assert_eq!(shown(&b, &id).await["last_failure"]["reason"], reason);
    assert_eq!(endpoint.connections(), 0, "nothing reached this machine");
}

async fn a_name_that_means_this_machine_from_the_second_look_up_on_is_refused_then(b: Bench) {
    // Another address of this machine stands for a public one: the operator allows it, and it alone.
    let (outside, inside) = (IpAddr::from([127, 0, 0, 2]), IpAddr::from([127, 0, 0, 1]));
    let names = Rebinding(Mutex::new(vec![inside, outside]));
    let b = with_outgoing(b, |outgoing| {
        outgoing.allow_insecure = false;
        outgoing.allow = vec![outside.to_string().parse().unwrap()];
        outgoing.names = Some(Arc::new(names));
    })
    .await;
    let private = Endpoint::new(vec![completed()]).await;
    let allowed = Endpoint::at(&format!("{outside}:{}", private.port), vec![completed()]).await;
    let mut ends = ends(&b).await;
    let id = register(&b, &format!("https://rebinding.example:{}/", private.port), json!({"max_concurrency": 1})).await;
    b.job().await;
    assert_eq!(retried(&mut ends).await, "push_unreachable", "it is reached, and speaks no TLS");
    assert_eq!((allowed.connections(), private.connections()), (1, 0));
    b.job().await;
    assert_eq!(retried(&mut ends).await, "push_target_refused");
    let reason = "rebinding.example is not a public address; an operator may allow it";
    assert_eq!(shown(&b, &id).await["last_failure"]["reason"], reason);
    assert_eq!((allowed.connections(), private.connections()), (1, 0), "no connection to this machine");
}

async fn a_receiver_whose_clock_is_off_refuses_and_the_reason_is_shown(b: Bench) {
    let mut endpoint = Endpoint::new(vec![Reply::status(401)]).await;
    let id = register(&b, &endpoint.url(), json!({})).await;
    let mut ends = ends(&b).await;
    b.job().await;
    let request = endpoint.next().await;
    let minutes = |n: i64| b.now() + n * 60_000;
    assert!(request.is_signed_by(SECRET, minutes(4)), "within the window of five minutes");
    assert!(!request.is_signed_by(SECRET, minutes(10)) && !request.is_signed_by(SECRET, minutes(-10)));
    let names = [next(&mut ends).await.0, next(&mut ends).await.0];
    assert_eq!(names, ["push.endpoint.disabled", "job.discarded"], "one job shows it; the others stay available");
    let (_, tried) = b.http("POST", &format!("/push/endpoints/{id}/test"), "").await;
    assert!(tried["explanation"].as_str().unwrap().contains("clock"), "{tried}");
}

async fn a_job_that_is_cancelled_during_the_call_stays_cancelled(b: Bench) {
    let go_on = Arc::new(Notify::new());
    let mut endpoint = Endpoint::new(vec![Reply::Held(Arc::clone(&go_on), 503), completed()]).await;
    let mut ends = ends(&b).await;
    register(&b, &endpoint.url(), json!({"max_concurrency": 1})).await;
    let job = b.job().await;
    endpoint.next().await;
    assert_eq!(b.http("DELETE", &format!("/jobs/{job}"), "").await.0, 200);
    go_on.notify_one();
    b.job().await;
    all_completed(&mut ends, 1).await;
    assert_eq!(b.state(job).await, JobState::Cancelled);
}

async fn an_endpoint_that_is_deleted_during_the_call_settles_its_job(b: Bench) {
    let go_on = Arc::new(Notify::new());
    let mut endpoint = Endpoint::new(vec![Reply::Held(Arc::clone(&go_on), 503)]).await;
    let mut ends = ends(&b).await;
    let id = register(&b, &endpoint.url(), json!({})).await;
    let job = b.job().await;
    endpoint.next().await;
    b.http("DELETE", &format!("/push/endpoints/{id}"), "").await;
    go_on.notify_one();
    assert_eq!(retried(&mut ends).await, "push_unavailable");
    assert_eq!(b.state(job).await, JobState::Retryable);
}

#[tokio::test]
async fn two_nodes_send_no_job_twice_and_hold_to_the_limit_together() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let mut endpoint = Endpoint::new(vec![completed()]).await;
    register(&b, &endpoint.url(), json!({"max_concurrency": 3})).await;
    for round in 0..40 {
        if round % 2 == 0 { &b } else { &other }.job().await;
    }
    completed_in_all(&b, 40).await;
    let mut sent = std::collections::BTreeSet::new();
    while let Some(request) = endpoint.taken() {
        assert!(sent.insert(request.header("x-ojs-job-id").to_owned()), "sent twice");
    }
    assert_eq!(sent.len(), 40);
    let mut hanging = Endpoint::new(vec![Reply::Hang]).await;
    created(&other, &json!({"endpoint": hanging.url(), "job_types": ["u"], "queues": ["q"], "config": {"max_concurrency": 3}}))
        .await;
    for round in 0..9 {
        if round % 2 == 0 { &b } else { &other }.enqueue(r#"{"type":"u","args":[],"options":{"queue":"q"}}"#).await;
    }
    for _ in 0..3 {
        hanging.next().await;
    }
    let counts = b.counts("q").await;
    assert_eq!((counts[JobState::Active as usize], counts[JobState::Available as usize]), (3, 6));
}

#[tokio::test]
async fn what_a_node_that_is_gone_has_sent_its_leases_decide() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let mut endpoint = Endpoint::new(vec![Reply::Hang, completed()]).await;
    let mut ends = ends(&b).await;
    register(&b, &endpoint.url(), json!({})).await;
    b.job().await;
    let first = endpoint.next().await;
    // Whichever node has sent it never hears an answer.
    advance_together(&b, &other, seconds(59)).await;
    assert!(!endpoint.has_more(), "within the lease");
    advance_together(&b, &other, seconds(2)).await;
    let second = endpoint.next().await;
    assert_eq!(second.header("x-ojs-job-id"), first.header("x-ojs-job-id"));
    assert_ne!(second.header("x-ojs-delivery-id"), first.header("x-ojs-delivery-id"));
    all_completed(&mut ends, 1).await;
}

#[tokio::test]
async fn a_job_is_sent_again_after_a_crash_in_the_middle_of_a_call() {
    let mut b = Bench::sqlite().await;
    let mut endpoint = Endpoint::new(vec![Reply::Hang, completed()]).await;
    register(&b, &endpoint.url(), json!({})).await;
    let job = b.job().await;
    endpoint.next().await;
    let successor = Engine::open(b.engine.options().clone()).await.unwrap();
    b.succeeded_by(successor).await;
    let mut ends = ends(&b).await;
    assert_eq!(b.state(job).await, JobState::Active, "the lease lasts");
    b.advance(seconds(61)).await;
    assert_eq!(endpoint.next().await.header("x-ojs-job-id"), job.to_string());
    all_completed(&mut ends, 1).await;
}
