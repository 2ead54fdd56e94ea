//! Work that is due by time: promotion, lease expiry, time-outs, expiry, worker death, pruning.
//!
//! Each sweep works in slices, so that a backlog never delays commands for long.
use std::sync::Arc;
use std::time::Duration;

use ojs_model::state::Trigger;
use ojs_model::{ErrorCode, JobError, JobState, Timestamp};

use crate::error::{Applied, StoreError};
use crate::kernel::aside::{SLICE, Subject};
use crate::kernel::hooks::{Walk, call};
use crate::kernel::job::{JobRow, flag};
use crate::kernel::retention::Retention;
use crate::kernel::transaction::Transaction;
use crate::spans::step;

/// How often terminal jobs are pruned (protocol section 2.3).
pub const PRUNE_EVERY_MS: i64 = 300_000;

/// How often features look for contradictions between their records (extensions section 30).
pub const REPAIR_EVERY_MS: i64 = 60_000;

/// Keeps the places that the slow sweeps have reached.
#[derive(Debug, Clone)]
pub struct Sweeper {
    worker_timeout: Duration,
    retention: Retention,
    next_prune: i64,
    prune_after: Option<i64>,
    next_repair: i64,
    /// The feature that repairs, and the place behind which it goes on.
    repair_after: Option<(usize, Walk)>,
}

impl Sweeper {
    /// A sweeper with these periods.
    #[must_use]
    pub fn new(worker_timeout: Duration, retention: Retention) -> Self {
        Self { worker_timeout, retention, next_prune: 0, prune_after: None, next_repair: 0, repair_after: None }
    }

    /// Whether anything is due. One probe of the indexes: an idle server does this ten times a second.
    pub fn is_due(&self, tables: &mut dyn crate::store::tables::Tables, now: Timestamp) -> Result<bool, StoreError> {
        let repairing = now.as_millis() >= self.next_repair || self.repair_after.is_some();
        let pruning = repairing || now.as_millis() >= self.next_prune || self.prune_after.is_some();
        if pruning || tables.maintenance()?.is_none() {
            return Ok(pruning || tables.anything_due(now.as_millis(), self.silent_since(now))?);
        }
        // Schedules and cron wait until maintenance mode ends, so due entries of them are not work now.
        let now_ms = now.as_millis();
        let leases = !tables.overdue(now_ms, 1)?.is_empty() || !tables.silent_workers(self.silent_since(now))?.is_empty();
        Ok(leases || !tables.expired(now_ms, 1)?.is_empty())
    }

    /// Workers that have sent no heartbeat since then are dead.
    fn silent_since(&self, now: Timestamp) -> i64 {
        now.as_millis().saturating_sub(i64::try_from(self.worker_timeout.as_millis()).unwrap_or(i64::MAX))
    }

    /// One slice of every sweep.
    pub fn sweep(&mut self, transaction: &mut Transaction<'_>) -> Applied<()> {
        let now = transaction.now.as_millis();
        let maintenance = transaction.tables.maintenance()?.is_some();
        if transaction.enters("jobs inserted by SQL") {
            transaction.import()?;
        }
        if !maintenance && transaction.enters("jobs whose time has come") {
            transaction.promote()?;
        }
        if transaction.enters("jobs whose lease has run out") {
            transaction.judge_overdue()?;
        }
        if transaction.enters("jobs that have expired") {
            transaction.end_expired()?;
        }
        for sweep in transaction.counters.features.iter().filter_map(|feature| feature.sweep) {
            if (!maintenance || sweep.in_maintenance) && transaction.enters(sweep.part) {
                (sweep.run)(transaction)?;
            }
        }
        if transaction.enters("workers that are silent") {
            transaction.delete_workers(self.silent_since(transaction.now))?;
        }
        if now >= self.next_prune {
            self.next_prune = next_prune(now);
            self.prune_after = Some(0);
        }
        self.repair(transaction)?;
        call!(transaction, after_command);
        if let Some(after) = self.prune_after
            && transaction.enters("what is past its retention")
        {
            self.prune_after = transaction.prune(after, &self.retention)?;
        }
        transaction.enters("the end of the sweep");
        Ok(())
    }
}

impl Sweeper {
    /// One slice of looking for contradictions.
    fn repair(&mut self, transaction: &mut Transaction<'_>) -> Applied<()> {
        let now = transaction.now.as_millis();
        if now >= self.next_repair {
            self.next_repair = now.saturating_add(REPAIR_EVERY_MS);
            self.repair_after = Some((0, (0, 0)));
        }
        let Some((index, after)) = self.repair_after else { return Ok(()) };
        if !transaction.enters("contradictions between records") {
            return Ok(());
        }
        let mut repairs = transaction.counters.features.iter().filter_map(|feature| feature.repair).skip(index);
        self.repair_after = match repairs.next() {
            None => None,
            Some(repair) => Some(repair(transaction, after)?.map_or((index + 1, (0, 0)), |after| (index, after))),
        };
        Ok(())
    }
}

/// The next time for pruning: the same for every process that asks.
#[must_use]
pub fn next_prune(now: i64) -> i64 {
    (now.div_euclid(PRUNE_EVERY_MS) + 1).saturating_mul(PRUNE_EVERY_MS)
}

