//! On PostgreSQL a claim and an ack find their rows by number, also by plans that were made
//! for a store without jobs.
use serde_json::json;
use tokio_postgres::Client;

use crate::nodes::application;
use crate::support::Bench;

/// Jobs that have been completed before.
const DONE: usize = 2_000;
/// Jobs that are claimed and acked one by one.
const CLAIMS: usize = 50;
/// Rows that an exchange may read by number: it acks one job and claims the next.
const MOST: i64 = 20;

/// How many entries of the index of job numbers have been read. Connections tell it at their end.
async fn read_by_number(client: &Client) -> i64 {
    let others = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    while !client.query(others, &[]).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let sql = "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'ojs_runs_pkey'";
    client.query_one(sql, &[]).await.unwrap().get(0)
}

async fn fill(b: &Bench, count: usize) {
    let job = json!({"type": "t", "args": [], "options": {"queue": "q"}}).to_string();
    b.try_enqueue(&vec![job.as_str(); count]).await.unwrap();
}

#[tokio::test]
async fn exchanges_in_a_small_database_do_not_read_all_its_jobs() {
    let b = Bench::postgres().await;
    let client = application(&b).await;
    // The server takes the tables for empty, as after a VACUUM of a new database.
    client.batch_execute("VACUUM (ANALYZE)").await.unwrap();
    // Statements are planned while there is one job.
    fill(&b, 1).await;
    let job = b.claim(1).await.remove(0);
    b.ack(&job).await.unwrap();
    fill(&b, DONE).await;
    for job in b.claim(DONE).await {
        b.ack(&job).await.unwrap();
    }
    let b = b.reopened().await;
    fill(&b, CLAIMS).await;
    for _ in 0..CLAIMS {
        let job = b.claim(1).await.remove(0);
        b.ack(&job).await.unwrap();
    }
    b.engine.close().await;
    let read = read_by_number(&client).await;
    let most = MOST * (DONE + CLAIMS) as i64;
    assert!(read <= most, "{read} rows were read, {most} would be enough");
}
