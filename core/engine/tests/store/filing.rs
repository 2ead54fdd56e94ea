//! Claims on PostgreSQL are filed as batches, and lines are read from where the last claim ended: neither may lose a job.
use std::time::Duration;

use ojs_engine::command::{Cancel, Claim, Outcome};
use ojs_model::JobState;

use crate::nodes::{advance_together, application, second_node};
use crate::support::{Bench, seconds};

/// Rows of a statement that gives one number.
async fn number(b: &Bench, sql: &str) -> i64 {
    application(b).await.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn no_index_hangs_on_what_a_completion_changes() {
    let b = Bench::postgres().await;
    let changed = "state|worker|pos|finished_at|lease|lease_until";
    let sql = format!("SELECT count(*) FROM pg_indexes WHERE tablename = 'ojs_runs' AND indexdef ~ '\\m({changed})\\M'");
    assert_eq!(number(&b, &sql).await, 0, "an ack would have to touch every index");
    assert!(number(&b, "SELECT count(*) FROM pg_indexes WHERE tablename = 'ojs_runs'").await > 5);
}

#[tokio::test]
async fn a_batch_is_taken_apart_and_its_active_jobs_keep_their_deadlines() {
    let b = Bench::postgres().await;
    for _ in 0..3 {
        b.job().await;
    }
    let jobs = b.claim(3).await;
    b.ack(&jobs[0]).await.unwrap();
    assert_eq!(number(&b, "SELECT count(*) FROM ojs_claims").await, 1);
    assert_eq!(number(&b, "SELECT count(*) FROM ojs_active").await, 2);
    b.advance(seconds(3)).await;
    assert_eq!(number(&b, "SELECT count(*) FROM ojs_claims").await, 0);
    assert_eq!(number(&b, "SELECT count(*) FROM ojs_active").await, 2);
    assert_eq!(number(&b, "SELECT count(*) FROM ojs_runs WHERE place = 3").await, 2);
    b.ack(&jobs[1]).await.unwrap();
    b.advance(seconds(28)).await;
    let states = [b.state(jobs[0].row.id).await, b.state(jobs[1].row.id).await, b.state(jobs[2].row.id).await];
    assert_eq!(states[..2], [JobState::Completed, JobState::Completed]);
    assert_ne!(states[2], JobState::Active, "its lease has run out");
}

#[tokio::test]
async fn a_batch_ends_with_its_last_job() {
    let b = Bench::postgres().await;
    for _ in 0..5 {
        b.job().await;
    }
    let (first, second) = (b.claim(3).await, b.claim(2).await);
    assert_eq!(number(&b, "SELECT count(*) FROM ojs_claims").await, 2);
    b.ack(&first[0]).await.unwrap();
    b.settle(first[1].row.id, Some(first[1].row.lease), Outcome::Release(0)).await.unwrap();
    assert_eq!(number(&b, "SELECT count(*) FROM ojs_claims").await, 2);
    b.ack(&first[2]).await.unwrap();
    assert_eq!(number(&b, "SELECT count(*) FROM ojs_claims").await, 1, "its last job has ended: nothing to take apart");
    // By two writers at a time.
    let (one, other) = tokio::join!(b.ack(&second[0]), b.ack(&second[1]));
    assert!(one.is_ok() && other.is_ok());
    let last = b.claim(1).await;
    b.ack(&last[0]).await.unwrap();
    // A batch that two writers have ended goes with the next transaction of this node. That may be one of maintenance,
    // which is still under way. Time stands still here: nothing is taken apart meanwhile.
    let none = async { while number(&b, "SELECT count(*) FROM ojs_claims").await > 0 {} };
    tokio::time::timeout(seconds(60), none).await.expect("no batch is left");
    assert_eq!(number(&b, "SELECT count(*) FROM ojs_active").await, 0);
}

#[tokio::test]
async fn a_lease_shorter_than_the_filing_ends_in_time() {
    let b = Bench::postgres().await;
    let id = b.job().await;
    let claim =
        Claim { queues: vec!["q".into()], count: 1, worker: Some("w".into()), visibility_ms: Some(1_000), ..Claim::default() };
    assert_eq!(b.exchange(Vec::new(), Some(claim)).await.1.len(), 1);
    b.advance(Duration::from_millis(1_100)).await;
    assert_ne!(b.state(id).await, JobState::Active);
}

#[tokio::test]
async fn a_heartbeat_takes_a_job_out_of_its_batch() {
    let b = Bench::postgres().await;
    let id = b.job().await;
    let job = b.claim(1).await.remove(0);
    b.clock.advance(seconds(1));
    assert_eq!(b.beat("w", &[(id, Some(job.row.lease))]).await.0, [id]);
    assert_eq!(number(&b, "SELECT count(*) FROM ojs_active").await, 1, "once, though it is still in the batch");
    b.advance(seconds(29)).await;
    assert_eq!(b.state(id).await, JobState::Active);
    b.advance(seconds(2)).await;
    assert_ne!(b.state(id).await, JobState::Active);
}

#[tokio::test]
async fn a_job_that_another_node_took_back_is_not_lost_with_its_next_batch() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let id = b.job().await;
    let first = b.claim(1).await.remove(0);
    advance_together(&b, &other, seconds(3)).await;
    assert_eq!(number(&b, "SELECT count(*) FROM ojs_claims").await, 0, "the batch of the first claim is taken apart");
    // This node does not hear of it: it still remembers the job, and that batch.
    other.settle(id, Some(first.row.lease), Outcome::Release(0)).await.unwrap();
    let neighbour = b.job().await;
    let both = b.claim(2).await;
    assert_eq!(both.len(), 2);
    b.ack(both.iter().find(|job| job.row.id == neighbour).unwrap()).await.unwrap();
    assert_eq!(number(&b, "SELECT count(*) FROM ojs_active").await, 1, "still filed, or indexed");
    advance_together(&b, &other, seconds(31)).await;
    assert_ne!(b.state(id).await, JobState::Active, "its lease has run out");
}

