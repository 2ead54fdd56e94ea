//! A PostgreSQL of our own, durable, for the engine and its rivals alike.
use std::path::Path;
use std::time::Duration;

use ojs_postgres_fixture::{Database, Options, Server};
use tokio_postgres::{NoTls, SimpleQueryMessage};

use crate::Result;

/// What differs from PostgreSQL's defaults, for everybody: memory that fits the working set, and no checkpoint in the middle of
/// a run because the log has grown.
const SETTINGS: [(&str, &str); 2] = [("shared_buffers", "512MB"), ("max_wal_size", "4GB")];
/// What a reader wants to know.
const SHOWN: [&str; 8] = [
    "server_version",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_level",
    "shared_buffers",
    "max_wal_size",
    "autovacuum",
];

/// A running server.
pub struct Postgres {
    server: Server,
}

/// What a run has cost the server.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// CPU time of all its processes.
    pub cpu: Duration,
    /// Bytes of log.
    pub wal: u64,
}

impl std::ops::Sub for Cost {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self { cpu: self.cpu.saturating_sub(before.cpu), wal: self.wal - before.wal }
    }
}

impl Postgres {
    /// Starts one below a directory.
    pub fn start(base: &Path) -> Result<Self> {
        Self::start_with(base, &[])
    }

    /// Starts one with the module that counts what each statement costs.
    pub fn start_watched(base: &Path) -> Result<Self> {
        Self::start_with(base, &[("shared_preload_libraries", "pg_stat_statements")])
    }

    fn start_with(base: &Path, more: &[(&str, &str)]) -> Result<Self> {
        let settings = SETTINGS.iter().chain(more);
        let options = settings.fold(Options::durable().within(base), |options, (name, value)| options.set(*name, *value));
        Ok(Self { server: Server::start(&options)? })
    }

    /// An empty database.
    pub fn database(&self) -> Result<Database> {
        Ok(self.server.database()?)
    }

    /// The settings that matter, as the server tells them.
    pub fn settings(&self) -> Result<String> {
        let mut all = Vec::new();
        for name in SHOWN {
            all.push(format!("{name} {}", self.ask(&format!("SELECT current_setting('{name}')"))?));
        }
        Ok(all.join(", "))
    }

    /// Everything it has used so far.
    pub fn cost(&self) -> Result<Cost> {
        let wal = self.ask("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint::text")?.parse()?;
        Ok(Cost { cpu: self.cpu()?, wal })
    }

    /// Begins to count anew what the statements in a database cost.
    pub fn count_statements(database: &Database) -> Result<()> {
        ask(database.url(), include_str!("sql/count_anew.sql")).map(drop)
    }

    /// What the dearest statements since then have cost, a line each.
    pub fn dearest(database: &Database) -> Result<String> {
        ask(database.url(), include_str!("sql/dearest.sql"))
    }

    /// Does at once what the server would do later by itself after many changes, so that it is not done in the middle of a measurement.
    pub fn settle(database: &Database) -> Result<()> {
        // Not in one message: that would be one transaction, in which there is no VACUUM.
        ["VACUUM (ANALYZE)", "CHECKPOINT"].iter().try_for_each(|statement| tell(database.url(), statement).map(drop))
    }

    fn ask(&self, query: &str) -> Result<String> {
        ask(&self.server.url(), query)
    }

    /// Its first process, the children that have ended, and those that live.
    fn cpu(&self) -> Result<Duration> {
        let first = self.server.process().ok_or("the server has stopped")?;
        let mut ticks = Stat::read(&first.to_string()).map(|stat| stat.own + stat.children).ok_or("no /proc")?;
        for entry in std::fs::read_dir("/proc")?.flatten() {
            let stat = entry.file_name().to_str().filter(|name| name.bytes().all(|b| b.is_ascii_digit())).and_then(Stat::read);
            ticks += stat.filter(|stat| stat.parent == first).map_or(0, |stat| stat.own);
        }
        Ok(from_ticks(ticks))
    }
}

/// The text that the last of some statements gives.
fn ask(url: &str, statements: &str) -> Result<String> {
    let row = tell(url, statements)?.iter().rev().find_map(|answer| match answer {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    row.ok_or_else(|| format!("no answer to {statements}").into())
}

/// Runs some statements, on a connection of their own.
fn tell(url: &str, statements: &str) -> Result<Vec<SimpleQueryMessage>> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        let connection = tokio::spawn(connection);
        let answers = client.simple_query(statements).await?;
        drop(client);
        connection.await??;
        Ok(answers)
    })
}

/// CPU time of this process and of the children it has waited for.
pub fn own_cpu() -> Result<Duration> {
    Stat::read("self").map(|stat| from_ticks(stat.own + stat.children)).ok_or_else(|| "no /proc".into())
}

/// Linux counts processor time of processes in hundredths of a second.
fn from_ticks(ticks: u64) -> Duration {
    Duration::from_millis(ticks * 10)
}

/// Parts of `/proc/PID/stat`.
struct Stat {
    parent: u32,
    own: u64,
    children: u64,
}

impl Stat {
    fn read(process: &str) -> Option<Self> {
        let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name, in parentheses, may hold anything. After it: state, parent, … utime and stime are the 12th and 13th.
        let fields: Vec<&str> = text.get(text.rfind(')')? + 2..)?.split(' ').collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let parent = u32::try_from(number(1)?).ok()?;
        Some(Self { parent, own: number(11)? + number(12)?, children: number(13)? + number(14)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_works_costs_something_and_says_how_it_is_set() {
        let postgres = Postgres::start(&std::env::temp_dir()).unwrap();
        assert!(postgres.settings().unwrap().contains("fsync on, synchronous_commit on, full_page_writes on"));
        let before = postgres.cost().unwrap();
        postgres.ask("SELECT count(*)::text FROM generate_series(1, 1000000)").unwrap();
        drop(postgres.database().unwrap());
        let spent = postgres.cost().unwrap() - before;
        assert!(spent.cpu >= Duration::from_millis(20) && spent.wal > 0, "{spent:?}");
    }
}
