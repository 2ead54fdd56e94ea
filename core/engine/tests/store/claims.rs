use std::time::Duration;

use ojs_engine::command::SetPaused;
use ojs_engine::job::JobView;
use ojs_engine::rows::WorkerPhase;
use ojs_model::{JobId, JobState};

use crate::support::Bench;

crate::on_every_store!(
    order_is_priority_then_arrival,
    queues_are_taken_in_the_order_asked_for,
    a_paused_queue_hands_out_nothing,
    a_claim_starts_an_attempt_under_a_new_token,
    a_quiet_worker_gets_nothing,
    an_unknown_queue_is_empty,
    concurrent_claims_share_no_job,
    a_rate_holds_back_what_is_too_much,
    names_with_a_nul_are_the_callers_fault_at_worst,
);

fn ids(jobs: &[JobView]) -> Vec<JobId> {
    jobs.iter().map(|job| job.row.id).collect()
}

async fn order_is_priority_then_arrival(b: Bench) {
    let mut expected = Vec::new();
    for priority in [0, 10, -10, 10, 100, -100, 0] {
        let request = format!(r#"{{"type":"t","args":[],"options":{{"queue":"q","priority":{priority}}}}}"#);
        expected.push((-priority, b.enqueue(&request).await));
    }
    expected.sort_by_key(|(nprio, _)| *nprio);
    let expected: Vec<JobId> = expected.into_iter().map(|(_, id)| id).collect();
    let mut got = ids(&b.claim(3).await);
    got.extend(ids(&b.claim(10).await));
    assert_eq!(got, expected);
}

async fn queues_are_taken_in_the_order_asked_for(b: Bench) {
    let low = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"low","priority":100}}"#).await;
    let high = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"high"}}"#).await;
    assert_eq!(ids(&b.claim_for(None, &["high", "low"], 5).await), [high, low]);
}

async fn a_paused_queue_hands_out_nothing(b: Bench) {
    b.engine.store().execute(SetPaused { queue: "q".into(), paused: true }).await.unwrap();
    let id = b.job().await;
    assert!(b.claim(5).await.is_empty());
    assert_eq!(b.state(id).await, JobState::Available);
    b.engine.store().execute(SetPaused { queue: "q".into(), paused: false }).await.unwrap();
    assert_eq!(ids(&b.claim(5).await), [id]);
}

async fn a_claim_starts_an_attempt_under_a_new_token(b: Bench) {
    b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","timeout_ms":5000}}"#).await;
    b.job().await;
    let jobs = b.claim(2).await;
    let row = &jobs[0].row;
    assert_eq!((row.attempt, row.state, row.started_at), (1, JobState::Active, b.now()));
    assert_eq!((row.lease_until, row.deadline), (b.now() + 30_000, b.now() + 5_000));
    assert!(jobs[1].row.lease > row.lease);
    assert_eq!(jobs[0].worker.as_deref(), Some("w"));
    assert_eq!(jobs[1].row.deadline, b.now() + 1_800_000);
}

async fn a_quiet_worker_gets_nothing(b: Bench) {
    let beat = |phase| ojs_engine::command::Heartbeat {
        worker: "w".into(),
        phase,
        jobs: vec![],
        visibility_ms: None,
        test_directives: false,
        info: None,
        ..Default::default()
    };
    b.job().await;
    b.engine.store().execute(beat(WorkerPhase::Quiet)).await.unwrap();
    assert!(b.claim(1).await.is_empty());
    b.engine.store().execute(beat(WorkerPhase::Running)).await.unwrap();
    assert_eq!(b.claim(1).await.len(), 1);
}

async fn an_unknown_queue_is_empty(b: Bench) {
    assert!(b.claim_for(None, &["nobody-was-here"], 5).await.is_empty());
    assert_eq!(b.counts("nobody-was-here").await, [0; 8]);
}

async fn concurrent_claims_share_no_job(b: Bench) {
    const JOBS: usize = 200;
    for _ in 0..JOBS {
        b.job().await;
    }
    let claims = (0..JOBS / 10).map(|_| b.claim(10));
    let mut all: Vec<JobId> = futures_util::future::join_all(claims).await.iter().flat_map(|jobs| ids(jobs)).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), JOBS);
}

async fn a_rate_holds_back_what_is_too_much(b: Bench) {
    let limited = r#"{"type":"t","args":[],"options":{"queue":"q","rate_limit":{"max_per_second":2}}}"#;
    for _ in 0..6 {
        b.enqueue(limited).await;
    }
    assert_eq!(b.claim(5).await.len(), 2, "a second's worth at once");
    assert_eq!(b.claim(5).await.len(), 0);
    b.advance(Duration::from_millis(500)).await;
    assert_eq!(b.claim(5).await.len(), 1);
    b.advance(Duration::from_secs(20)).await;
    assert_eq!(b.claim(5).await.len(), 2, "no more than a second's worth is saved up");
    b.enqueue(&limited.replace('2', "1000")).await;
    assert_eq!(b.claim(5).await.len(), 2, "the latest rate counts");
}

/// PostgreSQL keeps no U+0000 in names. A request with one is refused with the reason, and other requests are not
/// affected.
async fn names_with_a_nul_are_the_callers_fault_at_worst(b: Bench) {
    let postgres = b.database.is_some();
    let cron = r#"{"name":"c","cron":"@yearly","type":"t","description":"\u0000"}"#;
    for (method, path, body, elsewhere) in [
        ("POST", "/workers/fetch", r#"{"queues":["q"],"worker_id":"\u0000"}"#, 400),
        ("POST", "/workers/heartbeat", r#"{"worker_id":"\u0000"}"#, 400),
        ("POST", "/cron", cron, 201),
        ("GET", "/cron/%00", "", 404),
        ("GET", "/dead-letter?queue=%00", "", 200),
    ] {
        let (status, answer) = b.http(method, path, body).await;
        assert_eq!(status, if postgres { 400 } else { elsewhere }, "{path}: {answer}");
        assert!(!postgres || answer["error"]["code"] == "invalid_payload", "{path}: {answer}");
    }
    // Together in one group: only the one that asked for it is refused.
    let others = (0..8).map(|_| b.http("POST", "/jobs", r#"{"type":"t","args":["\u0000"],"options":{"queue":"q"}}"#));
    let (others, (refused, _)) =
        tokio::join!(futures_util::future::join_all(others), b.http("POST", "/workers/heartbeat", r#"{"worker_id":"\u0000"}"#));
    assert!(others.iter().all(|(status, _)| *status == 201), "{others:?}");
    assert_eq!(refused, 400);
}
