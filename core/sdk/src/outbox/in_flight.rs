//! Which rows of a MySQL outbox may be sent: numbers are given out before the commit, and there is no lock to ask about as in PostgreSQL.
//!
//! Two signs of a transaction that may still commit a number below one that is visible:
//! - it shares the lock of a slot of the gate (rows staged by an SDK take it before they take their number);
//! - it has a row that only a look at uncommitted rows shows (rows inserted by plain SQL too).
//!
//! Both are read without waiting for a transaction; decision 32 has the reasons.
use std::collections::HashSet;

use super::database::{Database, DatabaseError, Rows, Value};
use super::dialect::{Dialect, FREE_SLOTS, HIGHEST_MYSQL, NUMBERS, SLOTS, Table, UNCOMMITTED};
use super::gate::Gate;

/// Looks, and returns the highest number that may be sent.
pub(super) async fn observe(database: &dyn Database, table: &Table, gate: &mut Gate) -> Result<i64, DatabaseError> {
    let after = ("after", Value::from(gate.settled()));
    let highest = database.run(vec![Dialect::bound(HIGHEST_MYSQL, table, std::slice::from_ref(&after))]).await?;
    let highest = highest.first().and_then(|rows| numbers(rows).next()).unwrap_or(0);
    let upto = highest.max(gate.observed());
    if upto <= gate.settled() {
        return Ok(gate.settled());
    }
    let rows = Dialect::bound(NUMBERS, table, &[after, ("upto", Value::from(upto))]);
    let [uncommitted, slots, free] = [UNCOMMITTED, SLOTS, FREE_SLOTS].map(|sql| Dialect::plain(sql, table));
    // Uncommitted first: what is missing in the second look was not committed at the time of the first.
    let answers = database.run(vec![uncommitted, rows.clone(), rows, slots, free]).await?;
    let [_, all, committed, slots, free] = answers.as_slice() else { return Ok(gate.settled()) };
    let holders = missing("row", all, committed).chain(missing("slot", slots, free)).collect();
    Ok(gate.observe(upto, holders))
}

fn numbers(rows: &Rows) -> impl Iterator<Item = i64> {
    rows.iter().filter_map(|row| row.first()?.integer())
}

fn missing(name: &str, all: &Rows, present: &Rows) -> impl Iterator<Item = String> {
    let present: HashSet<i64> = numbers(present).collect();
    numbers(all).filter(move |number| !present.contains(number)).map(move |number| format!("{name} {number}"))
}