impl Transaction<'_> {
    fn promote(&mut self) -> Result<(), StoreError> {
        let due = self.tables.due(self.now.as_millis(), self.slice())?;
        if due.is_empty() {
            return Ok(());
        }
        let _span = step!("ojs.scheduler.poll", ojs.jobs = due.len());
        for before in due {
            if !self.takes(&before) {
                continue;
            }
            if before.expires_at > 0 && before.expires_at <= self.now.as_millis() {
                self.expire(&before)?;
            } else {
                self.make_available(&before, before.clone(), Trigger::Promote)?;
            }
        }
        Ok(())
    }

    fn end_expired(&mut self) -> Result<(), StoreError> {
        for row in self.tables.expired(self.now.as_millis(), self.slice())? {
            if !self.takes(&row) {
                continue;
            }
            if row.state.is_terminal() {
                call!(self, after_end, &row);
            } else {
                self.expire(&row)?;
            }
        }
        Ok(())
    }

    /// Workers whose heartbeats have stopped: their jobs become available at once. The worker's row is deleted only
    /// when it holds no job, so that a crash in between loses no job.
    fn delete_workers(&mut self, since: i64) -> Result<(), StoreError> {
        for worker in self.tables.silent_workers(since)? {
            let _span = step!("ojs.reaper.check", ojs.worker.id = &*worker.id);
            let most = self.slice();
            let held = self.tables.held_by(worker.num, most)?;
            let mut done = held.len() < most;
            for row in held {
                if !self.takes(&row) {
                    done = false;
                    continue;
                }
                let message = format!("Worker '{}' stopped sending heartbeats.", worker.id);
                self.lose(&row, &JobError::engine(ErrorCode::WorkerDeath, message))?;
            }
            if done {
                call!(self, on_worker_death, worker.num);
                self.tables.forget_worker(worker.num)?;
                self.emit_stopped(&worker);
            }
        }
        Ok(())
    }

    /// Deletes terminal jobs past their retention, one slice; returns where to go on.
    fn prune(&mut self, after: i64, keep: &Retention) -> Applied<Option<i64>> {
        let now = self.now.as_millis();
        let before = |period: Duration| now.saturating_sub(i64::try_from(period.as_millis()).unwrap_or(i64::MAX));
        if after == 0 {
            self.tables.prune_events(before(keep.events), keep.max_events)?;
            self.tables.prune_workers()?;
            let mut more = false;
            for prune in self.counters.features.iter().filter_map(|feature| feature.prune) {
                more |= prune(self, keep)?;
            }
            if more {
                return Ok(Some(0));
            }
        }
        let (rows, next) = self.tables.terminal(after, SLICE)?;
        for row in rows {
            let queue = self.tables.queue_by_num(row.queue)?;
            if !self.takes_queue(&queue.name) {
                continue;
            }
            let settings = queue.settings()?;
            if !self.takes(&row) {
                continue;
            }
            let own = settings.as_ref().and_then(|settings| settings.config.keeps_ms(&row)).map(Duration::from_millis);
            let limit = before(match (own, row.state) {
                (Some(period), _) => period,
                // Dead letters of other queues have a sweep of their own.
                (None, JobState::Discarded) if row.has(flag::DEAD) => continue,
                (None, JobState::Discarded) => keep.discarded,
                (None, _) => keep.finished,
            });
            if row.finished_at < limit && row.has(flag::DEAD) {
                self.forget_dead(&row, "dead_letter.pruned", "\"reason\":\"max_age\"")?;
            } else if row.finished_at < limit && !self.keeps(&row) {
                self.erase(&row)?;
            } else {
                call!(self, prune_kept, &row);
            }
        }
        Ok(next)
    }
}

impl Transaction<'_> {
    /// Whether a feature keeps an ended job beyond the retention of its state.
    fn keeps(&self, row: &JobRow) -> bool {
        let now = self.now.as_millis();
        self.counters.features.iter().filter_map(|feature| feature.keeps).any(|keeps| keeps(row, now))
    }

    /// Whether a sweep goes into one of its parts.
    pub(crate) fn enters(&mut self, part: &'static str) -> bool {
        self.counters.aside.look_at(Subject::Part(part), self.now.as_millis())
    }

    /// Whether a sweep takes a job.
    pub(crate) fn takes(&mut self, row: &JobRow) -> bool {
        self.counters.aside.look_at(Subject::Job(row.id), self.now.as_millis())
    }

    /// Whether a sweep does something for a queue.
    pub(crate) fn takes_queue(&mut self, name: &Arc<str>) -> bool {
        self.counters.aside.look_at(Subject::Queue(Arc::clone(name)), self.now.as_millis())
    }

    /// Whether a sweep opens a key.
    pub(crate) fn takes_key(&mut self, name: &Arc<str>) -> bool {
        self.counters.aside.look_at(Subject::Key(Arc::clone(name)), self.now.as_millis())
    }

    /// Whether a sweep fires a cron entry.
    pub(crate) fn takes_cron(&mut self, name: &str) -> bool {
        self.counters.aside.look_at(Subject::Cron(name.into()), self.now.as_millis())
    }

    /// Queues whose inserted rows a sweep leaves where they are.
    pub(crate) fn queues_aside(&self) -> Vec<Arc<str>> {
        self.counters.aside.queues(self.now.as_millis())
    }

    /// A slice that has room for other jobs beside those that are left out.
    pub(crate) fn slice(&self) -> usize {
        SLICE + self.counters.aside.count()
    }
}
