//! Scenario 32: scheduled jobs, however many, do not make a claim longer. Counted in work of the database, not in time: the full form,
//! with a million, is a benchmark (`ojs-bench depth`).
use ojs_engine::store::lists::statement;
use rusqlite::StatementStatus;

use crate::nodes::application;
use crate::support::Bench;

const READY: i64 = 10;
const SCHEDULED: usize = 20_000;

async fn fill(b: &Bench, count: usize, request: &str) {
    for part in vec![request; count].chunks(1_000) {
        b.try_enqueue(part).await.unwrap();
    }
}

/// What the claim costs with nothing else in the queue, and beside the scheduled jobs.
async fn alone_and_beside(b: &Bench, cost: impl AsyncFn() -> i64) -> (i64, i64) {
    fill(b, usize::try_from(READY).unwrap(), r#"{"type":"a","args":[],"options":{"queue":"q"}}"#).await;
    let alone = cost().await;
    fill(b, SCHEDULED, r#"{"type":"a","args":[],"options":{"queue":"q","delay_until":"+PT1H"}}"#).await;
    (alone, cost().await)
}

#[tokio::test]
async fn scenario_32_scheduled_jobs_do_not_slow_claims_on_sqlite() {
    let b = Bench::sqlite().await;
    let file = b.dir.path().join("jobs.db");
    let (alone, beside) = alone_and_beside(&b, async || {
        let connection = rusqlite::Connection::open(&file).unwrap();
        let mut statement = connection.prepare(&statement(include_str!("../../src/store/sqlite/sql/ready.sql"))).unwrap();
        let queue: i64 = connection.query_row("SELECT num FROM queues WHERE name = 'q'", [], |row| row.get(0)).unwrap();
        let found = statement.query_map([queue, READY], |_| Ok(())).unwrap().count();
        assert_eq!(found, 10);
        i64::from(statement.get_status(StatementStatus::VmStep))
    })
    .await;
    assert!(alone > 0 && beside <= 2 * alone, "{alone} steps alone, {beside} beside {SCHEDULED} scheduled jobs");
}

#[tokio::test]
async fn scenario_32_scheduled_jobs_do_not_slow_claims_on_postgres() {
    let b = Bench::postgres().await;
    let client = application(&b).await;
    client
        .batch_execute("SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off")
        .await
        .unwrap();
    let explain =
        format!("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) {}", statement(include_str!("../../src/store/postgres/sql/ready.sql")));
    let (alone, beside) = alone_and_beside(&b, async || {
        let queue: i64 = client.query_one("SELECT num FROM ojs_queues WHERE name = 'q'", &[]).await.unwrap().get(0);
        let lines = client.query(&explain, &[&queue, &READY, &-32_768i16, &-1i64]).await.unwrap();
        let plan = lines.iter().map(|line| line.get::<_, String>(0)).collect::<Vec<_>>().join("\n");
        assert!(plan.contains("rows=10 "), "{plan}");
        // The first line of this kind is the sum: "Buffers: shared hit=34 read=2".
        let pages = plan.lines().find(|line| line.contains("Buffers: ")).unwrap();
        pages.split(['=', ' ']).filter_map(|word| word.parse::<i64>().ok()).sum()
    })
    .await;
    assert!(alone > 0 && beside <= 2 * alone, "{alone} pages alone, {beside} beside {SCHEDULED} scheduled jobs");
}
