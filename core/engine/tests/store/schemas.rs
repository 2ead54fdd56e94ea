//! The schema registry: versions and modes, and what happens to jobs that do not match, by every way into the store.
use std::sync::Arc;

use ojs_engine::clock::Clock;
use ojs_engine::command::{Enqueue, ListQueues};
use ojs_engine::error::{Refusal, StoreError};
use ojs_engine::rows::DeadFilter;
use ojs_model::{JobState, NewJob, OjsError};
use serde_json::{Value, json};

use crate::faults::spoil;
use crate::nodes::{application, second_node};
use crate::support::{Bench, seconds};

crate::on_every_store!(
    versions_are_registered_listed_and_deleted,
    the_three_families_of_routes_show_one_registry,
    what_is_no_schema_is_refused_and_not_stored,
    a_version_is_registered_once,
    breaking_changes_need_a_major_version,
    a_schema_accepts_what_the_versions_accept_that_it_names,
    strict_refuses_warn_warns_and_off_is_silent,
    a_job_is_compared_with_the_version_that_it_names,
    a_batch_with_one_wrong_job_stores_nothing,
    a_wrong_batch_in_a_group_of_two_hundred_leaves_nothing_behind,
    jobs_enqueued_one_by_one_in_bulk_fare_each_on_its_own,
    encoded_arguments_are_not_compared,
    a_workflow_with_a_wrong_step_is_not_stored,
    a_step_that_no_longer_matches_fails_its_workflow,
    a_cron_entry_is_checked_when_it_is_stored_and_when_it_fires,
    a_replay_with_other_arguments_is_compared,
    deleting_a_schema_keeps_the_jobs,
    a_deleted_version_can_be_registered_with_another_schema,
);

