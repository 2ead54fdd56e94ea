//! Changes of many jobs that go on in the background.
use std::collections::BTreeMap;

use axum::http::Method;
use ojs_engine::bulk::Action;
use ojs_engine::bulk_operation::{OperationRow, OperationState, Relation};
use ojs_engine::command::{CreateOperation, Found, Place, RunSlice};
use ojs_engine::{EventFilter, rows::DeadFilter};
use ojs_model::{JobId, JobState};
use serde_json::{Value, json};

use crate::admin_http::{call, get, post};
use crate::nodes::{advance_together, second_node};
use crate::support::{Bench, seconds};

crate::on_every_store!(
    an_operation_changes_what_its_filter_finds,
    a_large_operation_changes_each_job_once,
    an_operation_is_paused_resumed_and_cancelled,
    another_node_goes_on_when_one_is_silent,
    what_happens_after_the_request_is_not_meant,
    dead_letters_are_found_by_their_error,
    refusals_are_counted_by_reason,
    a_slice_is_carried_out_once,
    a_dry_run_counts_and_changes_nothing,
    operations_are_listed_in_pages,
    a_tenant_sees_and_changes_its_own,
    wrong_requests_are_refused,
    there_is_an_end_to_open_operations,
    operations_are_told_and_forgotten,
);

const PLAIN: &str = r#"{"type":"t","args":[],"options":{"queue":"q"}}"#;

/// Begins an operation; its id.
async fn begin(b: &Bench, action: &str, filter: Value) -> String {
    let (status, body) = post(b, "/admin/bulk", json!({"action": action, "filter": filter, "confirm": true})).await;
    assert_eq!((status, &body["state"], &body["error"]), (202, &json!("running"), &Value::Null), "{body}");
    body["id"].as_str().unwrap().to_owned()
}

/// The operation, as soon as it does not run any more.
async fn ended(b: &Bench, id: &str) -> Value {
    get(b, &format!("/admin/bulk/{id}?wait_ms=60000")).await
}

fn counts(operation: &Value) -> [i64; 3] {
    ["seen", "changed", "refused"].map(|name| operation["counts"][name].as_i64().unwrap())
}

/// An operation that another node has begun and holds for a minute, so that the node of the test leaves it alone.
async fn held(b: &Bench, action: Action, filter: Value) -> String {
    held_by(b, JobId::now_v7(), action, filter).await
}

async fn held_by(b: &Bench, node: JobId, action: Action, filter: Value) -> String {
    let row = OperationRow {
        id: JobId::now_v7(),
        tenant: String::new(),
        action,
        filter: filter.to_string(),
        reason: None,
        created_by: None,
        created_at: 0,
        expected: 0,
        relation: Relation::AtLeast,
        state: OperationState::Running,
        open_at: 0,
        finished_at: 0,
        updated_at: 0,
        round: 0,
        state_place: 0,
        after_seq: 0,
        round_changed: 0,
        seen: 0,
        changed: 0,
        refused: 0,
        refusals: "[]".to_owned(),
        fault: None,
        holder: Some(node),
        lease_until: b.now() + 60_000,
    };
    b.engine.store().execute(CreateOperation(row)).await.unwrap().id.to_string()
}

async fn many(b: &Bench, jobs: usize) {
    b.try_enqueue(&vec![PLAIN; jobs]).await.unwrap();
}

async fn an_operation_changes_what_its_filter_finds(b: Bench) {
    let dead = [b.job_in(JobState::Discarded).await, b.job_in(JobState::Discarded).await];
    let ended_job = b.job_in(JobState::Completed).await;
    let other = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"other","retry":{"max_attempts":1}}}"#).await;
    let job = b.claim_for(Some("w"), &["other"], 1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m","retryable":false}"#).await.unwrap();
    let request = json!({"action": "retry", "filter": {"queue": "q"}, "reason": "the server is back", "confirm": true});
    let (status, begun) = post(&b, "/admin/bulk", request).await;
    assert_eq!((status, &begun["action"], &begun["reason"]), (202, &json!("retry"), &json!("the server is back")));
    assert_eq!(begun["progress"], json!({"expected": 2, "relation": "eq", "fraction": 0.0}));
    let operation = ended(&b, begun["id"].as_str().unwrap()).await;
    assert_eq!((&operation["state"], counts(&operation)), (&json!("completed"), [2, 2, 0]), "{operation}");
    assert_eq!((&operation["progress"]["fraction"], &operation["filter"]), (&json!(1.0), &json!({"queue": "q"})));
    assert!(operation["finished_at"].is_string() && operation["tenant_id"].is_null(), "{operation}");
    for id in dead {
        assert_eq!(b.state(id).await, JobState::Available);
    }
    assert_eq!((b.state(ended_job).await, b.state(other).await), (JobState::Completed, JobState::Discarded));
    let deletion = ended(&b, &begin(&b, "delete", json!({"state": ["completed", "cancelled"]})).await).await;
    assert_eq!(counts(&deletion), [1, 1, 0]);
    let total: i64 = b.counts("q").await.iter().sum();
    assert_eq!(total, 2);
}

