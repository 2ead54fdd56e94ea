//! Push delivery: which endpoint gets which job, and that the rules for claims hold as for workers that fetch.
use std::collections::{BTreeMap, BTreeSet};

use ojs_model::JobState;
use serde_json::json;

use crate::endpoint::{Endpoint, Reply};
use crate::push::{SECRET, all_completed, completed, completed_in_all, created, ends, patch, register};
use crate::support::{Bench, seconds};
use crate::trains::in_train;

crate::on_every_store!(
    patterns_of_types_and_queues_hold_for_new_ones_too,
    jobs_are_shared_by_weight,
    hints_of_a_job_choose_the_endpoint_where_it_says_so,
    a_full_endpoint_holds_up_no_other_of_the_queue,
    full_endpoints_take_the_next_jobs_until_none_are_left,
    cars_of_a_train_are_sent_one_after_the_other,
    a_concurrency_key_holds_for_push,
    jobs_that_a_key_holds_back_take_no_room,
    a_rate_holds_for_push,
    a_suspended_tenant_is_sent_nothing,
    a_paused_queue_and_maintenance_send_nothing,
    jobs_of_all_versions_are_sent,
    a_job_that_is_scheduled_is_sent_when_it_is_due,
);

async fn patterns_of_types_and_queues_hold_for_new_ones_too(b: Bench) {
    let mut endpoint = Endpoint::new(vec![completed()]).await;
    let body = json!({"endpoint": endpoint.url(), "job_types": ["email.*", "exact"], "queues": ["mail-*"]});
    created(&b, &body).await;
    let job = |job_type: &str, queue: &str| format!(r#"{{"type":"{job_type}","args":[],"options":{{"queue":"{queue}"}}}}"#);
    let others = [b.enqueue(&job("email.send", "other")).await, b.enqueue(&job("report", "mail-eu")).await];
    for wanted in [job("email.send", "mail-eu"), job("exact", "mail-us"), job("email.new", "mail-new")] {
        let id = b.enqueue(&wanted).await;
        assert_eq!(endpoint.next().await.header("x-ojs-job-id"), id.to_string());
    }
    for id in others {
        assert_eq!(b.state(id).await, JobState::Available);
    }
}

async fn jobs_are_shared_by_weight(b: Bench) {
    let (mut heavy, mut light) = (Endpoint::new(vec![completed()]).await, Endpoint::new(vec![completed()]).await);
    register(&b, &heavy.url(), json!({"weight": 4, "max_concurrency": 100})).await;
    let mut body = json!({"endpoint": light.url(), "job_types": ["t", "u"], "queues": ["q"]});
    body["config"] = json!({"weight": 1, "max_concurrency": 100});
    created(&b, &body).await;
    // When the second one has got a job that only it takes, the queue has both.
    b.enqueue(r#"{"type":"u","args":[],"options":{"queue":"q"}}"#).await;
    light.next().await;
    for _ in 0..50 {
        b.job().await;
    }
    completed_in_all(&b, 51).await;
    let mut got = [0, 0];
    while heavy.taken().is_some() {
        got[0] += 1;
    }
    while light.taken().is_some() {
        got[1] += 1;
    }
    assert_eq!(got, [40, 10]);
}

async fn hints_of_a_job_choose_the_endpoint_where_it_says_so(b: Bench) {
    let (mut large, mut plain) = (Endpoint::new(vec![completed()]).await, Endpoint::new(vec![completed()]).await);
    let routing = json!({"rules": [{"match": {"serverless": {"runtime": "python*"}}, "weight": 1}, {"weight": 0}]});
    let body = |url: &str| json!({"endpoint": url, "job_types": ["t"], "queues": ["q"]});
    let mut one = body(&large.url());
    one["routing"] = routing.clone();
    let id = created(&b, &one).await;
    assert_eq!(
        b.http("GET", &format!("/push/endpoints/{id}"), "").await.1["routing"]["rules"][1],
        json!({"match": {}, "weight": 0})
    );
    let mut other = body(&plain.url());
    other["routing"] = json!({"rules": [{"match": {"serverless": {"runtime": "python*"}}, "weight": 0}]});
    created(&b, &other).await;
    for round in 0..6 {
        let runtime = if round % 2 == 0 { "python3.12" } else { "provided.al2023" };
        let meta = json!({"serverless": {"runtime": runtime}});
        let id = b.enqueue(&json!({"type": "t", "args": [], "meta": meta, "options": {"queue": "q"}}).to_string()).await;
        let taken = if round % 2 == 0 { &mut large } else { &mut plain }.next().await;
        assert_eq!(taken.header("x-ojs-job-id"), id.to_string());
    }
}

async fn a_full_endpoint_holds_up_no_other_of_the_queue(b: Bench) {
    let (mut hanging, mut quick) = (Endpoint::new(vec![Reply::Hang]).await, Endpoint::new(vec![completed()]).await);
    register(&b, &hanging.url(), json!({"max_concurrency": 1})).await;
    for _ in 0..150 {
        b.job().await;
    }
    hanging.next().await;
    created(&b, &json!({"endpoint": quick.url(), "job_types": ["u"], "queues": ["q"]})).await;
    let behind = b.enqueue(r#"{"type":"u","args":[],"options":{"queue":"q"}}"#).await;
    assert_eq!(quick.next().await.header("x-ojs-job-id"), behind.to_string());
}

/// Two endpoints with room for two jobs each, and a long line: the endpoint that ends a job gets the next one, and none
/// gets a third. When the line is empty, new jobs are sent as soon as they come.
async fn full_endpoints_take_the_next_jobs_until_none_are_left(b: Bench) {
    let (mut one, mut other) = (Endpoint::new(vec![completed()]).await, Endpoint::new(vec![completed()]).await);
    for _ in 0..60 {
        b.job().await;
    }
    for endpoint in [&one, &other] {
        register(&b, &endpoint.url(), json!({"max_concurrency": 2})).await;
    }
    completed_in_all(&b, 60).await;
    b.job().await;
    b.job().await;
    completed_in_all(&b, 62).await;
    let mut sent = BTreeSet::new();
    while let Some(request) = one.taken().or_else(|| other.taken()) {
        assert!(sent.insert(request.header("x-ojs-job-id").to_owned()), "sent twice: {request:?}");
    }
    assert_eq!(sent.len(), 62);
    let held = b.events(ojs_engine::EventFilter::default()).await.0;
    let mut active: BTreeMap<String, i64> = BTreeMap::new();
    let mut holders: BTreeMap<String, String> = BTreeMap::new();
    for event in held {
        let data: serde_json::Value = serde_json::from_str(&event.data).unwrap();
        match event.name.as_str() {
            "job.started" => {
                let worker = data["worker_id"].as_str().unwrap().to_owned();
                let jobs = active.entry(worker.clone()).or_default();
                *jobs += 1;
                assert!(*jobs <= 2, "{worker} holds {jobs} jobs");
                holders.insert(event.subject.clone(), worker);
            }
            "job.completed" => *active.get_mut(&holders[&event.subject]).unwrap() -= 1,
            _ => {}
        }
    }
    assert_eq!(active.into_values().collect::<Vec<_>>(), [0, 0]);
}

async fn cars_of_a_train_are_sent_one_after_the_other(b: Bench) {
    let replies = vec![Reply::Hang, completed()];
    let mut endpoint = Endpoint::new(replies).await;
    let first = b.enqueue(&in_train(r#""order-1""#, "")).await;
    let second = b.enqueue(&in_train(r#""order-1""#, "")).await;
    register(&b, &endpoint.url(), json!({})).await;
    let request = endpoint.next().await;
    assert_eq!((request.header("x-ojs-job-id"), b.state(second).await), (first.to_string().as_str(), JobState::Pending));
    let ack = json!({"job_id": first, "delivery_id": request.header("x-ojs-delivery-id")}).to_string();
    assert_eq!(b.http("POST", "/workers/ack", &ack).await.0, 200);
    assert_eq!(endpoint.next().await.header("x-ojs-job-id"), second.to_string());
    completed_in_all(&b, 2).await;
}

async fn a_concurrency_key_holds_for_push(b: Bench) {
    let mut endpoint = Endpoint::new(vec![Reply::Hang]).await;
    // With room for one more, a claim reads past the jobs that the key holds back.
    register(&b, &endpoint.url(), json!({"max_concurrency": 2})).await;
    let job = r#"{"type":"t","args":[],"options":{"queue":"q","rate_limit":{"key":"one","concurrency":1}}}"#;
    for _ in 0..3 {
        b.enqueue(job).await;
    }
    endpoint.next().await;
    b.job().await;
    endpoint.next().await;
    assert_eq!(b.counts("q").await[JobState::Active as usize], 2, "one of the key, and the other one");
}

async fn jobs_that_a_key_holds_back_take_no_room(b: Bench) {
    let mut endpoint = Endpoint::new(vec![Reply::Hang]).await;
    let job = r#"{"type":"t","args":[],"options":{"queue":"q","rate_limit":{"key":"one","concurrency":1}}}"#;
    for _ in 0..3 {
        b.enqueue(job).await;
    }
    let others = [b.job().await, b.job().await];
    // One claim has room for three: it is for the first job of the key, and for both others behind the next two.
    register(&b, &endpoint.url(), json!({"max_concurrency": 3})).await;
    let mut sent = Vec::new();
    for _ in 0..3 {
        sent.push(endpoint.next().await.header("x-ojs-job-id").to_owned());
    }
    assert!(others.iter().all(|job| sent.contains(&job.to_string())), "{sent:?}");
}

async fn a_rate_holds_for_push(b: Bench) {
    let mut endpoint = Endpoint::new(vec![completed()]).await;
    let mut ends = ends(&b).await;
    register(&b, &endpoint.url(), json!({"max_concurrency": 3})).await;
    let job = r#"{"type":"t","args":[],"options":{"queue":"q","rate_limit":{"key":"k","rate":{"limit":1,"period":"PT10S"}}}}"#;
    for _ in 0..2 {
        b.enqueue(job).await;
    }
    endpoint.next().await;
    all_completed(&mut ends, 1).await;
    // A job without the key shows that the queue was looked at meanwhile.
    let other = b.job().await;
    assert_eq!(endpoint.next().await.header("x-ojs-job-id"), other.to_string());
    all_completed(&mut ends, 1).await;
    assert!(!endpoint.has_more(), "the window is full");
    b.advance(seconds(11)).await;
    endpoint.next().await;
    all_completed(&mut ends, 1).await;
}

async fn a_suspended_tenant_is_sent_nothing(b: Bench) {
    let mut endpoint = Endpoint::new(vec![completed()]).await;
    let mut ends = ends(&b).await;
    b.http("PUT", "/admin/tenants/acme", "{}").await;
    let job = b.job_of("acme").await;
    b.http("POST", "/admin/tenants/acme/suspend", "{}").await;
    let queue = b.get(job.parse().unwrap()).await.queue.to_string();
    let body = json!({"endpoint": endpoint.url(), "job_types": ["*"], "queues": [queue, "q"]});
    created(&b, &body).await;
    let other = b.job().await;
    assert_eq!(endpoint.next().await.header("x-ojs-job-id"), other.to_string());
    all_completed(&mut ends, 1).await;
    assert_eq!(b.state(job.parse().unwrap()).await, JobState::Available);
    b.http("POST", "/admin/tenants/acme/resume", "{}").await;
    assert_eq!(endpoint.next().await.header("x-ojs-job-id"), job);
}

async fn a_paused_queue_and_maintenance_send_nothing(b: Bench) {
    let mut endpoint = Endpoint::new(vec![completed()]).await;
    let mut ends = ends(&b).await;
    for (stop, go, on, off) in [
        ("/queues/q/pause", "/queues/q/resume", "", ""),
        ("/admin/system/maintenance", "/admin/system/maintenance", r#"{"enabled":true}"#, r#"{"enabled":false}"#),
    ] {
        b.job().await;
        b.http("POST", stop, on).await;
        let id = register(&b, &endpoint.url(), json!({})).await;
        let job = b.counts("q").await[JobState::Available as usize];
        assert_eq!((job, endpoint.has_more()), (1, false));
        b.http("POST", go, off).await;
        endpoint.next().await;
        all_completed(&mut ends, 1).await;
        patch(&b, &id, json!({"active": false})).await;
    }
}

async fn jobs_of_all_versions_are_sent(b: Bench) {
    let endpoint = Endpoint::new(vec![completed()]).await;
    register(&b, &endpoint.url(), json!({})).await;
    for version in ["1.0.0", "2.1.0"] {
        b.enqueue(&json!({"type": "t", "args": [], "options": {"queue": "q", "version": version}}).to_string()).await;
    }
    b.job().await;
    completed_in_all(&b, 3).await;
}

async fn a_job_that_is_scheduled_is_sent_when_it_is_due(b: Bench) {
    let mut endpoint = Endpoint::new(vec![completed()]).await;
    register(&b, &endpoint.url(), json!({})).await;
    let later = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","delay_until":"+PT1H"}}"#).await;
    let now = b.job().await;
    assert_eq!(endpoint.next().await.header("x-ojs-job-id"), now.to_string());
    let before = b.now();
    b.advance(seconds(3_600)).await;
    let request = endpoint.next().await;
    assert_eq!(request.header("x-ojs-job-id"), later.to_string());
    // A claim that began before the clock moved may find the job that became due in the meantime.
    assert!([before, b.now()].iter().any(|at| request.is_signed_by(SECRET, *at)));
}
