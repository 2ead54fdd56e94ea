//! What only a file can show: reopening, several processes' worth of connections, damage, plans.
use std::sync::Arc;

use ojs_engine::Engine;
use ojs_engine::clock::SystemClock;
use ojs_engine::store::lists;
use ojs_engine::store::selection::sql::Form;
use ojs_model::JobState;
use serde_json::json;

use crate::support::{Audited, Bench, options, seconds};

fn url(b: &Bench) -> String {
    format!("sqlite:{}", b.dir.path().join("jobs.db").display())
}

#[tokio::test]
async fn everything_is_there_after_reopening() {
    let mut b = Bench::sqlite().await;
    let mut ids = Vec::new();
    // The available one last: the others are made by claiming.
    for state in JobState::ALL.into_iter().filter(|state| *state != JobState::Available).chain([JobState::Available]) {
        ids.push((state, b.job_in(state).await));
    }
    let active = ids.iter().find(|(state, _)| *state == JobState::Active).unwrap();
    let held = b.get(active.1).await;
    let (events, _, _) = b.events(Default::default()).await;
    b.engine.close().await;
    b.succeeded_by(Engine::open(options(&url(&b), Arc::clone(&b.clock) as _)).await.unwrap()).await;
    for (state, id) in &ids {
        assert_eq!(b.state(*id).await, *state);
    }
    assert_eq!(b.events(Default::default()).await.0, events);
    assert_eq!(b.counts("q").await, [1; 8]);
    // The lease survives as well: its holder may ack, and tokens made later differ from all made before.
    b.ack(&held).await.unwrap();
    assert!(b.claim(1).await[0].row.lease > held.row.lease);
}

#[tokio::test]
async fn two_engines_on_one_file_see_each_other() {
    let b = Bench::sqlite().await;
    let engine = Engine::open(options(&url(&b), Arc::clone(&b.clock) as _)).await.unwrap();
    let other = Bench {
        audited: Audited::of(&engine),
        engine,
        database: None,
        clock: Arc::clone(&b.clock),
        dir: tempfile::TempDir::new().unwrap(),
    };
    let id = b.job().await;
    let job = other.claim(1).await.remove(0);
    assert_eq!(job.row.id, id);
    assert!(b.claim(1).await.is_empty());
    // Pauses and new names cross over too.
    other.engine.store().execute(ojs_engine::command::SetPaused { queue: "q".into(), paused: true }).await.unwrap();
    b.job().await;
    assert!(b.claim(1).await.is_empty());
    other.ack(&job).await.unwrap();
    assert_eq!(b.state(id).await, JobState::Completed);
    assert_eq!(b.counts("q").await.iter().sum::<i64>(), 2);
    b.advance(seconds(0)).await;
    assert_eq!(other.events(Default::default()).await.0, b.events(Default::default()).await.0);
}

/// A fetch that waits in one process is woken by an enqueue in another.
#[tokio::test]
async fn a_wait_sees_jobs_of_another_process() {
    use tower::ServiceExt;
    let b = Bench::sqlite().await;
    let other = Engine::open(options(&url(&b), Arc::new(SystemClock))).await.unwrap();
    let request = axum::http::Request::post("/ojs/v1/workers/fetch")
        .header("content-type", "application/json")
        .body(axum::body::Body::from(r#"{"queues":["q"],"wait_ms":60000}"#))
        .unwrap();
    let waiting = tokio::spawn(other.router().oneshot(request));
    tokio::task::yield_now().await;
    let id = b.job().await;
    let response = tokio::time::timeout(seconds(50), waiting).await.expect("woken").unwrap().unwrap();
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    assert!(String::from_utf8_lossy(&body).contains(&id.to_string()));
}

#[tokio::test]
async fn files_that_are_no_database_are_refused() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("jobs.db");
    std::fs::write(&path, "this is a diary, not a database, and it is long enough to be looked at").unwrap();
    let error = Engine::open(options(&format!("sqlite:{}", path.display()), Arc::new(SystemClock))).await.unwrap_err();
    assert!(error.to_string().contains("jobs.db"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap().len(), 70, "and left alone");

    let missing = dir.path().join("no/such/folder/jobs.db");
    assert!(Engine::open(options(&format!("sqlite:{}", missing.display()), Arc::new(SystemClock))).await.is_err());

    let newer = dir.path().join("newer.db");
    rusqlite::Connection::open(&newer).unwrap().pragma_update(None, "user_version", 999).unwrap();
    let error = Engine::open(options(&format!("sqlite:{}", newer.display()), Arc::new(SystemClock))).await.unwrap_err();
    assert!(error.to_string().contains("schema version 999"), "{error}");
}

/// A claim must not slow down with the number of finished jobs: every hot query walks its own partial index.
#[tokio::test]
async fn hot_queries_use_their_indexes() {
    let b = Bench::sqlite().await;
    // A file gets the indexes of these features with the first job that uses them.
    b.share(json!({})).await;
    let all = r#"{"type":"t","args":[],"version":2,"meta":{"tenant_id":"a"},"options":{"queue":"q","rate_limit":{"key":"k","concurrency":1}}}"#;
    b.try_enqueue(&[all]).await.unwrap();
    let connection = rusqlite::Connection::open(b.dir.path().join("jobs.db")).unwrap();
    let (own, shared) = (lists::statement, lists::sqlite_statement);
    for (sql, index) in [
        (shared(Form::Before), "jobs_ready"),
        (shared(Form::OldestDead), "jobs_dead"),
        (own(include_str!("../../src/store/sqlite/sql/ready.sql")), "jobs_ready"),
        (shared(Form::Scheduled), "jobs_scheduled"),
        (shared(Form::Retryable), "jobs_retryable"),
        (shared(Form::Overdue), "jobs_active"),
        (own(include_str!("../../src/store/sqlite/sql/held_by.sql")), "jobs_active"),
        (shared(Form::Expired), "jobs_expiring"),
        (own(include_str!("../../src/store/sqlite/sql/job_by_id.sql")), "jobs_id"),
        (own(include_str!("../../src/store/sqlite/sql/line.sql")), "jobs_ready"),
        (shared(Form::Parked), "jobs_limited"),
        (shared(Form::Heads), "jobs_limited"),
        (shared(Form::Waiting), "jobs_limited"),
        (shared(Form::Running), "jobs_limited_active"),
        (own(include_str!("../../src/store/sqlite/sql/version_lines.sql")), "jobs_versions"),
        (own(include_str!("../../src/store/sqlite/sql/version_ready.sql")), "jobs_versions"),
        (own(include_str!("../../src/store/sqlite/sql/fair_rank.sql")), "jobs_fair"),
        (own(include_str!("../../src/store/sqlite/sql/fair_keys.sql")), "jobs_fair"),
        (own(include_str!("../../src/store/sqlite/sql/fair_ready.sql")), "jobs_fair"),
        (shared(Form::OfSet), "jobs_ready"),
        (own(include_str!("../../src/store/sqlite/sql/dead.sql")), "jobs_dead"),
        (shared(Form::OfTenant), "jobs_tenant_ready"),
        (shared(Form::OfDefaultTenant), "jobs_ready"),
    ] {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let count = statement.parameter_count();
        let rows = statement.query_map(rusqlite::params_from_iter(vec![1; count]), |row| row.get::<_, String>(3)).unwrap();
        let plan = rows.map(Result::unwrap).collect::<Vec<_>>().join("; ");
        assert!(plan.contains(index), "{plan}");
        assert!(!plan.contains("TEMP B-TREE") || index == "jobs_dead", "{plan}");
    }
}
