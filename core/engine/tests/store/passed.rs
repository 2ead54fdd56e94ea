//! Available jobs that another transaction holds for a moment.
use serde_json::json;

use crate::nodes::application;
use crate::support::Bench;

/// How often a request may come too late for the situation that the test is about.
const ROUNDS: usize = 20;

/// A claim that does not wait steps over a job that another transaction holds, and looks again when that one has ended.
#[tokio::test]
async fn a_claim_that_does_not_wait_looks_again_for_a_job_that_was_held() {
    let b = Bench::postgres().await;
    let mut application = application(&b).await;
    let held = b.job().await;
    for _ in 0..ROUNDS {
        let other = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"other"}}"#).await;
        let running = b.claim_for(Some("w"), &["other"], 1).await.remove(0);
        let holder = application.transaction().await.unwrap();
        holder.execute(&format!("SELECT FROM ojs_runs WHERE id = '{held}' FOR UPDATE"), &[]).await.unwrap();
        let outcome = json!({"job_id": other, "lease_token": running.row.lease});
        let body = json!({"queues": ["q"], "count": 1, "worker_id": "w", "outcomes": [outcome]}).to_string();
        let exchange = b.http("POST", "/workers/exchange", &body);
        let release = async {
            // The first look and the ack are one transaction, so the first look is over when the job has ended.
            while !b.state(other).await.is_terminal() {
                tokio::task::yield_now().await;
            }
            holder.rollback().await.unwrap();
        };
        let ((status, answer), ()) = tokio::join!(exchange, release);
        assert_eq!((status, &answer["results"][0]["state"]), (200, &json!("completed")), "{answer}");
        if let Some(job) = answer["jobs"].as_array().unwrap().first() {
            assert_eq!(job["id"], json!(held));
            return;
        }
    }
    panic!("the job was never found, although its holder ended while the request was under way");
}