/// How often each job was cancelled, as the events tell.
async fn cancelled(b: &Bench) -> BTreeMap<String, usize> {
    let filter = EventFilter { types: vec!["job.cancelled".to_owned()], limit: 10_000, ..EventFilter::default() };
    let (events, _, has_more) = b.events(filter).await;
    assert!(!has_more);
    let mut seen = BTreeMap::new();
    for event in events {
        *seen.entry(event.subject).or_default() += 1;
    }
    seen
}

async fn a_large_operation_changes_each_job_once(b: Bench) {
    many(&b, 1_300).await;
    let operation = ended(&b, &begin(&b, "cancel", json!({"queue": "q"})).await).await;
    assert_eq!((&operation["state"], counts(&operation)), (&json!("completed"), [1_300, 1_300, 0]), "{operation}");
    assert_eq!(b.counts("q").await[JobState::Cancelled as usize], 1_300);
    let seen = cancelled(&b).await;
    assert_eq!((seen.len(), seen.values().max()), (1_300, Some(&1)));
}

async fn an_operation_is_paused_resumed_and_cancelled(b: Bench) {
    many(&b, 600).await;
    let id = held(&b, Action::Cancel, json!({"queue": "q"})).await;
    let say = async |word: &str| post(&b, &format!("/admin/bulk/{id}/{word}"), Value::Null).await;
    for _ in 0..2 {
        let (status, body) = say("pause").await;
        assert_eq!((status, &body["state"], counts(&body)), (200, &json!("paused"), [0, 0, 0]));
    }
    // A paused one has no holder: the lease of the node that held it is over.
    b.advance(seconds(120)).await;
    assert_eq!(ended(&b, &id).await["state"], "paused");
    assert_eq!(say("resume").await.1["state"], "running");
    assert_eq!(counts(&ended(&b, &id).await), [600, 600, 0]);
    for word in ["pause", "resume", "cancel"] {
        let (status, body) = say(word).await;
        assert_eq!((status, &body["error"]["details"]["state"]), (409, &json!("completed")), "{word}: {body}");
    }
    many(&b, 3).await;
    let id = held(&b, Action::Cancel, json!({})).await;
    let (status, body) = post(&b, &format!("/admin/bulk/{id}/cancel"), Value::Null).await;
    assert_eq!((status, &body["state"], counts(&body)), (200, &json!("cancelled"), [0, 0, 0]));
    assert_eq!(post(&b, &format!("/admin/bulk/{id}/cancel"), Value::Null).await.0, 200);
    assert_eq!(post(&b, &format!("/admin/bulk/{id}/resume"), Value::Null).await.0, 409);
    b.advance(seconds(120)).await;
    assert_eq!(b.counts("q").await[JobState::Available as usize], 3);
}

async fn another_node_goes_on_when_one_is_silent(b: Bench) {
    many(&b, 20).await;
    let id = held(&b, Action::Cancel, json!({"state": "available"})).await;
    assert_eq!(get(&b, &format!("/admin/bulk/{id}")).await["state"], "running");
    assert_eq!(b.counts("q").await[JobState::Available as usize], 20, "it is another node's");
    b.advance(seconds(61)).await;
    assert_eq!(counts(&ended(&b, &id).await), [20, 20, 0]);
}

async fn what_happens_after_the_request_is_not_meant(b: Bench) {
    let meant = b.job_in(JobState::Discarded).await;
    let id = held(&b, Action::Retry, json!({"queue": "q"})).await;
    b.advance(seconds(1)).await;
    let later = b.job_in(JobState::Discarded).await;
    let retryable = b.job_in(JobState::Retryable).await;
    b.advance(seconds(60)).await;
    assert_eq!(counts(&ended(&b, &id).await), [1, 1, 0]);
    assert_eq!((b.state(meant).await, b.state(later).await), (JobState::Available, JobState::Discarded));
    assert_ne!(b.story(retryable).await.last().unwrap(), "dead_letter.retried");
    let id = held(&b, Action::Cancel, json!({"queue": "late"})).await;
    let late = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"late"}}"#).await;
    b.advance(seconds(1)).await;
    let later = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"late"}}"#).await;
    b.advance(seconds(61)).await;
    assert_eq!(counts(&ended(&b, &id).await), [1, 1, 0]);
    assert_eq!((b.state(late).await, b.state(later).await), (JobState::Cancelled, JobState::Available));
}

