//! Many jobs in one request: enqueued, cancelled, run again, deleted, purged.
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request};
use ojs_engine::command::{Cancel, CreateWorkflow, GetJob, GetWorkflow};
use ojs_engine::rows::DeadFilter;
use ojs_engine::workflow::WorkflowState;
use ojs_model::workflow::NewWorkflow;
use ojs_model::{JobId, JobState, Timestamp};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::admin_http::{call, post};
use crate::support::{Bench, seconds};

crate::on_every_store!(
    each_job_of_a_bulk_stands_for_itself,
    an_atomic_bulk_is_stored_whole_or_not_at_all,
    a_uniqueness_policy_holds_within_a_bulk,
    the_same_key_gets_the_same_answer_for_a_day,
    requests_with_one_key_at_one_time_store_once,
    a_key_belongs_to_one_request_and_one_operation,
    a_bulk_that_stored_nothing_may_be_sent_again,
    too_large_requests_name_the_limit,
    many_are_cancelled_by_id,
    an_atomic_change_of_many_changes_all_or_none,
    a_filter_cancels_what_it_says_and_nothing_else,
    discarded_and_retryable_jobs_run_again,
    only_ended_jobs_are_deleted,
    steps_that_are_cancelled_in_bulk_move_their_workflow,
    operators_confirm_and_get_a_summary,
    a_queue_is_purged_by_state_and_age,
    a_purged_step_moves_its_workflow,
    a_large_purge_goes_in_slices_and_can_be_limited,
    every_change_is_told,
    a_misspelt_request_is_refused,
);

/// One request with headers of its own; the answer with its headers.
async fn send(b: &Bench, path: &str, headers: &[(&str, &str)], body: Value) -> (u16, HeaderMap, Value) {
    let request =
        headers.iter().fold(Request::builder().method(Method::POST), |request, (name, value)| request.header(*name, *value));
    let request = request.uri(format!("/ojs/v1{path}")).body(Body::from(body.to_string())).unwrap();
    let response = b.engine.router().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, 1 << 24).await.unwrap();
    let (status, body) = (parts.status.as_u16(), serde_json::from_slice(&bytes).unwrap());
    crate::declared::check("POST", path, status, &body);
    (status, parts.headers, body)
}

fn job(kind: &str) -> Value {
    json!({"type": kind, "args": [], "options": {"queue": "q"}})
}

async fn total(b: &Bench, queue: &str) -> i64 {
    b.counts(queue).await.iter().sum()
}

fn of(counts: [i64; 8], state: JobState) -> i64 {
    counts[state as usize]
}

async fn exists(b: &Bench, id: JobId) -> bool {
    b.engine.store().query(GetJob(id)).await.is_ok()
}

