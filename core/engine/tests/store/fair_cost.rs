//! What a claim of a shared queue reads does not grow with the jobs of a heavy tenant. Measured in steps of SQLite.
use rusqlite::{Connection, StatementStatus};
use serde_json::json;

use crate::support::Bench;

/// Jobs of the heavy tenant.
const HEAVY: usize = 5_000;
/// Steps of SQLite's machine for a look-up of three keys. A job that is read on the way takes several.
const MOST: i32 = 1_000;

#[tokio::test]
async fn the_next_keys_are_found_without_reading_the_jobs_of_those_before() {
    let b = Bench::sqlite().await;
    b.share(json!({})).await;
    for (tenant, jobs) in [("heavy", HEAVY), ("a", 1), ("b", 1)] {
        b.fill(tenant, jobs, json!({})).await;
    }
    let connection = Connection::open(b.dir.path().join("jobs.db")).unwrap();
    let first = "SELECT queue, nprio, min(fair) FROM jobs WHERE fair > 0 AND state = 1";
    let (queue, rank, heavy): (i64, i64, i64) =
        connection.query_row(first, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let mut statement = connection.prepare(include_str!("../../src/store/sqlite/sql/fair_keys.sql")).unwrap();
    for (after, found) in [(0, 3), (heavy, 2)] {
        let keys = statement.query_map([queue, rank, after, 3], |row| row.get::<_, Option<i64>>(0)).unwrap();
        assert_eq!(keys.count(), found);
        let steps = statement.reset_status(StatementStatus::VmStep);
        assert!(steps <= MOST, "{steps} steps after key {after}");
    }
}
