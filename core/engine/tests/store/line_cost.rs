//! What a claim reads to find the lines of a queue does not grow with their jobs. Measured in steps of SQLite.
use rusqlite::{Connection, Params, StatementStatus};
use serde_json::json;

use crate::support::Bench;

/// Jobs of the longest line.
const HEAVY: usize = 5_000;
/// Steps of SQLite's machine for a look-up of three lines. A job that is read on the way takes several.
const MOST: i32 = 1_000;

/// How many rows a statement has found; fails when it took too many steps.
fn found(b: &Bench, sql: &str, params: impl Params) -> usize {
    let connection = Connection::open(b.dir.path().join("jobs.db")).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let found = statement.query_map(params, |row| row.get::<_, Option<i64>>(0)).unwrap().filter(Result::is_ok).count();
    let steps = statement.reset_status(StatementStatus::VmStep);
    assert!(steps <= MOST, "{steps} steps");
    found
}

#[tokio::test]
async fn the_next_keys_of_a_shared_queue_are_found_without_reading_the_jobs_of_those_before() {
    let b = Bench::sqlite().await;
    b.share(json!({})).await;
    for (tenant, jobs) in [("heavy", HEAVY), ("a", 1), ("b", 1)] {
        b.fill(tenant, jobs, json!({})).await;
    }
    let connection = Connection::open(b.dir.path().join("jobs.db")).unwrap();
    let first = "SELECT queue, nprio, min(fair) FROM jobs WHERE fair > 0 AND state = 1";
    let (queue, rank, heavy): (i64, i64, i64) =
        connection.query_row(first, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    for (after, keys) in [(0, 3), (heavy, 2)] {
        assert_eq!(found(&b, include_str!("../../src/store/sqlite/sql/fair_keys.sql"), [queue, rank, after, 3]), keys);
    }
}

#[tokio::test]
async fn the_lines_of_versions_are_found_without_reading_their_jobs() {
    let b = Bench::sqlite().await;
    let job = |job_type: &str, version: usize| {
        format!(r#"{{"type":"{job_type}","args":[],"version":{version},"options":{{"queue":"q"}}}}"#)
    };
    let heavy = job("mail", 1);
    for _ in 0..HEAVY / 100 {
        b.try_enqueue(&[heavy.as_str(); 100]).await.unwrap();
    }
    b.try_enqueue(&[&job("mail", 2), &job("report", 1)]).await.unwrap();
    let connection = Connection::open(b.dir.path().join("jobs.db")).unwrap();
    let queue: i64 = connection.query_row("SELECT queue FROM jobs LIMIT 1", [], |row| row.get(0)).unwrap();
    assert_eq!(found(&b, include_str!("../../src/store/sqlite/sql/version_lines.sql"), [queue]), 3);
}