async fn dead_letters_are_found_by_their_error(b: Bench) {
    for kind in ["TimeoutError", "TimeoutError", "ValueError"] {
        b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","retry":{"on_exhaustion":"dead_letter"}}}"#).await;
        let job = b.claim(1).await.remove(0);
        let error = json!({"code": "x", "type": kind, "message": "m", "retryable": false});
        b.nack(&job, &error.to_string()).await.unwrap();
    }
    let filter = json!({"error_type": "TimeoutError", "dead_letters": true});
    let (_, seen) = post(&b, "/admin/bulk", json!({"action": "retry", "filter": filter, "dry_run": true})).await;
    assert_eq!((&seen["matched"], &seen["by_state"]), (&json!(2), &json!({"discarded": 2})), "{seen}");
    assert_eq!(counts(&ended(&b, &begin(&b, "retry", filter).await).await), [2, 2, 0]);
    assert_eq!(b.dead(DeadFilter::default()).await.1, 1);
}

async fn refusals_are_counted_by_reason(b: Bench) {
    let (ended_job, waiting) = (b.job_in(JobState::Completed).await, b.job().await);
    let (node, unknown) = (JobId::now_v7(), JobId::now_v7());
    let id = held_by(&b, node, Action::Delete, json!({})).await;
    let found = Found { jobs: vec![(1, ended_job), (2, waiting), (3, unknown)], next: None };
    let slice = RunSlice { id: id.parse().unwrap(), node, from: Place::default(), found, failed: Vec::new() };
    let failed = vec![(unknown, "a damaged page".to_owned())];
    assert!(b.engine.store().execute(RunSlice { failed, ..slice }).await.unwrap());
    let operation = get(&b, &format!("/admin/bulk/{id}")).await;
    assert_eq!((&operation["state"], counts(&operation)), (&json!("completed"), [4, 1, 3]), "{operation}");
    let told = operation["refusals"].as_array().unwrap();
    let reasons: Vec<_> = told.iter().map(|refusal| (refusal["reason"].as_str().unwrap(), &refusal["job_id"])).collect();
    let [waiting, unknown] = [waiting, unknown].map(|id| json!(id.to_string()));
    let wanted = [("invalid_state_transition", &waiting), ("not_found", &unknown), ("backend_error", &unknown)];
    assert_eq!(reasons, wanted, "{operation}");
    assert!(told[0]["message"].as_str().unwrap().contains("available"), "{operation}");
}

/// What a crash between two slices, or two nodes at one time, come to: a slice that was carried out is not carried out
/// again, and one of another node not at all.
async fn a_slice_is_carried_out_once(b: Bench) {
    many(&b, 2).await;
    let jobs = get(&b, "/admin/jobs?order=asc").await;
    let ids: Vec<JobId> =
        jobs["items"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap().parse().unwrap()).collect();
    let node = JobId::now_v7();
    let id = held_by(&b, node, Action::Cancel, json!({"state": "available"})).await;
    let next = Place { after: 1, ..Place::default() };
    let found = Found { jobs: vec![(1, ids[0])], next: Some(next) };
    let slice = RunSlice { id: id.parse().unwrap(), node, from: Place::default(), found, failed: Vec::new() };
    assert!(!b.engine.store().execute(RunSlice { node: JobId::now_v7(), ..slice.clone() }).await.unwrap());
    assert_eq!(b.state(ids[0]).await, JobState::Available);
    assert!(b.engine.store().execute(slice.clone()).await.unwrap());
    assert!(!b.engine.store().execute(slice.clone()).await.unwrap());
    assert_eq!(counts(&get(&b, &format!("/admin/bulk/{id}")).await), [1, 1, 0]);
    post(&b, &format!("/admin/bulk/{id}/pause"), Value::Null).await;
    let later = RunSlice { from: next, found: Found { jobs: vec![(2, ids[1])], next: None }, ..slice };
    assert!(!b.engine.store().execute(later).await.unwrap(), "it is paused");
    assert_eq!(b.state(ids[1]).await, JobState::Available);
    post(&b, &format!("/admin/bulk/{id}/resume"), Value::Null).await;
    assert_eq!(counts(&ended(&b, &id).await), [2, 2, 0]);
}

