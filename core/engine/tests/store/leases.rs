//! Fencing, expiry, time-outs, worker death: the failure scenarios of delivery.
use ojs_engine::command::{Cancel, Outcome};
use ojs_model::{JobId, JobState, OjsError};

use crate::support::{Bench, seconds};

crate::on_every_store!(
    scenario_02_a_stale_worker_changes_nothing,
    scenario_12_a_repeated_outcome_is_answered_again,
    another_workers_outcome_is_refused,
    an_expired_lease_returns_the_job_at_once,
    spent_attempts_end_an_expired_job,
    heartbeats_keep_a_lease,
    heartbeats_do_not_extend_the_execution_time,
    a_heartbeat_with_a_stale_token_extends_nothing,
    scenario_01_a_dead_worker_loses_its_jobs_at_once,
    a_worker_that_never_beats_is_not_dead,
    a_released_job_is_not_charged,
    a_snoozed_job_comes_back_later,
    an_execution_timeout_goes_through_the_retry_policy,
    a_job_cancelled_while_held_is_reported,
);

fn reason(error: &OjsError) -> &str {
    error.details.as_ref().and_then(|d| d["reason"].as_str()).unwrap_or("")
}

/// Scenario 2 of the failure list.
async fn scenario_02_a_stale_worker_changes_nothing(b: Bench) {
    let id = b.job().await;
    let old = b.claim(1).await.remove(0);
    b.advance(seconds(31)).await;
    let new = b.claim(1).await.remove(0);
    assert_eq!((new.row.id, new.row.attempt), (id, 2));
    for outcome in [Outcome::Ack(None), Outcome::Release(0)] {
        let error = b.settle(id, Some(old.row.lease), outcome).await.unwrap_err();
        assert_eq!((error.status, reason(&error)), (409, "stale_lease"));
    }
    assert_eq!(reason(&b.nack(&old, r#"{"code":"x","message":"m"}"#).await.unwrap_err()), "stale_lease");
    assert_eq!(b.get(id).await.row, new.row, "the newer attempt is untouched");
    b.ack(&new).await.unwrap();
    assert_eq!(reason(&b.ack(&old).await.unwrap_err()), "stale_lease", "also after the end");
}

/// Scenario 12: the first answer was lost on the wire.
async fn scenario_12_a_repeated_outcome_is_answered_again(b: Bench) {
    let id = b.job().await;
    let job = b.claim(1).await.remove(0);
    b.ack(&job).await.unwrap();
    assert_eq!(b.ack(&job).await.unwrap().row.state, JobState::Completed);
    // Without the token it is a second ack like any other.
    assert_eq!(b.settle(id, None, Outcome::Ack(None)).await.unwrap_err().status, 409);

    b.job().await;
    let job = b.claim(1).await.remove(0);
    let error = r#"{"code":"x","message":"m"}"#;
    b.nack(&job, error).await.unwrap();
    assert_eq!(b.nack(&job, error).await.unwrap().row.state, JobState::Retryable);
    let history = b.get(job.row.id).await.history.errors;
    assert_eq!(history.matches("occurred_at").count(), 1, "one failure, one entry");
}

async fn another_workers_outcome_is_refused(b: Bench) {
    let id = b.job().await;
    b.claim_for(Some("other"), &["q"], 1).await;
    let error = b.settle(id, None, Outcome::Ack(None)).await.unwrap_err();
    assert_eq!((error.status, reason(&error)), (409, "lease_owner"));
    assert_eq!(b.state(id).await, JobState::Active);
}

async fn an_expired_lease_returns_the_job_at_once(b: Bench) {
    let id = b.job().await;
    b.claim(1).await;
    b.advance(seconds(29)).await;
    assert_eq!(b.state(id).await, JobState::Active);
    b.advance(seconds(1)).await;
    let view = b.get(id).await;
    assert_eq!((view.row.state, view.row.attempt), (JobState::Available, 1), "no back-off, the attempt counts");
    assert!(view.history.errors.contains("visibility_timeout"));
}

/// A job that kills its workers must not do so for ever.
async fn spent_attempts_end_an_expired_job(b: Bench) {
    let id = b
        .enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","retry":{"max_attempts":2,"on_exhaustion":"dead_letter"}}}"#)
        .await;
    for _ in 0..2 {
        assert_eq!(b.claim(1).await.len(), 1);
        b.advance(seconds(31)).await;
    }
    assert_eq!(b.state(id).await, JobState::Discarded);
    assert_eq!(b.dead(Default::default()).await.0, [id]);
}

async fn heartbeats_keep_a_lease(b: Bench) {
    let id = b.job().await;
    let job = b.claim(1).await.remove(0);
    for _ in 0..10 {
        b.advance(seconds(20)).await;
        assert_eq!(b.beat("w", &[(id, Some(job.row.lease))]).await.0, [id]);
    }
    assert_eq!(b.get(id).await.row.lease_until, b.now() + 30_000, "full length again, not added up");
    b.ack(&job).await.unwrap();
}

async fn heartbeats_do_not_extend_the_execution_time(b: Bench) {
    let id = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","timeout_ms":50000}}"#).await;
    b.claim(1).await;
    b.advance(seconds(25)).await;
    b.beat("w", &[(id, None)]).await;
    b.advance(seconds(25)).await;
    let view = b.get(id).await;
    assert_eq!(view.row.state, JobState::Retryable);
    assert!(view.history.errors.contains("\"timeout_kind\":\"execution\""));
}

async fn a_heartbeat_with_a_stale_token_extends_nothing(b: Bench) {
    let id = b.job().await;
    let old = b.claim(1).await.remove(0);
    b.advance(seconds(31)).await;
    let new = b.claim_for(Some("other"), &["q"], 1).await.remove(0);
    b.advance(seconds(10)).await;
    assert!(b.beat("w", &[(id, Some(old.row.lease))]).await.0.is_empty());
    assert!(b.beat("w", &[(id, None)]).await.0.is_empty(), "held by another worker");
    assert_eq!(b.get(id).await.row.lease_until, new.row.lease_until);
}

/// Scenario 1: much sooner than the lease.
async fn scenario_01_a_dead_worker_loses_its_jobs_at_once(b: Bench) {
    let claim = ojs_engine::command::Claim {
        queues: vec!["q".into()],
        count: 5,
        worker: Some("w".into()),
        visibility_ms: Some(3_600_000),
        ..Default::default()
    };
    let id = b.job().await;
    let jobs = b.exchange(vec![], Some(claim)).await.1;
    b.beat("w", &[(id, Some(jobs[0].row.lease))]).await;
    b.advance(seconds(29)).await;
    assert_eq!(b.state(id).await, JobState::Active);
    b.advance(seconds(2)).await;
    let view = b.get(id).await;
    assert_eq!(view.row.state, JobState::Available);
    assert!(view.history.errors.contains("worker_death"));
    let (events, _, _) = b.events(Default::default()).await;
    assert!(events.iter().any(|event| event.name == "worker.stopped"));
    // Scenario 5: it comes back under the same name and hides nothing.
    let again = b.claim(1).await.remove(0);
    assert_eq!((again.row.id, again.row.attempt), (id, 2));
}

async fn a_worker_that_never_beats_is_not_dead(b: Bench) {
    let claim = ojs_engine::command::Claim {
        queues: vec!["q".into()],
        count: 1,
        worker: Some("w".into()),
        visibility_ms: None,
        ..Default::default()
    };
    let id = b.job().await;
    b.exchange(vec![], Some(claim)).await;
    b.advance(seconds(600)).await;
    assert_eq!(b.state(id).await, JobState::Active);
}

async fn a_released_job_is_not_charged(b: Bench) {
    let id = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","retry":{"max_attempts":1}}}"#).await;
    for _ in 0..5 {
        let job = b.claim(1).await.remove(0);
        let row = b.settle(id, Some(job.row.lease), Outcome::Release(0)).await.unwrap().row;
        assert_eq!(row.state, JobState::Available);
    }
    let view = b.get(id).await;
    assert_eq!((view.row.attempt, view.row.charged()), (5, 0));
    assert!(view.history.errors.is_empty());
    let job = b.claim(1).await.remove(0);
    assert_eq!(b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap().row.state, JobState::Discarded);
}

async fn a_snoozed_job_comes_back_later(b: Bench) {
    let id = b.job().await;
    let job = b.claim(1).await.remove(0);
    b.settle(id, Some(job.row.lease), Outcome::Release(5_000)).await.unwrap();
    b.advance(seconds(4)).await;
    assert!(b.claim(1).await.is_empty());
    b.advance(seconds(1)).await;
    assert_eq!(b.claim(1).await.len(), 1);
}

async fn an_execution_timeout_goes_through_the_retry_policy(b: Bench) {
    let id = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","timeout_ms":2000,"retry":{"max_attempts":2,"initial_interval":"PT1S","jitter":false}}}"#).await;
    b.claim(1).await;
    b.advance(seconds(2)).await;
    assert_eq!(b.state(id).await, JobState::Retryable);
    b.advance(seconds(1)).await;
    b.claim(1).await;
    b.advance(seconds(2)).await;
    assert_eq!(b.state(id).await, JobState::Discarded);
    assert!(b.story(id).await.contains(&"job.timeout".to_owned()));
}

async fn a_job_cancelled_while_held_is_reported(b: Bench) {
    let id = b.job().await;
    let job = b.claim(1).await.remove(0);
    b.change(Cancel(id)).await.unwrap();
    let (extended, cancelled): (Vec<JobId>, Vec<JobId>) = b.beat("w", &[(id, Some(job.row.lease))]).await;
    assert_eq!((extended, cancelled), (vec![], vec![id]));
    let error = b.ack(&job).await.unwrap_err();
    assert_eq!(error.details.unwrap()["current_state"], "cancelled");
    let row = b.get(id).await.row;
    assert_eq!((row.state, row.attempt, row.started_at > 0), (JobState::Cancelled, 1, true));
}
