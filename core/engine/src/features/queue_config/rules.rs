//! Queues as an operator sees them: settings, template, draining, deletion.
use ojs_model::{ErrorCode, JobError, JobState, NewJob, OjsError};
use serde_json::{Map, Value, json};

use crate::error::{Applied, StoreError};
use crate::features::fair::records::{FairQueue, Share};
use crate::features::queue_config::commands::Emptied;
use crate::features::queue_config::records::{QueueConfig, StoredSettings, TEMPLATE};
use crate::kernel::hooks::call;
use crate::kernel::job::{JobRow, flag};
use crate::kernel::outcome::Ending;
use crate::kernel::transaction::Transaction;
use crate::store::rows::{Counts, QueuePhase, QueueRow};

/// Jobs taken out of a queue by one command: about 10 ms of the writer's time.
const SLICE: usize = 500;

impl QueueConfig {
    /// How long an ended job of its queue is kept, milliseconds; `None` where the retention of the server decides.
    pub(crate) fn keeps_ms(&self, row: &JobRow) -> Option<u64> {
        match row.state {
            JobState::Discarded if row.has(flag::DEAD) => self.dead_letter_ttl_ms,
            JobState::Discarded => self.keep_discarded_ms,
            JobState::Cancelled => self.keep_cancelled_ms,
            _ => self.keep_completed_ms,
        }
    }
}

