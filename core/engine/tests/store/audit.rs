//! The audit: a sound store has no findings, and each check finds the damage that it is there for. Every other test of
//! the suite audits its store when it ends.
mod damages;

use std::sync::Arc;

use ojs_engine::audit::Finding;
use ojs_engine::bulk::Batch;
use ojs_engine::command::{CreateWorkflow, Outcome, PutCron};
use ojs_engine::cron::{CronRow, Overlap};
use ojs_engine::idempotency::IdempotencyKey;
use ojs_model::workflow::NewWorkflow;
use ojs_model::{JobState, NewJob};

use crate::audit::damages::DAMAGES;
use crate::nodes::application;
use crate::support::{Bench, START};

/// A store with a row of every kind.
async fn filled(b: &Bench) {
    // The first sweep repairs trains; the next repair is a minute of the test's clock away.
    b.engine.store().sweep().await.unwrap();
    for state in JobState::ALL.into_iter().filter(|state| *state != JobState::Available) {
        b.job_in(state).await;
    }
    b.job_in(JobState::Available).await;
    let held = b.enqueue(r#"{"type":"t","args":[1],"options":{"queue":"results"}}"#).await;
    let job = b.claim_for(Some("w"), &["results"], 1).await.remove(0);
    assert_eq!(job.row.id, held);
    b.settle(held, Some(job.row.lease), Outcome::Ack(Some("[1]".into()))).await.unwrap();
    for _ in 0..2 {
        b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"keys","rate_limit":{"key":"k","concurrency":1}}}"#).await;
    }
    b.claim_for(Some("w"), &["keys"], 1).await;
    for _ in 0..2 {
        b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"trains","train":"t"}}"#).await;
    }
    let long = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"long"}}"#).await;
    b.claim_for(Some("w"), &["long"], 1).await;
    assert_eq!(b.http("PUT", &format!("/jobs/{long}/progress"), r#"{"progress":0.5,"checkpoint":{"page":7}}"#).await.0, 200);
    assert_eq!(b.http("DELETE", &format!("/jobs/{long}/history"), "").await.0, 200);
    let dead = r#"{"type":"t","args":[],"options":{"queue":"dead","retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}}}"#;
    b.enqueue(dead).await;
    let job = b.claim_for(Some("w"), &["dead"], 1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    for number in 0..2 {
        let states = r#"["available","active","pending","scheduled","retryable"]"#;
        let unique = format!(r#"{{"keys":["type","args"],"states":{states}}}"#);
        b.enqueue(&format!(r#"{{"type":"u","args":[{number}],"options":{{"queue":"unique","unique":{unique}}}}}"#)).await;
    }
    for _ in 0..2 {
        b.enqueue(r#"{"type":"t","args":[],"meta":{"tenant_id":"acme"},"options":{"queue":"tenants"}}"#).await;
    }
    let store = b.engine.store();
    let chain = r#"{"type":"chain","steps":[{"type":"s","args":[]},{"type":"s","args":[]},{"type":"s","args":[]}]}"#;
    let workflow = NewWorkflow::parse(chain, ojs_model::Timestamp::from_millis(START)).unwrap();
    drop(store.execute(CreateWorkflow(workflow)).await.unwrap());
    let cron = CronRow {
        name: "c".into(),
        expression: "* * * * *".into(),
        timezone: "UTC".into(),
        overlap: Overlap::Skip,
        enabled: true,
        description: None,
        template: r#"{"type":"t","args":[]}"#.into(),
        created_at: START,
        next_at: 0,
        last_at: 0,
        run_count: 0,
        last_job: None,
        waiting: 0,
    };
    drop(store.execute(PutCron(cron)).await.unwrap());
    let job = NewJob::parse(r#"{"type":"t","args":[]}"#, ojs_model::Timestamp::from_millis(START)).unwrap();
    let key = IdempotencyKey::new("bulk", None, "k", [7; 32]);
    let batch = Batch { jobs: vec![Ok(Arc::new(job))], atomic: true, key: Some(key) };
    drop(store.execute(batch).await.unwrap());
    b.enqueue(r#"{"type":"v","args":[],"version":2,"options":{"queue":"versions"}}"#).await;
    assert_eq!(b.http("PUT", "/admin/pools/p", r#"{"queues":["q","other"],"concurrency":100}"#).await.0, 201);
    assert_eq!(b.http("PUT", "/admin/queues/shared/fairness", r#"{"weights":{"acme":2}}"#).await.0, 201);
    b.enqueue(r#"{"type":"t","args":[],"meta":{"tenant_id":"acme"},"options":{"queue":"shared"}}"#).await;
    // Not active, so no delivery of it is sent.
    let webhook = r#"{"url":"https://example.com/","events":["*"],"active":false}"#;
    assert_eq!(b.http("POST", "/webhooks/subscriptions", webhook).await.0, 201);
    let push = r#"{"endpoint":"https://example.com/","job_types":["*"],"active":false}"#;
    assert_eq!(b.http("POST", "/push/endpoints", push).await.0, 201);
    let schema = r#"{"job_type":"pay","version":"2.1","schema":{"type":"array"}}"#;
    assert_eq!(b.http("POST", "/schemas", schema).await.0, 201);
    assert_eq!(b.http("POST", "/relays/beat", r#"{"id":"r","name":"shop-1","waiting":7}"#).await.0, 200);
    // Finds nothing, so it ends at once.
    let operation = r#"{"action":"cancel","filter":{"queue":"empty"},"confirm":true}"#;
    let (status, begun) = b.http("POST", "/admin/bulk", operation).await;
    assert_eq!(status, 202, "{begun}");
    let (_, ended) = b.http("GET", &format!("/admin/bulk/{}?wait_ms=60000", begun["id"].as_str().unwrap()), "").await;
    assert_eq!(ended["state"], "completed", "{ended}");
}

async fn audit(b: &Bench) -> Vec<Finding> {
    b.engine.audit().await.unwrap().findings
}

/// Runs SQL on the tables of the store; an empty text is for a check that only the other store has.
async fn damage(b: &Bench, sqlite: &str, postgres: &str) -> bool {
    b.audited.damaged();
    if b.database.is_some() {
        application(b).await.batch_execute(postgres).await.unwrap();
        return !postgres.is_empty();
    }
    rusqlite::Connection::open(b.dir.path().join("jobs.db")).unwrap().execute_batch(sqlite).unwrap();
    !sqlite.is_empty()
}

/// One damage after the other: each is found by its check, which was silent about it before.
async fn each_check_finds_its_damage(b: Bench) {
    filled(&b).await;
    assert_eq!(audit(&b).await, [], "a sound store");
    // The damages of a file cover all features. Of a database those are made that its tables take one after the other.
    let database = b.database.is_some();
    for (check, word, sqlite, postgres) in DAMAGES.iter().take_while(|damage| !database || damage.0 != "limit_counts") {
        let fits = |finding: &&Finding| finding.check == *check && finding.what.contains(word);
        let before = audit(&b).await.iter().filter(fits).count();
        if !damage(&b, sqlite, postgres).await {
            continue;
        }
        let found = audit(&b).await;
        assert!(found.iter().filter(fits).count() > before, "{check}, {word}: {found:#?}");
    }
}

#[tokio::test]
async fn each_check_finds_its_damage_in_a_file() {
    each_check_finds_its_damage(Bench::sqlite().await).await;
}

#[tokio::test]
async fn each_check_finds_its_damage_in_a_database() {
    each_check_finds_its_damage(Bench::postgres().await).await;
}

async fn a_store_with_a_row_of_every_kind_is_sound_and_stays_as_it_is(b: Bench) {
    filled(&b).await;
    let before = crate::refusals::digest(&b).await;
    let audited = b.engine.audit().await.unwrap();
    assert_eq!((audited.findings, audited.total), (Vec::new(), 0));
    assert!(audited.jobs >= 15, "{} jobs", audited.jobs);
    assert_eq!(crate::refusals::digest(&b).await, before);
}

crate::on_every_store! { a_store_with_a_row_of_every_kind_is_sound_and_stays_as_it_is }
