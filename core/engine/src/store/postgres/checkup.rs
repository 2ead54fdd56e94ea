//! Checks of a database for operators: read from outside, without changes.
use std::time::Duration;

use super::connection::{Ask, Db};
use super::rows::get;
use super::{Target, drift, migrations};
use crate::error::{Result, StoreError};
use crate::kernel::clock::{Clock, SystemClock};
use crate::store::schema::{Remark, Subject};

/// Clocks of a server and its database may differ by so much without effect.
const MAX_SKEW_MS: i64 = 2_000;
/// Dead rows beside the living ones that autovacuum should have removed.
const MANY_DEAD: i64 = 1_000_000;
/// From this age of the oldest transaction id on, PostgreSQL may soon stop taking writes.
const OLD_TRANSACTION_IDS: i64 = 1_000_000_000;
/// Updates of the hot table below which the share of cheap ones says nothing.
const MANY_UPDATES: i64 = 100_000;

/// Looks at one thing.
///
/// # Errors
/// When the database cannot be reached or asked.
pub fn look(url: &str, direct: Option<&str>, subject: Subject, longest: Duration) -> Result<Vec<Remark>> {
    let mut db = Db::open(Target::new(url)?)?;
    match subject {
        Subject::Schema => {
            let shown = ojs_model::redact::SecretUrl::from(url.to_owned());
            Ok(vec![Remark::version(migrations::current(&mut db)?, migrations::newest(), "", &shown.to_string())])
        }
        Subject::Drift => drift::look(&mut db),
        Subject::Sound => Ok(Vec::new()),
        Subject::Durability => Ok(vec![durability(&figures(&mut db)?.0)]),
        Subject::Vacuum => vacuum(&mut db),
        Subject::Transactions => {
            let seconds = i64::try_from(longest.as_secs()).unwrap_or(i64::MAX);
            Ok(vec![transactions(&mut db, seconds)?, held(&mut db, seconds)?])
        }
        Subject::Connections => {
            let pooled = !db.session().named;
            Ok(vec![pooler(pooled, direct), connections(&figures(&mut db)?.0)])
        }
        Subject::Clock => Ok(vec![clock(figures(&mut db)?.1)]),
    }
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
        )
        .cleared_by("ojs server --store 'postgres://POOLER/DATABASE?direct=postgres://SERVER/DATABASE'"),
    }
}

/// What a database says of itself.
struct Figures {
    durable: bool,
    unlogged: String,
    /// Connections, and how many there may be.
    connections: (i64, i64),
    /// The same of this database; -1 for no bound.
    own: (i64, i64),
    /// The name of this database, quoted where SQL wants that.
    database: String,
}

/// Asks for them, and by how many milliseconds the clock of the database differs from ours.
fn figures(db: &mut Db) -> Result<(Figures, i64)> {
    let asked = SystemClock.now().as_millis();
    let answers = db.ask(None, &[Ask::new(sql!("checkup_server"), &[])])?;
    let answered = SystemClock.now().as_millis();
    let row = answers.iter().flat_map(|answer| &answer.rows).next();
    let row = row.ok_or_else(|| StoreError::Failed("the database says nothing of itself".to_owned()))?;
    let now: i64 = get(row, 0)?;
    // It was read in between: only what lies outside is a difference.
    let skew = (now - answered).max(0) + (now - asked).min(0);
    let figures = Figures {
        durable: get(row, 1)?,
        unlogged: get(row, 2)?,
        connections: (get(row, 3)?, get(row, 4)?),
        own: (get(row, 5)?, get(row, 6)?),
        database: get(row, 7)?,
    };
    Ok((figures, skew))
}

fn clock(skew: i64) -> Remark {
    if skew.abs() > MAX_SKEW_MS {
        let message = format!("{skew} ms from this machine's. Leases use the database's alone; fix it with NTP");
        return Remark::wrong("database clock", message).cleared_by("timedatectl set-ntp true");
    }
    Remark::fine("database clock", format!("within {} ms of this machine's", skew.abs()))
}

fn durability(found: &Figures) -> Remark {
    if !found.durable {
        return Remark::wrong("durability", "fsync or synchronous_commit is off: a crash loses confirmed jobs")
            .cleared_by("ALTER SYSTEM SET fsync = on; ALTER SYSTEM SET synchronous_commit = on; SELECT pg_reload_conf();");
    }
    if !found.unlogged.is_empty() {
        let names = found.unlogged.split(", ").map(|name| format!("ALTER TABLE {name} SET LOGGED;")).collect::<Vec<_>>();
        return Remark::wrong("durability", format!("a crash empties unlogged tables: {}", found.unlogged))
            .cleared_by(names.join(" "));
    }
    Remark::fine("durability", "commits are on disk when they are confirmed")
}