/// Arguments are one object with an integer `amount`.
fn amount() -> Value {
    json!({"prefixItems": [{"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}], "minItems": 1})
}

const GOOD: &str = r#"{"type":"pay","args":[{"amount":5}],"options":{"queue":"q"}}"#;
const WRONG: &str = r#"{"type":"pay","args":[{"amount":"secret"}],"options":{"queue":"q"}}"#;

async fn register(b: &Bench, version: Value, schema: Value, mode: &str) -> (u16, Value) {
    let body = json!({"job_type": "pay", "version": version, "schema": schema, "mode": mode});
    b.http("POST", "/schemas", &body.to_string()).await
}

async fn strict(b: &Bench) {
    let (status, body) = register(b, json!("1.0.0"), amount(), "strict").await;
    assert_eq!(status, 201, "{body}");
}

fn refusal<T: std::fmt::Debug>(answer: Result<T, Refusal>) -> OjsError {
    match answer {
        Err(Refusal::Ojs(error)) => *error,
        other => panic!("{other:?}"),
    }
}

/// Nothing waits on queue `q`, and there is no such queue unless a job was stored.
async fn is_empty(b: &Bench) -> bool {
    b.counts("q").await == [0; 8]
}

async fn versions_are_registered_listed_and_deleted(b: Bench) {
    for version in ["1.0.0", "1.10.0", "1.9.0", "2"] {
        assert_eq!(register(&b, json!(version), json!({}), "warn").await.0, 201, "{version}");
    }
    let (status, body) = b.http("GET", "/schemas/pay/versions", "").await;
    let versions: Vec<&Value> = body["versions"].as_array().unwrap().iter().map(|row| &row["version"]).collect();
    assert_eq!((status, versions), (200, vec![&json!(2), &json!("1.10.0"), &json!("1.9.0"), &json!("1.0.0")]));
    assert_eq!((&body["versions"][0]["is_latest"], &body["versions"][1]["is_latest"]), (&json!(true), &json!(false)));
    let (_, all) = b.http("GET", "/schemas?limit=2", "").await;
    assert_eq!((all["schemas"].as_array().unwrap().len(), &all["pagination"]["total"]), (2, &json!(4)));
    assert_eq!(b.http("DELETE", "/schemas/pay/2", "").await.0, 200);
    assert_eq!(b.http("GET", "/schemas/pay", "").await.1["schema"]["version"], "1.10.0", "the highest that is left");
    assert_eq!(b.http("DELETE", "/schemas/pay/2", "").await.0, 404);
    assert_eq!(b.http("GET", "/schemas/pay/2", "").await.0, 404);
    assert_eq!(b.http("GET", "/schemas/other", "").await.0, 404);
    assert_eq!(b.http("GET", "/schemas/pay/v2", "").await.0, 404);
    assert_eq!(b.http("POST", "/schemas", "{}").await.0, 400);
}

async fn the_three_families_of_routes_show_one_registry(b: Bench) {
    let put = json!({"schema": {"type": "array", "items": [{"type": "string"}]}}).to_string();
    let (status, flat) = b.http("PUT", "/admin/schemas/mail/1", &put).await;
    assert_eq!((status, &flat["type"], &flat["version"]), (201, &json!("mail"), &json!(1)));
    let (_, flat) = b.http("GET", "/admin/schemas/mail/1", "").await;
    assert_eq!(flat["schema"], json!({"type": "array", "items": [{"type": "string"}]}), "as it was registered");
    let (_, wrapped) = b.http("GET", "/schemas/mail", "").await;
    assert_eq!((&wrapped["schema"]["job_type"], &wrapped["schema"]["version"]), (&json!("mail"), &json!(1)));
    assert_eq!(wrapped["schema"]["created_at"], "2026-01-01T00:00:00.000Z");
    let (_, by_uri) = b.http("GET", "/schemas/urn%3Aojs%3Aschema%3Amail%3Av1", "").await;
    assert_eq!(by_uri, wrapped);
    let body = json!({"uri": "urn:x:mail", "type": "mail", "version": 2, "schema": {}}).to_string();
    assert_eq!(b.http("POST", "/schemas", &body).await.1["schema"]["uri"], "urn:x:mail");
    let (status, gone) = b.http("DELETE", "/schemas/urn%3Ax%3Amail", "").await;
    assert_eq!((status, &gone["deleted"], &gone["uri"]), (200, &json!(true), &json!("urn:x:mail")));
    assert_eq!(b.http("DELETE", "/admin/schemas/mail/1", "").await.0, 200);
    assert_eq!(b.http("GET", "/admin/schemas/mail", "").await.0, 404);
    assert_eq!(b.http("GET", "/admin/schemas/mail/versions", "").await.0, 404);
}

async fn what_is_no_schema_is_refused_and_not_stored(b: Bench) {
    for (schema, place) in [
        (json!({"properties": {"a": {"type": "int"}}}), "/properties/a/type"),
        (json!({"$ref": "https://example.com/schema"}), "/$ref"),
        (json!({"pattern": "(?<=a)b"}), "/pattern"),
        (json!([]), "object"),
        (json!("text"), "object"),
    ] {
        let (status, body) = register(&b, json!(1), schema, "warn").await;
        let message = body["error"]["message"].as_str().unwrap();
        assert!(status == 400 && message.contains(place), "{body}");
        assert_eq!(body["error"]["details"]["field"], "schema");
    }
    let long = json!({"description": "x".repeat(70_000)});
    assert_eq!(register(&b, json!(1), long, "warn").await.0, 400);
    for (version, mode) in [(json!("v1"), "warn"), (json!(1.5), "warn"), (json!(null), "warn"), (json!(1), "loud")] {
        assert_eq!(register(&b, version, json!({}), mode).await.0, 400);
    }
    assert_eq!(b.http("GET", "/schemas", "").await.1["schemas"], json!([]));
}

async fn a_version_is_registered_once(b: Bench) {
    assert_eq!(register(&b, json!("2.0"), json!({}), "warn").await.0, 201);
    let (status, body) = register(&b, json!(2), amount(), "warn").await;
    assert_eq!((status, &body["error"]["details"]["reason"]), (409, &json!("schema_exists")), "2 and 2.0 are one version");
    let uri = json!({"uri": "urn:ojs:schema:pay:v2.0", "type": "other", "version": 1, "schema": {}}).to_string();
    assert_eq!(b.http("POST", "/schemas", &uri).await.0, 409, "a URI names one schema");
    assert_eq!(b.http("GET", "/schemas/other", "").await.0, 404);
    assert_eq!(b.http("GET", "/schemas/pay", "").await.1["schema"]["schema"], json!({}));
}

async fn breaking_changes_need_a_major_version(b: Bench) {
    assert_eq!(register(&b, json!("1.0.0"), json!({"prefixItems": [{}]}), "warn").await.0, 201);
    let (status, body) = register(&b, json!("1.1.0"), amount(), "warn").await;
    assert_eq!((status, &body["error"]["code"]), (422, &json!("validation_error")));
    let changes = body["error"]["details"]["breaking_changes"].to_string();
    assert!(changes.contains("required field 'amount' was added"), "{changes}");
    assert_eq!(b.http("GET", "/schemas/pay", "").await.1["schema"]["version"], "1.0.0");
    assert_eq!(register(&b, json!("2.0.0"), amount(), "warn").await.0, 201);
}

async fn a_schema_accepts_what_the_versions_accept_that_it_names(b: Bench) {
    let put = async |version: &str, schema: Value, compatible_with: Value| {
        let body = json!({"schema": schema, "compatible_with": compatible_with}).to_string();
        let (status, body) = b.http("PUT", &format!("/admin/schemas/pay/{version}"), &body).await;
        (status, body["error"].clone())
    };
    assert_eq!(put("1.0.0", json!({"minItems": 1}), json!([])).await.0, 201);
    assert_eq!(put("2.0.0", json!({"maxItems": 5}), json!(null)).await.0, 201, "a major version may break");

    let (status, error) = put("3.0.0", json!({"minItems": 1}), json!(["1.0.0", 2])).await;
    assert_eq!((status, &error["code"]), (422, &json!("validation_error")), "{error}");
    assert_eq!(
        error["details"],
        json!({
            "field": "compatible_with", "version": "2.0.0", "breaking_changes": ["args: 'minItems' was narrowed"],
        })
    );
    for unknown in [json!("9"), json!(["1.0.0", ">=4 <5"])] {
        let (status, error) = put("3.0.0", json!({}), unknown).await;
        assert_eq!((status, &error["details"]["field"]), (400, &json!("compatible_with")), "{error}");
        assert!(error["message"].as_str().unwrap().contains("of 'pay' is registered"), "{error}");
    }
    assert_eq!(put("3.0.0", json!({}), json!("v1")).await.0, 400);
    assert_eq!(b.http("GET", "/schemas/pay/3.0.0", "").await.0, 404, "a refusal stores nothing");

    assert_eq!(put("3.0.0", json!({"minItems": 1}), json!("1.0.0")).await.0, 201);
    assert_eq!(put("4.0.0", json!({}), json!(">=1.0 <4.0")).await.0, 201);
    let body = json!({"job_type": "pay", "version": 5, "schema": {"minItems": 2}, "compatible_with": 1}).to_string();
    assert_eq!(b.http("POST", "/schemas", &body).await.0, 422, "the other family of routes has it too");
}

async fn strict_refuses_warn_warns_and_off_is_silent(b: Bench) {
    strict(&b).await;
    let (status, body) = b.http("POST", "/jobs", WRONG).await;
    let error = &body["error"];
    assert_eq!((status, &error["code"]), (400, &json!("schema_validation")), "{body}");
    assert_eq!(error["details"]["differences"][0]["path"], "/0/amount");
    assert_eq!(error["details"]["differences"][0]["rule"], "type");
    assert_eq!(error["details"]["validation_errors"][0], "args[0].amount: must be integer, got string");
    assert_eq!((&error["details"]["job_type"], &error["details"]["version"]), (&json!("pay"), &json!("1.0.0")));
    assert!(!body.to_string().contains("secret"), "arguments are not shown: {body}");
    assert!(is_empty(&b).await);
    assert_eq!(b.http("POST", "/jobs", GOOD).await.0, 201);

    let mode = |mode: &str| json!({"mode": mode}).to_string();
    assert_eq!(b.http("PATCH", "/schemas/pay/1.0.0", &mode("warn")).await.1["schema"]["mode"], "warn");
    let (status, body) = b.http("POST", "/jobs", WRONG).await;
    let warning = body["warnings"][0].as_str().unwrap();
    assert_eq!(status, 201);
    assert_eq!(warning, "Schema validation warning for pay@1.0.0: args[0].amount: must be integer, got string");
    let batch = format!(r#"{{"jobs":[{GOOD},{WRONG}]}}"#);
    let (status, body) = b.http("POST", "/jobs/batch", &batch).await;
    assert!(status == 201 && body["warnings"][0].as_str().unwrap().starts_with("jobs[1]: Schema"), "{body}");

    assert_eq!(b.http("PATCH", "/schemas/pay/1", &mode("off")).await.0, 200);
    assert_eq!(b.http("POST", "/jobs", WRONG).await.1["warnings"], Value::Null);
    assert_eq!(b.http("PATCH", "/schemas/pay/9", &mode("off")).await.0, 404);
    assert_eq!(b.http("PATCH", "/schemas/pay/1", &mode("loud")).await.0, 400);
}

async fn a_job_is_compared_with_the_version_that_it_names(b: Bench) {
    assert_eq!(register(&b, json!(1), json!({"maxItems": 0}), "strict").await.0, 201);
    assert_eq!(register(&b, json!(2), json!({"minItems": 1}), "strict").await.0, 201);
    let status = async |more: &str, args: &str| {
        let (status, body) = b.http("POST", "/jobs", &format!(r#"{{"type":"pay","args":{args}{more}}}"#)).await;
        (status, body["warnings"][0].as_str().map(str::to_owned))
    };
    assert_eq!(status("", "[1]").await.0, 201, "the latest");
    assert_eq!(status("", "[]").await.0, 400);
    assert_eq!(status(r#","version":1"#, "[]").await.0, 201);
    assert_eq!(status(r#","version":"1.0""#, "[1]").await.0, 400);
    assert_eq!(status(r#","schema":"urn:ojs:schema:pay:v1""#, "[1]").await.0, 400);
    assert_eq!(status(r#","schema":"urn:ojs:schema:pay:v1","version":2"#, "[]").await.0, 201, "the schema comes first");
    assert_eq!(status(r#","schema":"urn:unknown""#, "[]").await.0, 400, "an unknown name leaves the latest");
    let (code, warning) = status(r#","version":3"#, "[]").await;
    assert!(code == 201 && warning.unwrap().contains("no schema is registered for version 3 of 'pay'"));
    assert_eq!(b.http("POST", "/jobs", r#"{"type":"other","args":[]}"#).await.0, 201);
}

async fn a_batch_with_one_wrong_job_stores_nothing(b: Bench) {
    strict(&b).await;
    let refused = refusal(b.try_enqueue(&[GOOD, WRONG, GOOD]).await);
    let details = refused.details.unwrap();
    assert_eq!((&details["index"], &details["field"]), (&json!(1), &json!("jobs[1].args")));
    assert!(is_empty(&b).await);
    let queues = b.engine.store().query(ListQueues).await.unwrap();
    assert!(queues.is_empty(), "the queue was not made either");
}

async fn a_wrong_batch_in_a_group_of_two_hundred_leaves_nothing_behind(b: Bench) {
    strict(&b).await;
    let job = |text: &str| Arc::new(NewJob::parse(text, b.clock.now()).unwrap());
    let commands = (0..200).map(|place| match place {
        100 => Enqueue(vec![job(GOOD), job(WRONG)]),
        _ => Enqueue(vec![job(GOOD)]),
    });
    // All are on their way before the first answer is waited for.
    let sent: Vec<_> = commands.map(|command| b.engine.store().execute(command)).collect();
    let mut refused = 0;
    for answer in sent {
        if let Err(Refusal::Ojs(error)) = answer.await {
            assert_eq!(error.code, "schema_validation");
            refused += 1;
        }
    }
    assert_eq!((refused, b.counts("q").await[JobState::Available as usize]), (1, 199));
}

async fn jobs_enqueued_one_by_one_in_bulk_fare_each_on_its_own(b: Bench) {
    strict(&b).await;
    let body = format!(r#"{{"jobs":[{GOOD},{WRONG}],"atomicity":"partial"}}"#);
    let (status, answer) = b.http("POST", "/jobs/bulk", &body).await;
    assert_eq!((status, &answer["succeeded"], &answer["failed"]), (207, &json!(1), &json!(1)), "{answer}");
    assert_eq!(answer["items"][1]["error"]["code"], "schema_validation");
    assert_eq!(b.http("PATCH", "/schemas/pay/1", r#"{"mode":"warn"}"#).await.0, 200);
    let (_, answer) = b.http("POST", "/jobs/bulk", &body).await;
    assert!(answer["items"][1]["warnings"][0].as_str().unwrap().contains("amount"), "{answer}");
}

async fn encoded_arguments_are_not_compared(b: Bench) {
    strict(&b).await;
    for job in [
        r#"{"type":"pay","args":[{"ojs_encoded":true,"encoding":"binary/encrypted","data":"AA=="}]}"#,
        r#"{"type":"pay","args":["AA=="],"meta":{"ojs.codec.encodings":["binary/encrypted"],"ojs.codec.key_id":"k"}}"#,
    ] {
        assert_eq!(b.http("POST", "/jobs", job).await.0, 201, "{job}");
    }
}

fn chain(first: &str, second: &str) -> String {
    format!(r#"{{"type":"chain","steps":[{first},{second}]}}"#)
}

async fn a_workflow_with_a_wrong_step_is_not_stored(b: Bench) {
    strict(&b).await;
    let (status, body) = b.http("POST", "/workflows", &chain(GOOD, WRONG)).await;
    assert_eq!((status, &body["error"]["code"]), (400, &json!("schema_validation")), "{body}");
    assert!(is_empty(&b).await, "its first step was not enqueued");
    assert_eq!(b.http("POST", "/workflows", &chain(GOOD, GOOD)).await.0, 201);
}

async fn a_step_that_no_longer_matches_fails_its_workflow(b: Bench) {
    let first = r#"{"type":"first","args":[],"options":{"queue":"q"}}"#;
    let (_, created) = b.http("POST", "/workflows", &chain(first, WRONG)).await;
    let id = created["workflow"]["id"].as_str().unwrap().to_owned();
    strict(&b).await;
    let job = b.claim(1).await.remove(0);
    b.ack(&job).await.unwrap();
    let (_, body) = b.http("GET", &format!("/workflows/{id}"), "").await;
    assert_eq!(body["workflow"]["state"], "failed", "{body}");
    assert!(b.claim(1).await.is_empty());
}

async fn a_cron_entry_is_checked_when_it_is_stored_and_when_it_fires(b: Bench) {
    let entry = |name: &str, job: &str| format!(r#"{{"name":"{name}","cron":"* * * * *","job_template":{job}}}"#);
    assert_eq!(b.http("POST", "/cron", &entry("early", WRONG)).await.0, 201);
    strict(&b).await;
    let (status, body) = b.http("POST", "/cron", &entry("late", WRONG)).await;
    assert_eq!((status, &body["error"]["code"]), (400, &json!("schema_validation")));
    assert_eq!(b.http("GET", "/cron/late", "").await.0, 404);
    b.advance(seconds(60)).await;
    assert!(is_empty(&b).await);
    let (events, _, _) = b.events(Default::default()).await;
    let skipped = events.iter().find(|event| event.name == "cron.skipped").unwrap();
    assert!(skipped.data.contains("schema_validation"), "{}", skipped.data);
}

async fn a_replay_with_other_arguments_is_compared(b: Bench) {
    let id = b.enqueue(r#"{"type":"pay","args":[{"amount":1}],"options":{"queue":"q","retry":{"max_attempts":1}}}"#).await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"no","message":"no"}"#).await.unwrap();
    assert_eq!(b.state(id).await, JobState::Discarded);
    strict(&b).await;
    let path = format!("/dead-letter/{id}/retry");
    let (status, body) = b.http("POST", &path, r#"{"override":{"args":[{"amount":"secret"}]}}"#).await;
    assert_eq!((status, &body["error"]["code"]), (400, &json!("schema_validation")));
    assert_eq!(b.state(id).await, JobState::Discarded);
    assert!(b.get(id).await.body.text.contains(r#"[{"amount":1}]"#));
    assert_eq!(b.http("POST", &path, r#"{"override":{"args":[{"amount":2}]}}"#).await.0, 200);
}

async fn deleting_a_schema_keeps_the_jobs(b: Bench) {
    strict(&b).await;
    let id = b.enqueue(GOOD).await;
    assert_eq!(b.http("DELETE", "/schemas/pay/1.0.0", "").await.0, 200);
    assert_eq!(b.state(id).await, JobState::Available);
    assert_eq!(b.http("POST", "/jobs", WRONG).await.0, 201);
}

async fn a_deleted_version_can_be_registered_with_another_schema(b: Bench) {
    strict(&b).await;
    assert_eq!(b.http("POST", "/jobs", WRONG).await.0, 400);
    assert_eq!(b.http("DELETE", "/schemas/pay/1", "").await.0, 200);
    assert_eq!(register(&b, json!("1.0.0"), json!({"minItems": 1}), "strict").await.0, 201);
    assert_eq!(b.http("POST", "/jobs", WRONG).await.0, 201, "the new schema holds");
}

/// The text of the schema on the bench is not JSON any more.
async fn spoilt(b: &Bench) {
    // A schema of its own: what is compiled is kept for the whole process.
    let schema = json!({"minItems": 1, "description": format!("of {}", b.dir.path().display())});
    assert_eq!(register(b, json!(1), schema, "strict").await.0, 201);
    spoil(b, "UPDATE schema_texts SET text = '{'", "UPDATE ojs_schema_texts SET text = '{'").await;
}

async fn a_schema_that_cannot_be_read_stops_its_job_type_only(b: Bench) {
    spoilt(&b).await;
    let fault = match b.try_enqueue(&[GOOD]).await {
        Err(Refusal::Store(StoreError::Failed(fault))) => fault,
        other => panic!("{other:?}"),
    };
    assert!(
        fault.contains("schema 1 of job type 'pay' cannot be read") && fault.contains("DELETE /ojs/v1/schemas/pay/1"),
        "{fault}"
    );
    assert!(is_empty(&b).await);
    b.enqueue(r#"{"type":"other","args":[],"options":{"queue":"q"}}"#).await;
    assert_eq!(b.http("DELETE", "/schemas/pay/1", "").await.0, 200, "it can be deleted, as the message says");
    b.enqueue(GOOD).await;
}

mod unreadable {
    use crate::support::Bench;

    #[tokio::test]
    async fn sqlite() {
        super::a_schema_that_cannot_be_read_stops_its_job_type_only(Bench::sqlite().await).await;
    }

    #[tokio::test]
    async fn postgres() {
        super::a_schema_that_cannot_be_read_stops_its_job_type_only(Bench::postgres().await).await;
    }
}

#[tokio::test]
async fn another_node_uses_what_one_has_registered_and_forgets_what_it_deleted() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    assert_eq!(other.http("POST", "/jobs", WRONG).await.0, 201, "there is no schema, and the other node has looked");
    strict(&b).await;
    let until = async |status: u16| {
        // The change is announced: it arrives a moment later.
        let patience = tokio::time::Instant::now() + seconds(60);
        while other.http("POST", "/jobs", WRONG).await.0 != status {
            assert!(tokio::time::Instant::now() < patience, "the other node does not notice");
            tokio::task::yield_now().await;
        }
    };
    until(400).await;
    assert_eq!(b.http("PATCH", "/schemas/pay/1", r#"{"mode":"warn"}"#).await.0, 200);
    until(201).await;
    assert_eq!(b.http("PATCH", "/schemas/pay/1", r#"{"mode":"strict"}"#).await.0, 200);
    until(400).await;
    assert_eq!(b.http("DELETE", "/schemas/pay/1", "").await.0, 200);
    until(201).await;
}

#[tokio::test]
async fn a_row_inserted_by_plain_sql_that_does_not_match_becomes_a_dead_letter() {
    let b = Bench::postgres().await;
    strict(&b).await;
    let insert = "INSERT INTO ojs_jobs (type, args, queue) VALUES ('pay', '[{\"amount\":\"secret\"}]', 'q'), ('pay', '[{\"amount\":1}]', 'q')";
    application(&b).await.batch_execute(insert).await.unwrap();
    b.advance(seconds(1)).await;
    let counts = b.counts("q").await;
    assert_eq!((counts[JobState::Available as usize], counts[JobState::Discarded as usize]), (1, 1));
    let (dead, _) = b.dead(DeadFilter::default()).await;
    let errors = b.get(dead[0]).await.history.errors;
    assert!(errors.contains("schema_validation") && errors.contains("amount") && !errors.contains("secret"), "{errors}");
}