impl Transaction<'_> {
    /// The queue of a name, for use: made under the template when it is new, opened again when it was deleted.
    pub(crate) fn queue_for_use(&mut self, name: &str) -> Result<QueueRow, StoreError> {
        let known = self.tables.find_queue(name)?;
        if let Some(queue) = known.filter(|queue| queue.phase != QueuePhase::Deleted) {
            return Ok(queue);
        }
        let mut queue = self.tables.queue(name, self.now)?;
        let fresh = QueueRow::fresh(queue.num, name, self.now.as_millis());
        let again = queue.phase == QueuePhase::Deleted;
        let template = self.template()?;
        if again || template != QueueConfig::default() {
            queue = QueueRow { created_at: if again { fresh.created_at } else { queue.created_at }, ..fresh };
            self.set_config(&mut queue, QueueConfig::default(), &template)?;
        }
        Ok(queue)
    }

    /// A discarded job runs again: its queue may have been deleted since. It does not wait for that.
    pub(crate) fn reopen_queue(&mut self, row: &mut JobRow) -> Applied<bool> {
        let queue = self.tables.queue_by_num(row.queue)?;
        if queue.phase == QueuePhase::Deleted {
            self.queue_for_use(&queue.name)?;
        }
        Ok(false)
    }

    /// The queue of a name as it is, or as its first use would make it, with number 0: a refusal must not leave a queue behind.
    pub(crate) fn queue_to_be(&mut self, name: &str) -> Result<QueueRow, StoreError> {
        let known = self.tables.find_queue(name)?;
        if let Some(queue) = known.filter(|queue| queue.phase != QueuePhase::Deleted) {
            return Ok(queue);
        }
        let settings = StoredSettings::new(QueueConfig::default(), &self.template()?);
        Ok(QueueRow { settings, ..QueueRow::fresh(0, name, self.now.as_millis()) })
    }

    fn template(&mut self) -> Result<QueueConfig, StoreError> {
        let Some(row) = self.tables.find_queue(TEMPLATE)? else { return Ok(QueueConfig::default()) };
        Ok(row.settings()?.map(|settings| settings.own.clone()).unwrap_or_default())
    }

    /// Stores a queue with its own settings over the template's. A rate of jobs' own making stays until a setting replaces it.
    fn set_config(&mut self, queue: &mut QueueRow, own: QueueConfig, template: &QueueConfig) -> Result<(), StoreError> {
        let rate = |queue: &QueueRow| queue.settings.known().and_then(|settings| settings.config.rate_limit);
        let before = rate(queue);
        queue.settings = StoredSettings::new(own, template);
        match rate(queue) {
            after if after == before => {}
            Some(after) => queue.limit(after, self.now.as_millis()),
            None => (queue.rate, queue.tokens, queue.burst) = (0.0, 0.0, 0.0),
        }
        self.tables.save_queue(queue)
    }

    pub(crate) fn create_queue(&mut self, name: &str, settings: &Map<String, Value>) -> Applied<(QueueRow, Counts)> {
        if let Some(queue) = self.tables.find_queue(name)?.filter(|queue| queue.phase != QueuePhase::Deleted) {
            let message = format!("Queue '{name}' exists already.");
            return Err(OjsError::new(ErrorCode::Conflict, message)
                .with_details(json!({"queue": name, "reason": "queue_exists", "current_state": phase_word(&queue)}))
                .with_hint("Change it with PUT /ojs/v1/queues/{name}/config.")
                .into());
        }
        self.configure(name, settings)
    }

    /// Merges settings into a queue's own. Jobs that are stored keep what they were stored with.
    pub(crate) fn configure(&mut self, name: &str, settings: &Map<String, Value>) -> Applied<(QueueRow, Counts)> {
        if self.tables.find_queue(name)?.is_none_or(|queue| queue.phase == QueuePhase::Deleted) {
            // Refused before the queue is made.
            QueueConfig::parse(settings)?;
        }
        let queue = if name == TEMPLATE { self.tables.queue(name, self.now)? } else { self.queue_for_use(name)? };
        let mut queue = self.tables.lock_queue(queue.num)?;
        // Settings that cannot be read are made anew here, of what is readable and what is asked for.
        let mut merged = queue.settings.own().to_value();
        merged.extend(settings.iter().map(|(name, value)| (name.clone(), value.clone())));
        let own = QueueConfig::parse(&merged)?;
        if name == TEMPLATE {
            self.tables.save_queue(&QueueRow { settings: StoredSettings::new(own.clone(), &own), ..queue.clone() })?;
            for mut other in self.tables.queues()? {
                // What cannot be read is left to a configuration of its own.
                if &*other.name != TEMPLATE && other.settings().is_ok() {
                    let other_own = other.settings.own();
                    self.set_config(&mut other, other_own, &own)?;
                    self.signal_room(&other);
                }
            }
        } else {
            let template = self.template()?;
            self.set_config(&mut queue, own, &template)?;
            self.signal_room(&queue);
        }
        // A wider limit lets waiting fetches go on.
        self.call_all_waiters()?;
        let queue = self.tables.queue_by_num(queue.num)?;
        let counts = self.counts_now(queue.num)?;
        Ok((queue, counts))
    }

    pub(crate) fn set_draining(&mut self, name: &str, draining: bool) -> Applied<(QueueRow, Counts)> {
        let queue = self.queue_for_use(name)?;
        let mut queue = self.tables.lock_queue(queue.num)?;
        queue.phase = if draining { QueuePhase::Draining } else { QueuePhase::Open };
        self.tables.save_queue(&queue)?;
        self.signal_room(&queue);
        let counts = self.counts_now(queue.num)?;
        Ok((queue, counts))
    }

    /// Counts that include what this transaction has changed.
    pub(crate) fn counts_now(&mut self, queue: i64) -> Result<Counts, StoreError> {
        let mut counts = self.tables.counts(queue)?;
        if let Some(delta) = self.counts.get(&queue) {
            for (cell, delta) in counts.iter_mut().zip(delta) {
                *cell += delta;
            }
        }
        Ok(counts)
    }

    pub(crate) fn close_queue(&mut self, name: &str) -> Applied<()> {
        let queue = self.known_queue(name)?;
        self.tables.lock_queue(queue.num)?;
        let active = self.counts_now(queue.num)?.get(JobState::Active as usize).copied().unwrap_or(0);
        if active > 0 {
            return Err(OjsError::new(ErrorCode::Conflict, format!("Queue '{name}' has {active} active jobs."))
                .with_details(json!({"queue": name, "reason": "queue_not_empty", "jobs": {"active": active}}))
                .with_hint("Pause the queue and let them end, or cancel them.")
                .into());
        }
        self.set_draining(name, true)?;
        self.set_paused(name, true)?;
        Ok(())
    }

    pub(crate) fn empty_queue(&mut self, name: &str, target: Option<&str>) -> Applied<Emptied> {
        let queue = self.known_queue(name)?;
        let target = match target {
            Some(name) => Some(self.queue_for_use(name)?),
            None => None,
        };
        let mut done = 0;
        for state in [JobState::Available, JobState::Scheduled, JobState::Retryable, JobState::Pending] {
            for row in self.tables.jobs_in(queue.num, state, SLICE - done)? {
                match &target {
                    Some(target) => self.move_job(&row, target.num)?,
                    None => {
                        let message = format!("Queue '{name}' was deleted with what it held.");
                        self.throw_away(&row, "queue_deleted", message)?;
                    }
                }
                done += 1;
            }
        }
        Ok(Emptied { jobs: done, has_more: done == SLICE })
    }

    fn move_job(&mut self, before: &JobRow, queue: i64) -> Result<(), StoreError> {
        let mut row = JobRow { queue, ..before.clone() };
        if row.state == JobState::Available {
            row.holds = row.holds.without(row.line().holds());
            call!(self, on_move, &mut row);
        }
        self.tables.update(before, &row)?;
        self.free_place(&row);
        self.count(before, before.state, -1);
        self.count(&row, row.state, 1);
        if row.state == JobState::Available {
            *self.ready.entry(queue).or_default() += 1;
        }
        Ok(())
    }

    /// Discards a job that waits, for a reason that lies outside it.
    pub(crate) fn throw_away(&mut self, before: &JobRow, reason: &'static str, message: String) -> Result<JobRow, StoreError> {
        let mut row = before.clone();
        let mut error = JobError::engine(ErrorCode::Cancelled, message);
        (error.code, error.kind) = (reason.to_owned(), reason.to_owned());
        self.remember(&mut row, &error)?;
        self.discard(before, row, &error, Ending { dead_letter: false, reason })
    }

    pub(crate) fn delete_queue(&mut self, name: &str) -> Applied<()> {
        let mut queue = self.known_queue(name)?;
        let counts = self.counts_now(queue.num)?;
        let held: Map<String, Value> = JobState::ALL
            .into_iter()
            .zip(counts)
            .filter(|(state, jobs)| !state.is_terminal() && *jobs > 0)
            .map(|(state, jobs)| (state.as_str().to_owned(), json!(jobs)))
            .collect();
        if !held.is_empty() {
            return Err(OjsError::new(ErrorCode::Conflict, format!("Queue '{name}' is not empty."))
                .with_details(json!({"queue": name, "reason": "queue_not_empty", "jobs": held}))
                .with_hint(
                    "Let its active jobs end; what waits goes with strategy discard, or elsewhere with move and target_queue.",
                )
                .into());
        }
        if let Some(sharing) = self.tables.fair_queue(queue.num)? {
            // A queue that is made anew under this name is not shared.
            self.tables.put_fair_queue(&FairQueue { share: Share::Off, ..sharing })?;
        }
        queue = QueueRow { phase: QueuePhase::Deleted, ..QueueRow::fresh(queue.num, name, queue.created_at) };
        Ok(self.tables.save_queue(&queue)?)
    }

    fn known_queue(&mut self, name: &str) -> Applied<QueueRow> {
        let known = self.tables.find_queue(name)?.filter(|queue| queue.phase != QueuePhase::Deleted);
        known.ok_or_else(|| OjsError::not_found("queue", name).into())
    }

    /// A job with the defaults of its queue filled in, if the queue has any.
    pub(crate) fn fitted(&mut self, job: &NewJob) -> Applied<Option<NewJob>> {
        let queue = self.queue_to_be(&job.queue)?;
        match queue.settings()? {
            Some(settings) if settings.config.has_defaults() => Ok(Some(filled(job, &settings.config)?)),
            _ => Ok(None),
        }
    }

    /// Jobs that may be active in a queue beside those that are. A queue without a limit is not even counted.
    pub(crate) fn free_slots(&mut self, queue: &mut QueueRow) -> Result<usize, StoreError> {
        let limit = |queue: &QueueRow| {
            let settings = queue.settings()?;
            Ok::<_, StoreError>(settings.and_then(|settings| settings.config.concurrency))
        };
        if limit(queue)?.is_none() {
            return Ok(usize::MAX);
        }
        // Exact among several writers: who counts holds the queue until its commit.
        *queue = self.tables.lock_queue(queue.num)?;
        let Some(most) = limit(queue)? else { return Ok(usize::MAX) };
        let active = self.counts_now(queue.num)?.get(JobState::Active as usize).copied().unwrap_or(0);
        Ok(usize::try_from(most.saturating_sub(u64::try_from(active).unwrap_or(0))).unwrap_or(usize::MAX))
    }
}

/// A copy with the defaults of a queue.
pub(crate) fn filled(job: &NewJob, config: &QueueConfig) -> Result<NewJob, OjsError> {
    let mut job = job.clone();
    job.fill_defaults(config.default_retry.as_ref(), config.default_timeout_ms, config.visibility_timeout_ms)?;
    Ok(job)
}

/// The state of a queue as the wire names it.
pub(crate) fn phase_word(queue: &QueueRow) -> &'static str {
    match queue.phase {
        QueuePhase::Deleted => "deleted",
        QueuePhase::Draining => "draining",
        QueuePhase::Open if queue.paused => "paused",
        QueuePhase::Open => "active",
    }
}