fn connections(found: &Figures) -> Remark {
    let full = |(taken, most): (i64, i64)| most >= 0 && taken.saturating_mul(10) > most.saturating_mul(9);
    let (connections, most) = found.connections;
    if full(found.own) {
        let (taken, most) = found.own;
        return Remark::wrong("connections", format!("{taken} of the {most} that this database may have are taken"))
            .cleared_by(format!("ALTER DATABASE {} CONNECTION LIMIT -1", found.database));
    }
    if full(found.connections) {
        let advice = "use a pooler, or raise max_connections and start PostgreSQL again";
        return Remark::wrong("connections", format!("{connections} of {most} are taken: {advice}"))
            .cleared_by(format!("ALTER SYSTEM SET max_connections = {}", most.saturating_mul(2)));
    }
    Remark::fine("connections", format!("{connections} of {most}"))
}

fn vacuum(db: &mut Db) -> Result<Vec<Remark>> {
    let answers = db.ask(None, &[Ask::new(sql!("checkup_vacuum"), &[])])?;
    let Some(row) = answers.iter().flat_map(|answer| &answer.rows).next() else { return Ok(Vec::new()) };
    let (dead, living, on): (i64, i64, bool) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
    let (excepted, age): (String, i64) = (get(row, 3)?, get(row, 4)?);
    let (updates, hot): (i64, i64) = (get(row, 5)?, get(row, 6)?);
    let mut remarks = Vec::new();
    if !on {
        remarks.push(
            Remark::wrong("vacuum", "autovacuum is off: the tables grow and claims become slow. Turn it on")
                .cleared_by("ALTER SYSTEM SET autovacuum = on; SELECT pg_reload_conf();"),
        );
    }
    if !excepted.is_empty() {
        let reset =
            excepted.split(", ").map(|name| format!("ALTER TABLE {name} RESET (autovacuum_enabled);")).collect::<Vec<_>>();
        remarks.push(
            Remark::wrong("vacuum", format!("autovacuum leaves out {excepted}: they grow and claims become slow"))
                .cleared_by(reset.join(" ")),
        );
    }
    if dead > MANY_DEAD.max(living.saturating_mul(2)) {
        let advice = "autovacuum does not keep up. Look for long transactions; give it more workers";
        remarks
            .push(Remark::wrong("vacuum", format!("{dead} dead rows beside {living}: {advice}")).cleared_by("VACUUM (VERBOSE)"));
    }
    if age > OLD_TRANSACTION_IDS {
        let advice = "before 2 billion PostgreSQL stops taking writes";
        remarks.push(
            Remark::wrong("vacuum", format!("the oldest transaction id is {age} back: {advice}")).cleared_by("VACUUM FREEZE"),
        );
    }
    if updates > MANY_UPDATES && hot.saturating_mul(2) < updates {
        let message = format!("{hot} of {updates} updates of ojs_runs found room in their page: lower its fillfactor");
        remarks.push(Remark::wrong("vacuum", message).cleared_by("ALTER TABLE ojs_runs SET (fillfactor = 70)"));
    }
    if remarks.is_empty() {
        remarks.push(Remark::fine("vacuum", format!("{dead} dead rows beside {living}")));
    }
    Ok(remarks)
}

/// Transactions that stay open hold back vacuum, and every outbox that waits for them.
fn transactions(db: &mut Db, seconds: i64) -> Result<Remark> {
    let answers = db.ask(None, &[Ask::new(sql!("checkup_transactions"), &[&seconds])])?;
    let (mut found, mut commands) = (Vec::new(), Vec::new());
    for row in answers.iter().flat_map(|answer| &answer.rows) {
        let (pid, name, state, seconds): (i32, String, Option<String>, i64) =
            (get(row, 0)?, get(row, 1)?, get(row, 2)?, get(row, 3)?);
        found.push(format!("{name} (pid {pid}, {}, {seconds} s)", state.as_deref().unwrap_or("unknown")));
        commands.push(format!("SELECT pg_terminate_backend({pid});"));
    }
    Ok(if found.is_empty() {
        Remark::fine("transactions", format!("none is open for more than {seconds} s"))
    } else {
        let message = format!("open for more than {seconds} s: {}. They hold back vacuum: end them", found.join(", "));
        Remark::wrong("transactions", message).cleared_by(commands.join(" "))
    })
}

/// What holds back vacuum, or the log, without a connection.
fn held(db: &mut Db, seconds: i64) -> Result<Remark> {
    let answers = db.ask(None, &[Ask::new(sql!("checkup_held"), &[&seconds])])?;
    let (mut found, mut commands) = (Vec::new(), Vec::new());
    for row in answers.iter().flat_map(|answer| &answer.rows) {
        found.push(get::<String>(row, 0)?);
        commands.push(format!("{};", get::<String>(row, 1)?));
    }
    Ok(if found.is_empty() {
        Remark::fine("transactions", "no prepared one, and no replication slot that is not read")
    } else {
        Remark::wrong("transactions", format!("vacuum or the log is held back by {}", found.join(", ")))
            .cleared_by(commands.join(" "))
    })
}
