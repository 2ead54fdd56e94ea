//! A queue becomes shared while other transactions of its database hold its jobs, or change how it is shared.
use std::time::Duration;

use ojs_model::JobId;
use serde_json::json;
use tokio_postgres::{Client, Transaction};

use crate::fair::{counted, given, tenant};
use crate::nodes::{application, second_node};
use crate::support::Bench;

/// How often the situation that a test is about may fail to arise: a sweep in the background has come first.
const ROUNDS: usize = 20;
/// What a busy machine needs at most.
const PATIENCE: Duration = Duration::from_secs(60);

/// Locks the rows of jobs.
async fn hold(holder: &Transaction<'_>, jobs: &[JobId]) {
    let ids: Vec<String> = jobs.iter().map(|id| format!("'{id}'")).collect();
    let sql = format!("SELECT FROM ojs_runs WHERE id IN ({}) FOR UPDATE", ids.join(","));
    assert_eq!(holder.query(&sql, &[]).await.unwrap().len(), jobs.len());
}

/// Waits until something is so.
async fn until(is_so: impl AsyncFn() -> bool) {
    let wait = async {
        while !is_so().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("what the test waits for");
}

/// Whether a transaction of the database waits for one that holds a row.
async fn is_held_up(client: &Client) -> bool {
    let waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() \
        AND wait_event_type = 'Lock' AND wait_event IN ('transactionid', 'tuple')";
    !client.query(waiting, &[]).await.unwrap().is_empty()
}

#[tokio::test]
async fn jobs_that_another_transaction_holds_are_brought_into_their_lines_when_it_has_ended() {
    let b = Bench::postgres().await;
    b.fill("a", 10, json!({})).await;
    let held = b.fill("b", 10, json!({})).await;
    let mut application = application(&b).await;
    let holder = application.transaction().await.unwrap();
    hold(&holder, &held).await;
    b.share(json!({})).await;
    assert_eq!(counted(b.claim(2).await.iter().map(tenant)), given(&[("a", 2)]));
    holder.rollback().await.unwrap();
    assert_eq!(counted(b.claim(6).await.iter().map(tenant)), given(&[("a", 3), ("b", 3)]));
}

/// A worker that takes some types only looks again after five seconds by itself. It waits for four.
#[tokio::test]
async fn a_fetch_that_passed_over_jobs_being_sorted_is_called_when_they_stand_in_their_lines() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let jobs = b.fill("a", 10, json!({})).await;
    let acked = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"other"}}"#).await;
    let running = b.claim_for(Some("w"), &["other"], 1).await.remove(0);
    let [mut first, mut second, client] = [application(&b).await, application(&b).await, application(&b).await];
    let holder = first.transaction().await.unwrap();
    hold(&holder, &jobs).await;
    b.share(json!({})).await;
    // Who sorts the jobs now, a claim or a sweep, waits before it notes that all are sorted, and holds them.
    let gate = second.transaction().await.unwrap();
    gate.execute("SELECT FROM ojs_fair_queues FOR UPDATE", &[]).await.unwrap();
    holder.rollback().await.unwrap();
    let outcome = json!({"job_id": acked, "lease_token": running.row.lease});
    let body = json!({
        "queues": ["q"], "types": ["t"], "count": 1, "worker_id": "w", "wait_ms": 4_000, "outcomes": [outcome],
    });
    let fetching = async {
        until(async || is_held_up(&client).await).await;
        b.http("POST", "/workers/exchange", &body.to_string()).await
    };
    let release = async {
        // The first look and the ack are one transaction, so the first look is over when the job has ended.
        until(async || b.state(acked).await.is_terminal()).await;
        gate.rollback().await.unwrap();
    };
    let (_, (status, answer), ()) = tokio::join!(other.claim(1), fetching, release);
    assert_eq!((status, answer["jobs"].as_array().unwrap().len()), (200, 1), "{answer}");
}

#[tokio::test]
async fn what_an_operator_changes_stays_when_a_claim_notes_that_all_jobs_are_sorted() {
    let b = Bench::postgres().await;
    b.fill("a", 2 * ROUNDS, json!({})).await;
    b.share(json!({})).await;
    let (mut application, client) = (application(&b).await, application(&b).await);
    for _ in 0..ROUNDS {
        let begin = "UPDATE ojs_fair_queues SET sorting = 1; UPDATE ojs_epoch SET value = value + 1";
        application.batch_execute(begin).await.unwrap();
        let change = application.transaction().await.unwrap();
        change.execute("UPDATE ojs_fair_queues SET default_weight = 7", &[]).await.unwrap();
        let mut claim = Box::pin(b.claim(1));
        let is_late = tokio::select! {
            _ = &mut claim => true,
            () = until(async || is_held_up(&client).await) => false,
        };
        if is_late {
            // A sweep in the background has noted it before the change.
            change.rollback().await.unwrap();
            continue;
        }
        change.execute("UPDATE ojs_epoch SET value = value + 1", &[]).await.unwrap();
        change.commit().await.unwrap();
        claim.await;
        assert_eq!(b.http("GET", "/admin/queues/q/fairness", "").await.1["default_weight"], 7);
        return;
    }
    panic!("no claim has met the change");
}