async fn a_dry_run_counts_and_changes_nothing(b: Bench) {
    many(&b, 12).await;
    b.job_in(JobState::Scheduled).await;
    b.enqueue(r#"{"type":"mail.send","args":[],"options":{"queue":"mail"}}"#).await;
    let (status, seen) = post(&b, "/admin/bulk", json!({"action": "cancel", "filter": {}, "dry_run": true})).await;
    assert_eq!((status, &seen["dry_run"], &seen["matched"], &seen["relation"]), (200, &json!(true), &json!(14), &json!("eq")));
    assert_eq!(seen["by_state"], json!({"available": 13, "scheduled": 1}));
    assert_eq!(seen["by_queue"], json!([{"name": "q", "jobs": 13}, {"name": "mail", "jobs": 1}]));
    assert_eq!(seen["by_type"], json!([{"name": "t", "jobs": 13}, {"name": "mail.send", "jobs": 1}]));
    let sample = seen["sample"].as_array().unwrap();
    assert_eq!((sample.len(), sample[0]["queue"].is_string(), sample[0]["id"].is_string()), (10, true, true), "{seen}");
    assert_eq!(get(&b, "/admin/bulk").await["items"], json!([]));
    assert_eq!(b.counts("q").await[JobState::Available as usize], 12);
}

async fn operations_are_listed_in_pages(b: Bench) {
    let mut ids = Vec::new();
    for number in 0..5 {
        let id = held(&b, Action::Retry, json!({})).await;
        if number % 2 == 0 {
            post(&b, &format!("/admin/bulk/{id}/pause"), Value::Null).await;
        }
        ids.push(id);
    }
    ids.sort();
    ids.reverse();
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = get(&b, &format!("/admin/bulk?per_page=2{cursor}")).await;
        seen.extend(page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["pagination"]["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, ids);
    let paused = get(&b, "/admin/bulk?state=paused").await;
    assert_eq!(paused["items"].as_array().unwrap().len(), 3, "{paused}");
}

async fn a_tenant_sees_and_changes_its_own(b: Bench) {
    let (own, foreign) = (b.job_of("a").await, b.job_of("b").await);
    let plain = b.job().await;
    let request = json!({"action": "cancel", "filter": {}, "confirm": true});
    let (status, begun) = b.of("a", "POST", "/admin/bulk", request.clone()).await;
    assert_eq!((status, &begun["tenant_id"], &begun["progress"]["expected"]), (202, &json!("a"), &json!(1)), "{begun}");
    let path = format!("/admin/bulk/{}", begun["id"].as_str().unwrap());
    let (_, done) = b.of("a", "GET", &format!("{path}?wait_ms=60000"), Value::Null).await;
    assert_eq!((&done["state"], counts(&done)), (&json!("completed"), [1, 1, 0]));
    assert_eq!(b.of("a", "GET", &format!("/jobs/{own}"), Value::Null).await.1["job"]["state"], "cancelled");
    assert_eq!(b.of("b", "GET", &format!("/jobs/{foreign}"), Value::Null).await.1["job"]["state"], "available");
    assert_eq!(b.state(plain).await, JobState::Available);
    for (method, rest) in [("GET", ""), ("POST", "/pause"), ("POST", "/resume"), ("POST", "/cancel")] {
        let (status, body) = b.of("b", method, &format!("{path}{rest}"), Value::Null).await;
        assert_eq!((status, &body["error"]["code"]), (404, &json!("not_found")), "{method} {rest}: {body}");
    }
    assert_eq!(b.of("b", "GET", "/admin/bulk", Value::Null).await.1["items"], json!([]));
    assert_eq!(b.of("a", "GET", "/admin/bulk", Value::Null).await.1["items"].as_array().unwrap().len(), 1);
    // An operator sees those of all tenants, and changes the jobs of all.
    assert_eq!(get(&b, &path).await["tenant_id"], "a");
    let (_, events) = b.of("b", "GET", "/events?types=bulk.*", Value::Null).await;
    assert_eq!(events["events"], json!([]), "{events}");
    assert_eq!(counts(&ended(&b, &begin(&b, "cancel", json!({})).await).await), [2, 2, 0]);
}

async fn wrong_requests_are_refused(b: Bench) {
    b.job().await;
    for (body, field) in [
        (json!({"filter": {}, "confirm": true}), "action"),
        (json!({"action": "purge", "filter": {}, "confirm": true}), "action"),
        (json!({"action": "cancel", "confirm": true}), "filter"),
        (json!({"action": "cancel", "filter": null, "confirm": true}), "filter"),
        (json!({"action": "cancel", "filter": {}}), "confirm"),
        (json!({"action": "cancel", "filter": {"state": "completed"}, "confirm": true}), "filter.state"),
        (json!({"action": "cancel", "filter": {"since": "noon"}, "confirm": true}), "filter.since"),
        (json!({"action": "cancel", "filter": {"type": "A B"}, "confirm": true}), "type"),
        (json!({"action": "cancel", "filter": {}, "confirm": true, "reason": "x".repeat(501)}), "reason"),
    ] {
        let (status, answer) = post(&b, "/admin/bulk", body.clone()).await;
        assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!(field)), "{body}: {answer}");
    }
    for body in
        [json!({"action": "cancel", "filter": {"quue": "q"}, "confirm": true}), json!({"action": "cancel", "filters": {}})]
    {
        assert_eq!(post(&b, "/admin/bulk", body.clone()).await.0, 400, "{body}");
    }
    for path in ["/admin/bulk?state=done", "/admin/bulk?cursor=x", "/admin/bulk?per_page=x"] {
        assert_eq!(call(&b, Method::GET, path, &Value::Null).await.0, 400, "{path}");
    }
    for path in ["/admin/bulk/x", "/admin/bulk/019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"] {
        assert_eq!(call(&b, Method::GET, path, &Value::Null).await.0, 404, "{path}");
    }
    assert_eq!(get(&b, "/admin/bulk").await["items"], json!([]));
    assert_eq!(b.counts("q").await[JobState::Available as usize], 1);
}

async fn there_is_an_end_to_open_operations(b: Bench) {
    let first = held(&b, Action::Retry, json!({})).await;
    for _ in 1..100 {
        held(&b, Action::Retry, json!({})).await;
    }
    let request = json!({"action": "retry", "filter": {}, "confirm": true});
    let (status, body) = post(&b, "/admin/bulk", request.clone()).await;
    assert_eq!((status, &body["error"]["details"]["reason"]), (409, &json!("too_many_operations")), "{body}");
    assert_eq!(b.of("a", "POST", "/admin/bulk", request.clone()).await.0, 202, "a tenant has a number of its own");
    assert_eq!(post(&b, &format!("/admin/bulk/{first}/cancel"), Value::Null).await.0, 200);
    assert_eq!(post(&b, "/admin/bulk", request).await.0, 202);
}

async fn operations_are_told_and_forgotten(b: Bench) {
    b.job().await;
    let id = held(&b, Action::Cancel, json!({})).await;
    for word in ["pause", "resume"] {
        post(&b, &format!("/admin/bulk/{id}/{word}"), Value::Null).await;
    }
    ended(&b, &id).await;
    let events = b.events(EventFilter::default()).await.0;
    let own: Vec<_> = events.iter().filter(|event| event.subject == id).collect();
    let names: Vec<&str> = own.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["started", "paused", "resumed", "completed"].map(|name| format!("bulk.operation.{name}")));
    let data: Value = serde_json::from_str(&own[3].data).unwrap();
    assert_eq!((&data["action"], &data["changed"], &data["operation_id"]), (&json!("cancel"), &json!(1), &json!(id)));
    b.advance(seconds(29 * 86_400)).await;
    assert_eq!(get(&b, "/admin/bulk").await["items"].as_array().unwrap().len(), 1);
    b.advance(seconds(2 * 86_400)).await;
    assert_eq!(get(&b, "/admin/bulk").await["items"], json!([]));
}

