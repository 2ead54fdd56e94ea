//! A client that uses lease tokens is settled by its tokens only; names and times of requests have bounds.
use ojs_engine::command::{Claim, Outcome, OutcomeReport};
use ojs_engine::job::JobView;
use ojs_model::{JobError, JobState};
use serde_json::json;

use crate::on_every_store;
use crate::support::Bench;

on_every_store!(
    a_fenced_claim_needs_its_token,
    a_claim_without_tokens_is_settled_as_before,
    the_token_does_not_work_under_another_name,
);

async fn fenced(b: &Bench, worker: &str) -> JobView {
    let claim = Claim { queues: vec!["q".into()], count: 1, worker: Some(worker.into()), fenced: true, ..Claim::default() };
    b.exchange(Vec::new(), Some(claim)).await.1.remove(0)
}

fn report(job: &JobView, lease: Option<i64>, worker: Option<&str>, outcome: Outcome) -> OutcomeReport {
    OutcomeReport { job: job.row.id, lease, worker: worker.map(str::to_owned), outcome, want_job: false }
}

fn failure() -> Outcome {
    Outcome::Nack(Box::new(JobError::parse(&json!({"code": "x", "message": "m"})).unwrap()))
}

async fn a_fenced_claim_needs_its_token(b: Bench) {
    b.job().await;
    let job = fenced(&b, "w").await;
    for outcome in [Outcome::Ack(None), failure(), Outcome::Release(0)] {
        // The name of the holder proves nothing: any client can write it.
        for worker in [None, Some("w")] {
            let error = b.exchange(vec![report(&job, None, worker, outcome.clone())], None).await.0.remove(0).unwrap_err();
            let reason = error.details.as_ref().and_then(|details| details["reason"].as_str());
            assert_eq!((error.status, reason), (409, Some("lease_token_required")));
        }
    }
    assert!(b.beat("w", &[(job.row.id, None)]).await.0.is_empty(), "a heartbeat without the token extends nothing");
    assert_eq!(b.beat("w", &[(job.row.id, Some(job.row.lease))]).await.0, [job.row.id]);
    assert_eq!(b.state(job.row.id).await, JobState::Active);
    b.ack(&job).await.unwrap();
    assert_eq!(b.state(job.row.id).await, JobState::Completed);
}

async fn a_claim_without_tokens_is_settled_as_before(b: Bench) {
    for _ in 0..3 {
        b.job().await;
        let held = fenced(&b, "w").await;
        b.ack(&held).await.unwrap();
        let id = b.job().await;
        let job = b.claim(1).await.remove(0);
        assert_eq!(b.beat("w", &[(id, None)]).await.0, [id]);
        assert!(b.exchange(vec![report(&job, None, None, Outcome::Ack(None))], None).await.0.remove(0).is_ok());
    }
}

async fn the_token_does_not_work_under_another_name(b: Bench) {
    b.job().await;
    let job = fenced(&b, "w").await;
    let lease = Some(job.row.lease);
    for outcome in [Outcome::Ack(None), failure(), Outcome::Release(0)] {
        let error = b.exchange(vec![report(&job, lease, Some("other"), outcome)], None).await.0.remove(0).unwrap_err();
        assert_eq!(error.details.as_ref().and_then(|details| details["reason"].as_str()), Some("lease_owner"));
    }
    assert!(b.beat("other", &[(job.row.id, lease)]).await.0.is_empty());
    assert_eq!(b.state(job.row.id).await, JobState::Active);
    // A report without a worker's name is told apart by its token.
    assert!(b.exchange(vec![report(&job, lease, None, Outcome::Ack(None))], None).await.0.remove(0).is_ok());
}
