//! Settings, limits and dependencies that cannot be read: a store error for what touches them. They are never taken for
//! none, or overwritten by a default.
use ojs_engine::command::{Claim, Configure, Exchange, Outcome, OutcomeReport, OverrideLimit, PutCron, SetDraining, SetPaused};
use ojs_engine::cron::{CronRow, Overlap};
use ojs_engine::error::{Refusal, StoreError};
use ojs_engine::queue_config::canonical;
use ojs_engine::rows::{Counts, QueueRow};
use ojs_model::JobState;
use ojs_model::rate_limit::Limits;
use serde_json::{Value, json};

use crate::faults::spoil;
use crate::support::{Bench, START, seconds};

async fn configure(b: &Bench, queue: &str, settings: Value) -> Result<(QueueRow, Counts), Refusal> {
    let settings = canonical(settings.as_object().unwrap()).unwrap();
    b.engine.store().execute(Configure { queue: queue.to_owned(), settings }).await
}

fn fault_of<T: std::fmt::Debug>(answer: Result<T, Refusal>) -> String {
    match answer {
        Err(Refusal::Store(StoreError::Failed(fault))) => fault,
        other => panic!("{other:?}"),
    }
}

/// What the store holds in a column of a queue.
async fn stored(b: &Bench, column: &str) -> String {
    if b.database.is_some() {
        let sql = format!("SELECT {column} FROM ojs_queues WHERE name = 'q'");
        return crate::nodes::application(b).await.query_one(&sql, &[]).await.unwrap().get(0);
    }
    let connection = rusqlite::Connection::open(b.dir.path().join("jobs.db")).unwrap();
    connection.query_row(&format!("SELECT {column} FROM queues WHERE name = 'q'"), [], |row| row.get(0)).unwrap()
}

const ON_Q: &str = r#"{"type":"t","args":[],"options":{"queue":"q"}}"#;
const ON_OTHER: &str = r#"{"type":"t","args":[],"options":{"queue":"other"}}"#;

/// Queue `q` keeps ended jobs for an hour, waits with a job and has settings that cannot be read.
async fn spoilt(b: Bench) -> Bench {
    configure(&b, "q", json!({"retention": {"completed": "PT1H"}, "concurrency": 3})).await.unwrap();
    b.enqueue(ON_Q).await;
    spoil(&b, "UPDATE queues SET effective = '{' WHERE name = 'q'", "UPDATE ojs_queues SET effective = '{' WHERE name = 'q'")
        .await;
    b.reopened().await
}

async fn settings_that_cannot_be_read_stop_their_queue_only(b: Bench) {
    let b = spoilt(b).await;
    let own = stored(&b, "config").await;
    let fault = fault_of(b.try_enqueue(&[ON_Q]).await);
    assert!(fault.contains("queue 'q' cannot be read") && fault.contains("PUT /ojs/v1/queues/q/config"), "{fault}");
    let claim = |queues: &[&str]| Claim {
        queues: queues.iter().map(|name| (*name).to_owned()).collect(),
        count: 5,
        worker: Some("w".to_owned()),
        ..Claim::default()
    };
    let empty = |claim| b.engine.store().execute(Exchange { outcomes: Vec::new(), claim: Some(claim) });
    assert!(fault_of(empty(claim(&["q"])).await).contains("queue 'q'"));
    b.enqueue(ON_OTHER).await;
    let jobs = b.claim_for(Some("w"), &["q", "other"], 5).await;
    assert_eq!(jobs.len(), 1, "the other queue of the same worker goes on");
    b.ack(&jobs[0]).await.unwrap();
    // Pausing writes the row of the queue, and leaves what cannot be read as it is.
    b.engine.store().execute(SetPaused { queue: "q".into(), paused: true }).await.unwrap();
    b.engine.store().execute(SetPaused { queue: "q".into(), paused: false }).await.unwrap();
    b.engine.store().execute(SetDraining { queue: "q".into(), draining: true }).await.unwrap();
    b.engine.store().execute(SetDraining { queue: "q".into(), draining: false }).await.unwrap();
    configure(&b, "_default", json!({"max_size": 100})).await.unwrap();
    assert_eq!((stored(&b, "config").await, stored(&b, "effective").await), (own, "{".to_owned()));
    let (status, answer) = b.http("GET", "/queues/q", "").await;
    assert_eq!((status, answer["error"]["code"].as_str()), (500, Some("backend_error")), "{answer}");
    assert_eq!(b.http("GET", "/admin/queues", "").await.0, 200, "lists show what they can");
    assert_eq!(b.http("GET", "/queues/other", "").await.0, 200);

    // Configured anew, the queue is as before; what could be read of its settings is still set.
    configure(&b, "q", json!({"max_size": 7})).await.unwrap();
    b.enqueue(ON_Q).await;
    assert_eq!(b.claim(5).await.len(), 2);
    let (_, config) = b.http("GET", "/queues/q", "").await;
    assert_eq!((&config["config"]["max_size"], &config["config"]["concurrency"]), (&json!(7), &json!(3)), "{config}");
}