#[tokio::test]
async fn a_claim_of_the_version_before_is_found_by_its_deadline() {
    let b = Bench::postgres().await;
    let id = b.job().await;
    // What version 3 wrote: it knows nothing of batches. Its events and counts are left out here.
    b.audited.damaged();
    let sql = format!(
        "UPDATE ojs_runs SET state = 3, attempt = 1, lease = 77, worker = 0, pos = {0}, lease_until = {0}, deadline = {0} WHERE id = '{id}'",
        b.now() + 5_000
    );
    application(&b).await.batch_execute(&sql).await.unwrap();
    assert_eq!(number(&b, "SELECT count(*) FROM ojs_active").await, 1);
    b.advance(seconds(6)).await;
    assert_ne!(b.state(id).await, JobState::Active);
}

#[tokio::test]
async fn nothing_before_the_place_of_the_last_claim_is_lost() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(b.job().await);
    }
    let first = b.claim(2).await;
    // Available again at another node, and of higher priority.
    other.settle(first[0].row.id, Some(first[0].row.lease), Outcome::Release(0)).await.unwrap();
    let urgent = other.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","priority":9}}"#).await;
    assert_eq!(b.claim(1).await[0].row.id, urgent, "a higher priority is never passed over");
    // A row that a slower transaction stores before the place which was reached.
    let sql = format!("UPDATE ojs_runs SET pos = 1 WHERE id = '{}'", ids[5]);
    application(&b).await.batch_execute(&sql).await.unwrap();
    let mut rest: Vec<_> = b.claim(10).await.iter().map(|job| job.row.id).collect();
    rest.sort();
    let mut wanted = vec![ids[0], ids[2], ids[3], ids[4], ids[5]];
    wanted.sort();
    assert_eq!(rest, wanted);
    assert!(b.change(Cancel(ids[2])).await.is_ok());
}
