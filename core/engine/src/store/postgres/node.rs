//! State that the connections of a process share: the database's address, the clock, the jobs leased by this process.
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ojs_model::Timestamp;

use super::connection::{Ask, Db};
use super::held::Leased;
use super::line::Lines;
use super::rows::get;
use super::{Target, listener, migrations};
use crate::error::Result;

/// 2020-01-01, where job numbers begin.
const EPOCH_MS: i64 = 1_577_836_800_000;

/// What the connections of a process share.
#[derive(Debug)]
pub struct Node {
    pub(super) target: Arc<Target>,
    /// Name in the leader row.
    pub(super) name: String,
    /// The table of jobs, known by this to all who see it.
    identity: String,
    /// Number in job numbers.
    pub(super) number: i64,
    last_seq: AtomicI64,
    /// Connections opened so far: each counts in a shard of its own.
    pub(super) limit_of_clients: AtomicI64,
    leased: Mutex<Leased>,
    /// Database time minus ours, milliseconds.
    pub(super) ahead: AtomicI64,
    lines: Mutex<Lines>,
    pub(super) listening: Mutex<Option<Arc<listener::Listening>>>,
}

impl Node {
    /// Connects, brings the schema up to date, and takes a number.
    ///
    /// # Errors
    /// When the database cannot be reached or refuses.
    pub fn open(url: &str) -> Result<Arc<Self>> {
        let target = Target::new(url)?;
        let mut db = Db::open(Arc::clone(&target))?;
        migrations::migrate(&mut db)?;
        let answers = db.ask(None, &[Ask::new(sql!("node"), &[]), Ask::new(sql!("identity"), &[])])?;
        let mut rows = answers.iter().filter_map(|answer| answer.rows.first());
        let number = rows.next().map(|row| get(row, 0)).transpose()?.unwrap_or(0);
        let identity = rows.next().map(|row| get(row, 0)).transpose()?.unwrap_or_default();
        let node = Self {
            target,
            name: format!("{number}-{:08x}", rand::random::<u32>()),
            number,
            identity,
            last_seq: AtomicI64::new(0),
            limit_of_clients: AtomicI64::new(0),
            leased: Mutex::default(),
            ahead: AtomicI64::new(0),
            lines: Mutex::default(),
            listening: Mutex::default(),
        };
        Ok(Arc::new(node))
    }

    /// Starts to hear of other nodes' jobs. `direct` is for databases behind a pooler.
    ///
    /// # Errors
    /// When `direct` is no URL.
    pub fn listen(
        &self,
        direct: Option<&str>,
        wakeups: Arc<crate::kernel::wake::Wakeups>,
        stop: tokio_util::sync::CancellationToken,
    ) -> Result<()> {
        let target = match direct {
            Some(url) => Target::new(url)?,
            None => Arc::clone(&self.target),
        };
        let listening = listener::start(target, wakeups, stop)?;
        *self.listening.lock().unwrap_or_else(PoisonError::into_inner) = Some(listening);
        Ok(())
    }

    /// The table of jobs, known by this to all who see it: an application that finds the same may insert into it.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Milliseconds that the database's clock is ahead of ours.
    pub fn ahead(&self) -> i64 {
        self.ahead.load(Ordering::Relaxed)
    }

    /// True when jobs of other nodes are announced.
    pub fn is_listening(&self) -> bool {
        self.listening.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|listening| listening.is_on())
    }

    /// Jobs leased by this process.
    pub(super) fn leased(&self) -> MutexGuard<'_, Leased> {
        // Every method leaves it valid.
        self.leased.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far the writers have come in the lines of available jobs.
    pub(super) fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job number: time, counter, node.
    pub(super) fn next_seq(&self, now: Timestamp) -> i64 {
        let floor = (now.as_millis() - EPOCH_MS) << 22 | self.number;
        let next = |last: i64| if floor > last { floor } else { last + (1 << 10) };
        let last = self.last_seq.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |last| Some(next(last)));
        next(last.unwrap_or_else(|last| last))
    }
}