#[tokio::test]
async fn two_nodes_share_the_work_and_do_nothing_twice() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    many(&b, 1_200).await;
    let ids = [begin(&b, "cancel", json!({"state": "available"})).await, begin(&other, "cancel", json!({})).await];
    let mut changed = 0;
    for id in &ids {
        let operation = ended(&other, id).await;
        assert_eq!(operation["state"], "completed", "{operation}");
        changed += counts(&operation)[1];
    }
    assert_eq!(changed, 1_200);
    let seen = cancelled(&b).await;
    assert_eq!((seen.len(), seen.values().max()), (1_200, Some(&1)));
    // A node that closes gives back what it holds.
    many(&b, 30).await;
    let id = held(&b, Action::Cancel, json!({})).await;
    advance_together(&b, &other, seconds(61)).await;
    assert_eq!(counts(&ended(&b, &id).await), [30, 30, 0]);
}

#[tokio::test]
async fn an_operation_outlives_a_restart() {
    for b in [Bench::sqlite().await, Bench::postgres().await] {
        many(&b, 700).await;
        let id = held(&b, Action::Cancel, json!({"queue": "q"})).await;
        let b = b.reopened().await;
        b.advance(seconds(61)).await;
        assert_eq!(counts(&ended(&b, &id).await), [700, 700, 0]);
    }
}