async fn settings_that_cannot_be_read_do_not_stop_the_sweeper(b: Bench) {
    b.enqueue(ON_Q).await;
    let old = b.claim(1).await.remove(0);
    b.ack(&old).await.unwrap();
    let b = spoilt(b).await;
    let other = b.enqueue(ON_OTHER).await;
    let job = b.claim_for(Some("w"), &["other"], 1).await.remove(0);
    b.ack(&job).await.unwrap();
    let tick = |name: &str, queue: &str| CronRow {
        name: name.into(),
        expression: "* * * * *".into(),
        timezone: "UTC".into(),
        overlap: Overlap::Allow,
        enabled: true,
        description: None,
        template: format!(r#"{{"type":"tick","args":[],"options":{{"queue":"{queue}"}}}}"#),
        created_at: START,
        next_at: 0,
        last_at: 0,
        run_count: 0,
        last_job: None,
        waiting: 0,
    };
    for (name, queue) in [("a", "q"), ("b", "other")] {
        b.engine.store().execute(PutCron(tick(name, queue))).await.unwrap();
    }
    b.advance(seconds(61)).await;
    assert_eq!(b.claim_for(Some("w"), &["other"], 5).await.len(), 1, "the cron entry of the other queue has fired");
    b.advance(seconds(400 * 86_400)).await;
    let left = b.engine.store().query(ojs_engine::command::GetJob(other)).await;
    assert!(matches!(left, Err(Refusal::Ojs(_))), "the ended job of the other queue is pruned: {left:?}");
    assert_eq!(b.state(old.row.id).await, JobState::Completed, "that of the queue stays");
}

const KEYED: &str = r#"{"type":"t","args":[],"options":{"queue":"q","rate_limit":{"key":"k","concurrency":1}}}"#;
const JOINS: &str = r#"{"type":"t","args":[],"options":{"queue":"q","rate_limit":{"key":"k"}}}"#;

async fn limits_that_cannot_be_read_are_not_taken_for_none(b: Bench) {
    let keyed = b.enqueue(KEYED).await;
    let free = b.enqueue(ON_Q).await;
    spoil(&b, "UPDATE limits SET policy = '['", "UPDATE ojs_limits SET policy = '['").await;
    let b = b.reopened().await;
    assert!(fault_of(b.try_enqueue(&[JOINS]).await).contains("the limits of key 'k' cannot be read"));
    let jobs = b.claim(5).await;
    assert_eq!(jobs.iter().map(|job| job.row.id).collect::<Vec<_>>(), [free], "the job of the key waits, the other starts");
    b.advance(seconds(120)).await;
    assert!(b.claim(5).await.iter().all(|job| job.row.id != keyed));
    assert!(b.http("GET", "/rate-limits", "").await.1.to_string().contains("cannot be read"), "a list shows it");
    // An operator's limits hold while they last, and a job that names limits sets them anew.
    let limits = Limits::parse(json!({"concurrency": 1}).as_object().unwrap()).unwrap();
    let until = ojs_model::Timestamp::from_millis(b.now() + 3_600_000);
    let put = OverrideLimit { tenant: String::new(), key: "k".into(), limits: Some(limits), until };
    b.engine.store().execute(put).await.unwrap();
    assert_eq!(b.claim(5).await.iter().filter(|job| job.row.id == keyed).count(), 1);
    b.advance(seconds(7_200)).await;
    assert!(fault_of(b.try_enqueue(&[JOINS]).await).contains("cannot be read"), "the override has ended");
    b.enqueue(KEYED).await;
    b.enqueue(JOINS).await;
}

async fn limits_of_a_tenant_that_cannot_be_read_are_not_taken_for_none(b: Bench) {
    let of = |tenant: &str| format!(r#"{{"type":"t","args":[],"meta":{{"tenant_id":"{tenant}"}},"options":{{"queue":"q"}}}}"#);
    b.http("PUT", "/admin/tenants/acme/limits", r#"{"max_concurrency":5}"#).await;
    b.enqueue(&of("acme")).await;
    let free = b.enqueue(&of("blog")).await;
    spoil(&b, "UPDATE tenants SET quota = '[' WHERE id = 'acme'", "UPDATE ojs_tenants SET quota = '[' WHERE id = 'acme'").await;
    let b = b.reopened().await;
    assert!(fault_of(b.try_enqueue(&[&of("acme")]).await).contains("the limits of tenant 'acme' cannot be read"));
    assert_eq!(b.claim(5).await.iter().map(|job| job.row.id).collect::<Vec<_>>(), [free], "the jobs of others start");
    assert!(b.http("GET", "/admin/tenants", "").await.1.to_string().contains("cannot be read"), "a list shows it");
    assert_eq!(b.http("PUT", "/admin/tenants/acme/limits", r#"{"max_concurrency":5}"#).await.0, 200);
    assert_eq!(b.claim(5).await.len(), 1);
    b.enqueue(&of("acme")).await;
}

async fn a_step_whose_dependencies_cannot_be_read_does_not_start(b: Bench) {
    let step = |id: &str, after: &str| {
        format!(r#"{{"id":"{id}","type":"{id}","args":[],"options":{{"queue":"q"}},"depends_on":{after}}}"#)
    };
    let steps = [step("root", "[]"), step("other", "[]"), step("join", r#"["root","other"]"#)].join(",");
    let (status, flow) = b.http("POST", "/workflows", &format!(r#"{{"name":"g","steps":[{steps}]}}"#)).await;
    assert_eq!(status, 201, "{flow}");
    let jobs = b.claim(5).await;
    assert_eq!(jobs.len(), 2);
    spoil(&b, "UPDATE steps SET after = '[' WHERE idx = 2", "UPDATE ojs_steps SET after = '[' WHERE idx = 2").await;
    let b = b.reopened().await;
    let report =
        |outcome| OutcomeReport { job: jobs[0].row.id, lease: Some(jobs[0].row.lease), worker: None, outcome, want_job: false };
    let ack = Exchange { outcomes: vec![report(Outcome::Ack(None))], claim: None };
    let fault = fault_of(b.engine.store().execute(ack).await);
    assert!(fault.contains("what step 2 of workflow number") && fault.contains("cannot be read"), "{fault}");
    assert_eq!(b.state(jobs[0].row.id).await, JobState::Active, "nothing of the refused ack is left");
    assert!(b.claim(5).await.is_empty(), "the step that waits for both has not started");
    b.enqueue(ON_OTHER).await;
    assert_eq!(b.claim_for(Some("w"), &["other"], 5).await.len(), 1, "other jobs run");
}

mod sqlite {
    use super::*;
    #[tokio::test]
    async fn a_step_whose_dependencies_cannot_be_read_does_not_start() {
        super::a_step_whose_dependencies_cannot_be_read_does_not_start(Bench::sqlite().await).await;
    }
    #[tokio::test]
    async fn limits_of_a_tenant_that_cannot_be_read_are_not_taken_for_none() {
        super::limits_of_a_tenant_that_cannot_be_read_are_not_taken_for_none(Bench::sqlite().await).await;
    }
    #[tokio::test]
    async fn settings_that_cannot_be_read_stop_their_queue_only() {
        super::settings_that_cannot_be_read_stop_their_queue_only(Bench::sqlite().await).await;
    }
    #[tokio::test]
    async fn settings_that_cannot_be_read_do_not_stop_the_sweeper() {
        super::settings_that_cannot_be_read_do_not_stop_the_sweeper(Bench::sqlite().await).await;
    }
    #[tokio::test]
    async fn limits_that_cannot_be_read_are_not_taken_for_none() {
        super::limits_that_cannot_be_read_are_not_taken_for_none(Bench::sqlite().await).await;
    }
}

mod postgres {
    use super::*;
    #[tokio::test]
    async fn a_step_whose_dependencies_cannot_be_read_does_not_start() {
        super::a_step_whose_dependencies_cannot_be_read_does_not_start(Bench::postgres().await).await;
    }
    #[tokio::test]
    async fn limits_of_a_tenant_that_cannot_be_read_are_not_taken_for_none() {
        super::limits_of_a_tenant_that_cannot_be_read_are_not_taken_for_none(Bench::postgres().await).await;
    }
    #[tokio::test]
    async fn settings_that_cannot_be_read_stop_their_queue_only() {
        super::settings_that_cannot_be_read_stop_their_queue_only(Bench::postgres().await).await;
    }
    #[tokio::test]
    async fn settings_that_cannot_be_read_do_not_stop_the_sweeper() {
        super::settings_that_cannot_be_read_do_not_stop_the_sweeper(Bench::postgres().await).await;
    }
    #[tokio::test]
    async fn limits_that_cannot_be_read_are_not_taken_for_none() {
        super::limits_that_cannot_be_read_are_not_taken_for_none(Bench::postgres().await).await;
    }
}
