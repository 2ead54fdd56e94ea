//! The rules of the job engine, written once over [`Tables`]: what each command does to rows.
//!
//! A [`Transaction`] is one transaction of the store. It collects events, count changes and wake-ups while commands run, and writes the first
//! two before the commit.
use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use ojs_model::{JobId, Timestamp};

use crate::error::{Applied, Refusal, StoreError};
use crate::features::state::State;
use crate::kernel::counters::Counters;
use crate::kernel::hooks::call;
use crate::kernel::job::{JobRow, JobView};
use crate::kernel::job_log;
use crate::kernel::journal::Journal;
use crate::kernel::part::Part;
use crate::kernel::view::{view, visible};
use crate::kernel::wake::Signal;
use crate::store::rows::Counts;
use crate::store::tables::Tables;

/// A group of commands in one transaction of the store.
pub struct Transaction<'a> {
    /// The rows of the store.
    pub tables: &'a mut dyn Tables,
    /// One time for the whole transaction.
    pub now: Timestamp,
    pub(crate) counters: &'a mut Counters,
    pub(crate) journal: Journal,
    pub(crate) counts: HashMap<i64, Counts>,
    /// The same for jobs of tenants, by numbers of tenant and queue. Jobs of the default tenant are left out.
    pub(crate) tenant_counts: BTreeMap<(i64, i64), Counts>,
    /// Jobs that became available, by queue number.
    pub(crate) ready: HashMap<i64, usize>,
    /// State of features until the end of the transaction.
    pub(crate) features: State,
    /// Signals that wake waiting requests after the commit, besides new jobs.
    pub(crate) signals: Vec<Signal>,
    /// When a claim that a rate limit cut short may find more jobs.
    pub(crate) retry_at: Option<i64>,
    /// The worker of the latest claim has declared in a heartbeat that it runs only some versions.
    pub(crate) is_picky: bool,
    /// The latest claim found nothing, and skipped jobs that another transaction held.
    pub(crate) has_passed: bool,
    /// Jobs that ended.
    pub(crate) done: Vec<JobId>,
    /// Trace ids of jobs that have one, by number of the job.
    pub(crate) traces: HashMap<i64, String>,
    /// Place of the running command in its group.
    pub(crate) command: usize,
}

impl<'a> Transaction<'a> {
    /// Begins a group in an open transaction of the store.
    pub fn new(tables: &'a mut dyn Tables, counters: &'a mut Counters, now: Timestamp) -> Self {
        Self {
            tables,
            now,
            counters,
            journal: Journal::default(),
            counts: HashMap::new(),
            tenant_counts: BTreeMap::new(),
            ready: HashMap::new(),
            features: State::default(),
            signals: Vec::new(),
            retry_at: None,
            is_picky: false,
            has_passed: false,
            done: Vec::new(),
            traces: HashMap::new(),
            command: 0,
        }
    }

    /// Carries out a part that may be refused on its own.
    ///
    /// # Errors
    /// What the part is refused with; [`StoreError::Conflict`] when it had written something before: then the
    /// transaction must be undone and applied again.
    pub(crate) fn part<T>(&mut self, part: Part, work: impl FnOnce(&mut Self) -> Applied<T>) -> Applied<T> {
        if let Some(error) = self.counters.refused.why(&part) {
            return Err(error.clone().into());
        }
        let before = self.tables.changes();
        match work(self) {
            Err(refusal) if !matches!(refusal, Refusal::Store(_)) && self.tables.changes() != before => {
                let error = refusal.into_error()?;
                tracing::debug!(?part, %error, "refused after a write: all is applied again without it");
                self.counters.refused.note(part, error);
                Err(StoreError::Conflict("a refused command had written something".into()).into())
            }
            done => done,
        }
    }

    /// Removes everything, and forgets what was kept of it in memory.
    pub(crate) fn reset(&mut self) -> Result<(), StoreError> {
        self.tables.reset()?;
        self.journal = Journal::default();
        self.counts.clear();
        self.tenant_counts.clear();
        self.features = State::default();
        self.counters.emptied = true;
        for reset in self.counters.features.iter().filter_map(|feature| feature.reset) {
            reset(self);
        }
        Ok(())
    }

    /// Jobs that ended in this transaction. Requests that wait for their results are answered after the commit.
    pub fn take_done(&mut self) -> Vec<JobId> {
        std::mem::take(&mut self.done)
    }

    /// Writes events and counts; the caller commits next. Returns names of queues with new jobs, and how many; signals of room among them.
    pub fn finish(mut self) -> Result<Vec<(Arc<str>, usize)>, StoreError> {
        call!(&mut self, before_commit);
        for (queue, delta) in &self.counts {
            for (state, delta) in delta.iter().enumerate().filter(|(_, delta)| **delta != 0) {
                self.tables.add_count(*queue, state, *delta)?;
            }
        }
        if job_log::is_on() {
            self.counters.emitted = self.journal.events(self.tables)?;
        }
        self.journal.write(self.now, self.tables)?;
        call!(&mut self, on_written);
        let mut ready = Vec::with_capacity(self.ready.len());
        for (queue, jobs) in self.ready {
            ready.push((self.tables.queue_by_num(queue)?.name, jobs));
        }
        ready.extend(self.signals.into_iter().map(|signal| (signal.name().into(), usize::MAX)));
        Ok(ready)
    }

    /// Wakes every fetch that waits.
    pub(crate) fn call_all_waiters(&mut self) -> Result<(), StoreError> {
        for queue in self.tables.queues()? {
            // Half: jobs that become available in the same transaction are added.
            self.ready.insert(queue.num, usize::MAX / 2);
        }
        Ok(())
    }

    /// The row of a job; 404 when the caller may not see it.
    pub(crate) fn require(&mut self, id: JobId) -> Applied<JobRow> {
        visible(self.tables, id)
    }

    pub(crate) fn view(&mut self, row: JobRow) -> Result<JobView, StoreError> {
        view(self.tables, row)
    }
}
