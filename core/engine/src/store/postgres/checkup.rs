//! What an operator should know about a database: looked at from outside, changing nothing.
use std::time::Duration;

use super::connection::{Ask, Db};
use super::rows::get;
use super::{Target, migrations};
use crate::error::Result;
use crate::kernel::clock::{Clock, SystemClock};
use crate::store::schema::Remark;

/// Clocks of a server and its database may differ by so much without effect.
const MAX_SKEW_MS: i64 = 2_000;
/// Dead rows beside the living ones that autovacuum should have removed.
const MANY_DEAD: i64 = 1_000_000;

/// Looks at a database.
///
/// # Errors
/// When it cannot be reached or asked.
pub fn checkup(url: &str, direct: Option<&str>, longest: Duration) -> Result<Vec<Remark>> {
    let mut db = Db::open(Target::new(url)?)?;
    let pooled = !db.session().named;
    let mut remarks = vec![Remark::version(migrations::current(&mut db)?, migrations::newest(), ""), pooler(pooled, direct)];
    remarks.extend(server(&mut db)?);
    remarks.push(transactions(&mut db, longest.as_secs())?);
    Ok(remarks)
}

fn pooler(pooled: bool, direct: Option<&str>) -> Remark {
    match (pooled, direct) {
        (false, _) => Remark::fine("connection", "direct: wake-ups between nodes work"),
        (true, Some(direct)) => match Target::new(direct).and_then(Db::open).map(|db| db.session().named) {
            Ok(true) => Remark::fine("connection", "through a pooler, with a direct one for wake-ups"),
            Ok(false) => Remark::wrong("connection", "direct= leads through a pooler as well: name the database itself there"),
            Err(fault) => Remark::wrong("connection", format!("direct= cannot be used: {fault}")),
        },
        (true, None) => Remark::wrong(
            "connection",
            "a pooler in transaction mode and no direct connection: jobs of other nodes are found by polling. Add direct=postgres://… \
             to the URL",
        ),
    }
}

fn server(db: &mut Db) -> Result<Vec<Remark>> {
    let asked = SystemClock.now().as_millis();
    let answers = db.ask(None, &[Ask::new(sql!("checkup_server"), &[])])?;
    let answered = SystemClock.now().as_millis();
    let Some(row) = answers.iter().flat_map(|answer| &answer.rows).next() else { return Ok(Vec::new()) };
    let (now, durable, vacuum): (i64, bool, bool) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
    let (dead, living): (i64, i64) = (get(row, 3)?, get(row, 4)?);
    let (connections, most): (i64, i64) = (get(row, 5)?, get(row, 6)?);
    // It was read in between: only what lies outside is a difference.
    let skew = (now - answered).max(0) + (now - asked).min(0);
    Ok(vec![
        if skew.abs() > MAX_SKEW_MS {
            Remark::wrong(
                "database clock",
                format!("{skew} ms from this machine's. Leases use the database's alone; fix it with NTP"),
            )
        } else {
            Remark::fine("database clock", format!("within {} ms of this machine's", skew.abs()))
        },
        if durable {
            Remark::fine("durability", "commits are on disk when they are confirmed")
        } else {
            Remark::wrong("durability", "fsync or synchronous_commit is off: a crash loses confirmed jobs")
        },
        match (vacuum, dead > MANY_DEAD.max(living.saturating_mul(2))) {
            (false, _) => Remark::wrong("vacuum", "autovacuum is off: the tables grow and claims become slow. Transaction it on"),
            (true, true) => Remark::wrong(
                "vacuum",
                format!(
                    "{dead} dead rows beside {living}: autovacuum does not keep up. Look for long transactions; give it more workers"
                ),
            ),
            (true, false) => Remark::fine("vacuum", format!("{dead} dead rows beside {living}")),
        },
        if connections.saturating_mul(10) > most.saturating_mul(9) {
            Remark::wrong("connections", format!("{connections} of {most} are taken: raise max_connections or use a pooler"))
        } else {
            Remark::fine("connections", format!("{connections} of {most}"))
        },
    ])
}

/// Transactions that stay open hold back vacuum, and every outbox that waits for them.
fn transactions(db: &mut Db, longest: u64) -> Result<Remark> {
    let seconds = i64::try_from(longest).unwrap_or(i64::MAX);
    let answers = db.ask(None, &[Ask::new(sql!("checkup_transactions"), &[&seconds])])?;
    let mut found = Vec::new();
    for row in answers.iter().flat_map(|answer| &answer.rows) {
        let (pid, name, state, seconds): (i32, String, Option<String>, i64) =
            (get(row, 0)?, get(row, 1)?, get(row, 2)?, get(row, 3)?);
        found.push(format!("{name} (pid {pid}, {}, {seconds} s)", state.as_deref().unwrap_or("unknown")));
    }
    Ok(if found.is_empty() {
        Remark::fine("transactions", format!("none is open for more than {longest} s"))
    } else {
        Remark::wrong(
            "transactions",
            format!("open for more than {longest} s: {}. They hold back vacuum: end them", found.join(", ")),
        )
    })
}
