//! A panic while a transaction is being committed, not only in the rules.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::http::Request;
use ojs_engine::command::{Enqueue, GetJob};
use ojs_engine::error::{Refusal, StoreError};
use ojs_engine::{Engine, EngineOptions};
use ojs_model::{JobId, NewJob, Timestamp};
use tower::ServiceExt;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Breaks in the thread that commits, when it writes the log records of what it has committed.
struct Broken(Arc<AtomicBool>);

impl Subscriber for Broken {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "ojs::jobs"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        assert!(!self.0.load(Ordering::SeqCst), "the log is broken");
    }
}

async fn enqueue(engine: &Engine) -> (JobId, Result<(), Refusal>) {
    let job = NewJob::parse(r#"{"type":"t","args":[]}"#, Timestamp::from_millis(0)).unwrap();
    (job.id, engine.store().execute(Enqueue(vec![Arc::new(job)])).await.map(drop))
}

#[tokio::test]
async fn a_panic_during_the_commit_is_answered_as_unknown_counted_and_survived() {
    let breaks = Arc::new(AtomicBool::new(false));
    tracing::subscriber::set_global_default(Broken(Arc::clone(&breaks))).unwrap();
    let directory = tempfile::TempDir::new().unwrap();
    for store in ["memory:".to_owned(), format!("sqlite:{}", directory.path().join("jobs.db").display())] {
        let engine = Engine::open(EngineOptions::new(store.parse().unwrap())).await.unwrap();
        enqueue(&engine).await.1.unwrap();
        breaks.store(true, Ordering::SeqCst);
        let (id, answer) = enqueue(&engine).await;
        let Err(Refusal::Store(StoreError::Unknown(what))) = answer else { panic!("{store}: {answer:?}") };
        assert!(what.contains("a bug in the engine (the log is broken)"), "{what}");
        breaks.store(false, Ordering::SeqCst);
        engine.store().query(GetJob(id)).await.unwrap_or_else(|_| panic!("{store}: the commit had been made"));
        enqueue(&engine).await.1.unwrap();
        let request = Request::get("/metrics").body(Body::empty()).unwrap();
        let answer = engine.router().oneshot(request).await.unwrap();
        let bytes = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        let figures = String::from_utf8(bytes.to_vec()).unwrap();
        let line = figures.lines().find(|line| line.starts_with("ojs_store_panics_total")).expect("it is counted");
        assert!(line.rsplit(' ').next().unwrap().parse::<f64>().unwrap() >= 1.0, "{store}: {line}");
        engine.close().await;
    }
}