async fn each_job_of_a_bulk_stands_for_itself(b: Bench) {
    let (status, headers, body) =
        send(&b, "/jobs/bulk", &[], json!({"jobs": [job("a"), {"type": "", "args": []}, job("c")]})).await;
    assert_eq!((status, &headers["x-ojs-batch-size"]), (207, &"3".parse().unwrap()));
    assert_eq!((&body["total"], &body["succeeded"], &body["failed"]), (&json!(3), &json!(2), &json!(1)));
    let statuses: Vec<_> = body["items"].as_array().unwrap().iter().map(|item| item["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["created", "failed", "created"]);
    assert_eq!((&body["items"][1]["index"], &body["items"][1]["error"]["code"]), (&json!(1), &json!("invalid_payload")));
    assert_eq!((&body["items"][2]["job"]["type"], &body["items"][2]["job"]["state"]), (&json!("c"), &json!("available")));
    let fetched = b.claim(5).await;
    assert_eq!(fetched.len(), 2);
    assert_eq!(post(&b, "/jobs/bulk", json!({"jobs": [job("a")]})).await.0, 200);
    let (status, body) = post(&b, "/jobs/bulk", json!({"jobs": [{"type": "UPPER", "args": []}]})).await;
    assert_eq!((status, &body["failed"]), (422, &json!(1)));
    // The id of an earlier job: its neighbours are stored all the same.
    let known = json!({"id": fetched[0].row.id.to_string(), "type": "a", "args": []});
    let (status, body) = post(&b, "/jobs/bulk", json!({"jobs": [known, job("d")]})).await;
    assert_eq!(
        (status, &body["items"][0]["error"]["code"], &body["items"][1]["status"]),
        (207, &json!("duplicate"), &json!("created"))
    );
    assert_eq!(total(&b, "q").await, 4);
}

async fn an_atomic_bulk_is_stored_whole_or_not_at_all(b: Bench) {
    let (status, body) = post(&b, "/jobs/bulk", json!({"atomicity": "atomic", "jobs": [job("a"), job("b")]})).await;
    assert_eq!((status, &body["succeeded"]), (201, &json!(2)));
    let known = &body["items"][0]["job"]["id"];
    for guilty in [json!({"type": "a"}), json!({"id": known, "type": "a", "args": [], "options": {"queue": "q"}})] {
        let (status, body) = post(&b, "/jobs/bulk", json!({"atomicity": "atomic", "jobs": [job("a"), guilty]})).await;
        assert_eq!((status, &body["succeeded"], &body["failed"]), (422, &json!(0), &json!(2)), "{body}");
        assert_eq!(body["items"][0]["error"]["details"]["reason"], "rolled_back", "{body}");
        assert_ne!(body["items"][1]["error"]["details"]["reason"], "rolled_back", "{body}");
        assert_eq!(total(&b, "q").await, 2);
    }
}

async fn a_uniqueness_policy_holds_within_a_bulk(b: Bench) {
    let unique = |on_conflict: &str| json!({"type": "t", "args": [], "options": {"queue": "q", "unique": {"keys": ["type"], "on_conflict": on_conflict}}});
    let (status, body) = post(&b, "/jobs/bulk", json!({"jobs": [unique("ignore"), unique("ignore"), unique("reject")]})).await;
    let items = &body["items"];
    assert_eq!((status, &items[0]["status"], &items[1]["status"]), (207, &json!("created"), &json!("duplicate")));
    assert_eq!(items[0]["job"]["id"], items[1]["job"]["id"]);
    assert_eq!((&items[2]["status"], &items[2]["error"]["code"]), (&json!("failed"), &json!("duplicate")));
    assert_eq!(total(&b, "q").await, 1);
}

async fn the_same_key_gets_the_same_answer_for_a_day(b: Bench) {
    let request = json!({"jobs": [job("a"), {"type": "", "args": []}]});
    let key = [("idempotency-key", "import-42")];
    let (status, _, first) = send(&b, "/jobs/bulk", &key, request.clone()).await;
    b.advance(seconds(3600)).await;
    let (again, headers, second) = send(&b, "/jobs/bulk", &key, request.clone()).await;
    assert_eq!((status, again, total(&b, "q").await), (207, 207, 1));
    assert_eq!(first, second);
    assert_eq!(headers["idempotent-replayed"], "true");
    // The header wins over the member, which is another key here.
    let mut named = request.clone();
    named["idempotency_key"] = json!("import-43");
    assert_eq!(send(&b, "/jobs/bulk", &[("idempotency-key", "import-44")], named.clone()).await.0, 207);
    assert_eq!(post(&b, "/jobs/bulk", named).await.1["succeeded"], 1);
    assert_eq!(total(&b, "q").await, 3);
    b.advance(seconds(24 * 3600)).await;
    assert_eq!(send(&b, "/jobs/bulk", &key, request).await.0, 207);
    assert_eq!(total(&b, "q").await, 4);
}

async fn requests_with_one_key_at_one_time_store_once(b: Bench) {
    let request = json!({"jobs": [job("a"), job("b")], "idempotency_key": "k"});
    let all = (0..16).map(|_| post(&b, "/jobs/bulk", request.clone()));
    let answers = futures_util::future::join_all(all).await;
    assert_eq!(total(&b, "q").await, 2);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
}

async fn a_key_belongs_to_one_request_and_one_operation(b: Bench) {
    let key = [("idempotency-key", "k")];
    let (_, _, body) = send(&b, "/jobs/bulk", &key, json!({"jobs": [job("a")]})).await;
    let (status, _, refusal) = send(&b, "/jobs/bulk", &key, json!({"jobs": [job("b")]})).await;
    assert_eq!((status, &refusal["error"]["details"]["reason"]), (409, &json!("idempotency_key_reused")));
    let cancel = json!({"job_ids": [body["items"][0]["job"]["id"]]});
    let (status, _, first) = send(&b, "/jobs/bulk/cancel", &key, cancel.clone()).await;
    assert_eq!((status, &first["cancelled"]), (200, &json!(1)));
    let (status, _, second) = send(&b, "/jobs/bulk/cancel", &key, cancel.clone()).await;
    assert_eq!((status, second), (200, first));
    // Without the key the same request finds the job cancelled already.
    assert_eq!(post(&b, "/jobs/bulk/cancel", cancel).await.0, 422);
    let other = json!({"job_ids": ["x"]});
    assert_eq!(send(&b, "/jobs/bulk/cancel", &key, other).await.0, 409);
    let long = "k".repeat(257);
    assert_eq!(send(&b, "/jobs/bulk", &[("idempotency-key", &long)], json!({"jobs": [job("a")]})).await.0, 400);
}

async fn a_bulk_that_stored_nothing_may_be_sent_again(b: Bench) {
    assert_eq!(call(&b, Method::PUT, "/queues/q/config", &json!({"max_size": 1})).await.0, 200);
    let held = b.job().await;
    let key = [("idempotency-key", "k")];
    let request = json!({"jobs": [job("a")]});
    let (status, _, body) = send(&b, "/jobs/bulk", &key, request.clone()).await;
    assert_eq!((status, &body["items"][0]["error"]["code"]), (422, &json!("QUEUE_FULL")));
    b.change(Cancel(held)).await.unwrap();
    assert_eq!(send(&b, "/jobs/bulk", &key, request).await.0, 200);
}

async fn too_large_requests_name_the_limit(b: Bench) {
    let jobs: Vec<Value> = (0..10_001).map(|_| json!({"type": "t", "args": []})).collect();
    let (status, headers, body) = send(&b, "/jobs/bulk", &[], json!({"jobs": jobs})).await;
    assert_eq!((status, &headers["x-ojs-max-batch-size"]), (413, &"10000".parse().unwrap()));
    assert_eq!((&body["error"]["code"], &body["error"]["max_batch_size"]), (&json!("batch_size_exceeded"), &json!(10_000)));
    let ids: Vec<Value> = (0..10_001).map(|_| json!("x")).collect();
    for path in ["/jobs/bulk/cancel", "/jobs/bulk/retry", "/jobs/bulk/delete"] {
        assert_eq!(post(&b, path, json!({"job_ids": ids})).await.0, 413, "{path}");
    }
    assert_eq!(total(&b, "default").await, 0);
}

async fn many_are_cancelled_by_id(b: Bench) {
    let waiting = b.job_in(JobState::Scheduled).await;
    let ended = b.job_in(JobState::Completed).await;
    let active = b.job_in(JobState::Active).await;
    let unknown = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";
    let ids = json!([waiting, ended, active, unknown, "nonsense", waiting]);
    let (status, body) = post(&b, "/jobs/bulk/cancel", json!({"job_ids": ids})).await;
    assert_eq!((status, &body["total_matched"], &body["cancelled"], &body["skipped"]), (207, &json!(6), &json!(2), &json!(4)));
    let items = body["items"].as_array().unwrap();
    let told: Vec<_> = items.iter().map(|item| item["error"]["code"].as_str().unwrap_or("-")).collect();
    assert_eq!(told, ["-", "conflict", "-", "not_found", "not_found", "conflict"]);
    assert_eq!((&items[1]["status"], &items[1]["job_id"], &items[1]["index"]), (&json!("skipped"), &json!(ended), &json!(1)));
    assert!(items[1]["reason"].as_str().unwrap().contains("completed"));
    assert_eq!((b.state(waiting).await, b.state(active).await), (JobState::Cancelled, JobState::Cancelled));
    // The worker that held it hears of it, as after the cancel of one.
    assert_eq!(b.beat("w", &[(active, None)]).await.1, [active]);
}

async fn an_atomic_change_of_many_changes_all_or_none(b: Bench) {
    let (one, two, ended) = (b.job().await, b.job().await, b.job_in(JobState::Scheduled).await);
    b.change(Cancel(ended)).await.unwrap();
    for other in [ended.to_string(), "nonsense".to_owned(), one.to_string()] {
        let request = json!({"job_ids": [one, two, other], "atomicity": "atomic"});
        let (status, body) = post(&b, "/jobs/bulk/cancel", request).await;
        assert_eq!((status, &body["cancelled"], &body["skipped"]), (422, &json!(0), &json!(3)), "{body}");
        assert_eq!((b.state(one).await, b.state(two).await), (JobState::Available, JobState::Available));
    }
    let request = json!({"filter": {"queue": "q", "state": ["available"]}, "atomicity": "atomic"});
    assert_eq!(post(&b, "/jobs/bulk/cancel", request).await.1["cancelled"], 2);
}

async fn a_filter_cancels_what_it_says_and_nothing_else(b: Bench) {
    let make = |request: &'static str| b.enqueue(request);
    let old = make(r#"{"type":"mail.send","args":[],"options":{"queue":"q"}}"#).await;
    b.advance(seconds(60)).await;
    let noon = Timestamp::from_millis(b.now()).to_string();
    let plain = make(r#"{"type":"mail.send","args":[],"meta":{"tenant":"a","n":1},"options":{"queue":"q"}}"#).await;
    let urgent = make(r#"{"type":"mail.send","args":[],"meta":{"tenant":"b"},"options":{"queue":"q","priority":9}}"#).await;
    let later = make(r#"{"type":"mail.read","args":[],"options":{"queue":"q","delay_until":"+PT1H"}}"#).await;
    let elsewhere = make(r#"{"type":"mail.send","args":[],"options":{"queue":"r"}}"#).await;
    let pending = b.job_in(JobState::Pending).await;
    for (filter, expected) in [
        (json!({"queue": "q", "meta": {"tenant": "a", "n": 1}}), vec![plain]),
        (json!({"queue": "q", "meta": {"tenant": "a", "n": 2}}), vec![]),
        (json!({"queue": "q", "priority": 9}), vec![urgent]),
        (json!({"type": "mail.*", "enqueued_before": noon}), vec![old]),
        (json!({"type": "mail.read", "state": ["scheduled"], "enqueued_after": "2026-01-01T00:00:30Z"}), vec![later]),
        (json!({"queue": "q", "state": "pending"}), vec![pending]),
        (json!({"queue": "never"}), vec![]),
    ] {
        let (_, seen) = post(&b, "/jobs/bulk/cancel", json!({"filter": filter, "dry_run": true})).await;
        assert_eq!((&seen["total_matched"], &seen["cancelled"]), (&json!(expected.len()), &json!(0)), "{filter}");
        let (status, body) = post(&b, "/jobs/bulk/cancel", json!({"filter": filter})).await;
        let told: Vec<&str> = body["items"].as_array().unwrap().iter().map(|item| item["job_id"].as_str().unwrap()).collect();
        assert_eq!(
            (status, told),
            (200, expected.iter().map(ToString::to_string).collect::<Vec<_>>().iter().map(String::as_str).collect()),
            "{filter}"
        );
        for id in expected {
            assert_eq!(b.state(id).await, JobState::Cancelled);
        }
    }
    assert_eq!(b.state(elsewhere).await, JobState::Available);
}

async fn discarded_and_retryable_jobs_run_again(b: Bench) {
    let retryable = b.job_in(JobState::Retryable).await;
    let discarded = b.job_in(JobState::Discarded).await;
    let completed = b.job_in(JobState::Completed).await;
    let request = json!({"job_ids": [retryable, discarded, completed]});
    let (status, body) = post(&b, "/jobs/bulk/retry", request).await;
    assert_eq!((status, &body["retried"], &body["skipped"]), (207, &json!(2), &json!(1)));
    assert_eq!(body["items"][2]["error"]["details"]["current_state"], "completed");
    let (first, second) = (b.get(retryable).await.row, b.get(discarded).await.row);
    assert_eq!((first.state, first.attempt, second.state, second.attempt), (JobState::Available, 1, JobState::Available, 0));
    assert_eq!(b.claim(5).await.len(), 2);
}

async fn only_ended_jobs_are_deleted(b: Bench) {
    let completed = b.job_in(JobState::Completed).await;
    let cancelled = b.job_in(JobState::Cancelled).await;
    let waiting = b.job_in(JobState::Available).await;
    let (status, body) = post(&b, "/jobs/bulk/delete", json!({"job_ids": [completed, waiting]})).await;
    assert_eq!((status, &body["deleted"], &body["items"][1]["status"]), (207, &json!(1), &json!("skipped")));
    assert_eq!((exists(&b, completed).await, exists(&b, waiting).await), (false, true));
    assert_eq!(post(&b, "/jobs/bulk/delete", json!({"filter": {"queue": "q", "state": ["available"]}})).await.0, 400);
    assert_eq!(post(&b, "/jobs/bulk/delete", json!({"filter": {"queue": "q"}})).await.1["deleted"], 1);
    assert!(!exists(&b, cancelled).await);
    let counts = b.counts("q").await;
    assert_eq!((of(counts, JobState::Available), counts.iter().sum::<i64>()), (1, 1));
}

async fn flow(b: &Bench, text: &str) -> JobId {
    let new = NewWorkflow::parse(text, Timestamp::from_millis(b.now())).unwrap();
    b.engine.store().execute(CreateWorkflow(new)).await.unwrap().row.id
}

async fn flow_state(b: &Bench, id: JobId) -> WorkflowState {
    b.engine.store().query(GetWorkflow(id)).await.unwrap().row.state
}

const GROUP: &str =
    r#"{"type":"group","jobs":[{"type":"a","args":[],"options":{"queue":"q"}},{"type":"b","args":[],"options":{"queue":"q"}}]}"#;

async fn steps_that_are_cancelled_in_bulk_move_their_workflow(b: Bench) {
    let flow = flow(&b, GROUP).await;
    assert_eq!(post(&b, "/jobs/bulk/cancel", json!({"filter": {"queue": "q"}})).await.1["cancelled"], 2);
    assert_eq!(flow_state(&b, flow).await, WorkflowState::Failed);
}

async fn operators_confirm_and_get_a_summary(b: Bench) {
    let dead = b.job_in(JobState::Discarded).await;
    let filter = json!({"queue": "q", "state": "discarded", "type": "t", "since": "2026-01-01T00:00:00Z"});
    for body in [json!({"filter": filter}), json!({"filter": filter, "confirm": false})] {
        let (status, body) = post(&b, "/admin/jobs/bulk/retry", body).await;
        assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("confirm")));
    }
    let (_, body) = post(&b, "/admin/jobs/bulk/retry", json!({"filter": filter, "dry_run": true})).await;
    assert_eq!((&body["matched"], &body["succeeded"], b.state(dead).await), (&json!(1), &json!(0), JobState::Discarded));
    let (status, body) = post(&b, "/admin/jobs/bulk/retry", json!({"filter": filter, "confirm": true})).await;
    let expected =
        json!({"action": "retry", "matched": 1, "succeeded": 1, "failed": 0, "errors": [], "has_more": false, "dry_run": false});
    assert_eq!((status, body, b.state(dead).await), (200, expected, JobState::Available));
    // Without a state: whatever is not finished, what runs included.
    let active = b.claim(1).await.remove(0).row.id;
    let waiting = b.job().await;
    let (_, body) = post(&b, "/admin/jobs/bulk/cancel", json!({"filter": {"queue": "q"}, "confirm": true})).await;
    assert_eq!(
        (&body["succeeded"], b.state(active).await, b.state(waiting).await),
        (&json!(2), JobState::Cancelled, JobState::Cancelled)
    );
    // Cancelled is final: no filter reaches such a job for a retry, and an id is told why.
    let cancelled = json!({"filter": {"state": "cancelled"}, "confirm": true});
    assert_eq!(post(&b, "/admin/jobs/bulk/retry", cancelled).await.0, 400);
    let (status, body) = post(&b, "/admin/jobs/bulk/retry", json!({"job_ids": [active], "confirm": true})).await;
    assert_eq!((status, &body["failed"], &body["errors"][0]["job_id"]), (200, &json!(1), &json!(active)));
    assert!(body["errors"][0]["error"].as_str().unwrap().contains("cancelled"));
    assert_eq!(post(&b, "/admin/jobs/bulk/delete", json!({"confirm": true})).await.1["succeeded"], 2);
    assert_eq!(total(&b, "q").await, 0);
}

async fn purge(b: &Bench, body: Value) -> (u16, Value) {
    call(b, Method::DELETE, "/admin/queues/q/jobs", &body).await
}

async fn a_queue_is_purged_by_state_and_age(b: Bench) {
    let old = b.job_in(JobState::Completed).await;
    b.advance(seconds(3600)).await;
    let young = b.job_in(JobState::Completed).await;
    let waiting = b.job_in(JobState::Scheduled).await;
    assert_eq!(purge(&b, json!({"states": ["completed"]})).await.0, 400);
    assert_eq!(purge(&b, json!({"confirm": true})).await.0, 400);
    assert_eq!(purge(&b, json!({"states": ["active"], "confirm": true})).await.0, 400);
    assert_eq!(
        call(&b, Method::DELETE, "/admin/queues/qq/jobs", &json!({"states": ["completed"], "confirm": true})).await.0,
        404
    );
    let (status, body) = purge(&b, json!({"states": ["completed"], "older_than": "2026-01-01T00:30:00Z", "confirm": true})).await;
    assert_eq!((status, &body["purged_count"], &body["states"]), (200, &json!(1), &json!(["completed"])));
    assert_eq!((exists(&b, old).await, exists(&b, young).await), (false, true));
    assert_eq!(purge(&b, json!({"states": ["completed"], "older_than": "PT30M", "confirm": true})).await.1["purged_count"], 0);
    // Without a body, as behind a proxy that takes it off.
    let all = "/admin/queues/q/jobs?states=completed,scheduled&confirm=true";
    assert_eq!(call(&b, Method::DELETE, all, &Value::Null).await.1["purged_count"], 2);
    assert_eq!((exists(&b, waiting).await, total(&b, "q").await), (false, 0));
}

async fn a_purged_step_moves_its_workflow(b: Bench) {
    let flow = flow(&b, GROUP).await;
    let request = json!({"states": ["available"], "confirm": true});
    assert_eq!(call(&b, Method::DELETE, "/admin/queues/q/jobs", &request).await.1["purged_count"], 2);
    assert_eq!((flow_state(&b, flow).await, total(&b, "q").await), (WorkflowState::Failed, 0));
}

async fn a_large_purge_goes_in_slices_and_can_be_limited(b: Bench) {
    let jobs: Vec<Value> = (0..2_500).map(|n| json!({"type": "t", "args": [n], "options": {"queue": "q"}})).collect();
    assert_eq!(send(&b, "/jobs/bulk", &[], json!({"jobs": jobs})).await.0, 200);
    let purge = |limit: Value| json!({"states": ["available", "scheduled"], "confirm": true, "limit": limit});
    let (_, body) = call(&b, Method::DELETE, "/admin/queues/q/jobs", &purge(json!(700))).await;
    assert_eq!((&body["purged_count"], &body["has_more"]), (&json!(700), &json!(true)));
    let (_, body) = call(&b, Method::DELETE, "/admin/queues/q/jobs", &purge(Value::Null)).await;
    assert_eq!((&body["purged_count"], &body["has_more"]), (&json!(1800), &json!(false)));
    assert_eq!(total(&b, "q").await, 0);
}

async fn every_change_is_told(b: Bench) {
    let id = b.job().await;
    post(&b, "/jobs/bulk/cancel", json!({"job_ids": [id]})).await;
    post(&b, "/jobs/bulk/delete", json!({"job_ids": [id]})).await;
    assert_eq!(b.story(id).await, ["job.enqueued", "job.cancelled", "job.deleted"]);
    let dead = b
        .enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}}}"#)
        .await;
    let failing = b.claim(1).await.remove(0);
    b.nack(&failing, r#"{"code":"x","message":"m"}"#).await.unwrap();
    post(&b, "/jobs/bulk/delete", json!({"filter": {"state": ["discarded"]}})).await;
    assert_eq!(b.story(dead).await.last().unwrap(), "dead_letter.deleted");
    assert_eq!(b.dead(DeadFilter::default()).await.1, 0);
    post(&b, "/jobs/bulk", json!({"jobs": [job("x"), {"type": ""}]})).await;
    let (events, _, _) = b.events(Default::default()).await;
    let bulk: Vec<(String, Value)> = events
        .into_iter()
        .filter(|event| event.name.starts_with("bulk."))
        .map(|event| (event.name, serde_json::from_str(&event.data).unwrap()))
        .collect();
    assert_eq!(
        bulk.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["bulk.cancel.completed", "bulk.delete.completed", "bulk.delete.completed", "bulk.enqueue.completed"]
    );
    assert_eq!((&bulk[0].1["total"], &bulk[0].1["cancelled"], &bulk[0].1["skipped"]), (&json!(1), &json!(1), &json!(0)));
    assert_eq!(bulk[3].1, json!({"total": 2, "succeeded": 1, "failed": 1, "atomicity": "partial"}));
}

async fn a_misspelt_request_is_refused(b: Bench) {
    let id = b.job().await;
    for (path, body) in [
        ("/jobs/bulk", json!({})),
        ("/jobs/bulk", json!({"jobs": []})),
        ("/jobs/bulk", json!({"jobs": [job("a")], "atomicity": "both"})),
        ("/jobs/bulk/cancel", json!({})),
        ("/jobs/bulk/cancel", json!({"job_ids": []})),
        ("/jobs/bulk/cancel", json!({"filter": {}})),
        ("/jobs/bulk/cancel", json!({"job_ids": [id], "filter": {"queue": "q"}})),
        ("/jobs/bulk/cancel", json!({"filter": {"queu": "q"}})),
        ("/jobs/bulk/cancel", json!({"filter": {"queue": "q", "state": ["done"]}})),
        ("/jobs/bulk/cancel", json!({"filter": {"queue": "q", "state": ["completed"]}})),
        ("/jobs/bulk/cancel", json!({"filter": {"enqueued_before": "noon"}})),
        ("/jobs/bulk/cancel", json!({"filter": {"type": "*x"}})),
        ("/admin/jobs/bulk/cancel", json!({"filters": {}, "confirm": true})),
    ] {
        let (status, answer) = post(&b, path, body.clone()).await;
        assert_eq!(status, 400, "{path} {body}: {answer}");
    }
    assert_eq!(b.state(id).await, JobState::Available);
}
