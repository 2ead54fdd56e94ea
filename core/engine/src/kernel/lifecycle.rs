//! Commands of operators and producers: cancel, activate, change priority, pause and resume.
use ojs_model::state::Trigger;
use ojs_model::{JobId, JobState, OjsError, Timestamp};

use crate::error::{Applied, StoreError};
use crate::kernel::command::Changed;
use crate::kernel::hooks::call;
use crate::kernel::job::JobRow;
use crate::kernel::transaction::Transaction;
use crate::kernel::wake::Signal;
use crate::store::rows::{Counts, Directive, QueuePhase, QueueRow};

impl Transaction<'_> {
    pub(crate) fn cancel(&mut self, id: JobId) -> Applied<Changed> {
        let before = self.require(id)?;
        if !before.state.accepts(Trigger::Cancel) {
            return Err(OjsError::wrong_state(id, before.state, "not completed, cancelled or discarded").into());
        }
        let row = self.withdraw(&before, "")?;
        self.changed(row, before.state)
    }

    /// Moves a job to `cancelled`.
    pub(crate) fn withdraw(&mut self, before: &JobRow, extra: &str) -> Result<JobRow, StoreError> {
        let mut row = before.clone();
        row.finished_at = self.now.as_millis();
        row.sort_key = row.finished_at;
        (row.worker, row.expires_at) = (0, 0);
        let row = self.transition(before, row, Trigger::Cancel, JobState::Cancelled)?;
        self.emit("job.cancelled", &row, extra)?;
        Ok(row)
    }

    pub(crate) fn activate(&mut self, id: JobId) -> Applied<Changed> {
        let before = self.require(id)?;
        if !before.state.accepts(Trigger::Activate) {
            return Err(OjsError::wrong_state(id, before.state, "pending").into());
        }
        for on_activate in self.counters.features.iter().filter_map(|feature| feature.on_activate) {
            on_activate(self, &before)?;
        }
        let mut row = before.clone();
        row.activated_at = self.now.as_millis();
        let row = if before.sort_key > self.now.as_millis() {
            let row = self.transition(&before, row, Trigger::Activate, JobState::Scheduled)?;
            let at = Timestamp::from_millis(row.sort_key);
            self.emit("job.scheduled", &row, &format!("\"scheduled_at\":\"{at}\""))?;
            row
        } else {
            self.make_available(&before, row, Trigger::Activate)?
        };
        self.changed(row, before.state)
    }

    /// Moves a waiting job forward or back in its queue.
    pub(crate) fn set_priority(&mut self, id: JobId, priority: i32) -> Applied<Changed> {
        let before = self.require(id)?;
        if !matches!(before.state, JobState::Available | JobState::Scheduled) {
            return Err(OjsError::wrong_state(id, before.state, "available or scheduled").into());
        }
        let mut row = before.clone();
        row.priority = priority;
        self.tables.update(&before, &row)?;
        self.changed(row, before.state)
    }

    /// Removes a terminal job.
    pub(crate) fn erase(&mut self, row: &JobRow) -> Applied<()> {
        call!(self, on_erase, row);
        self.tables.delete(row)?;
        self.count(row, row.state, -1);
        Ok(())
    }

    pub(crate) fn set_paused(&mut self, name: &str, paused: bool) -> Applied<(QueueRow, Counts)> {
        let queue = self.queue_for_use(name)?;
        let mut queue = self.tables.lock_queue(queue.num)?;
        if !paused && queue.phase == QueuePhase::Draining {
            queue.phase = QueuePhase::Open;
            self.tables.save_queue(&queue)?;
            self.signal_room(&queue);
        }
        if queue.paused != paused {
            queue.paused = paused;
            self.tables.save_queue(&queue)?;
            let mut extra = String::new();
            ojs_model::json::push_text(&mut extra, "queue", name);
            self.journal.other(if paused { "queue.paused" } else { "queue.resumed" }, self.now, name, &extra);
        }
        let counts = self.tables.counts(queue.num)?;
        let available = counts.get(JobState::Available as usize).copied().unwrap_or(0);
        if !paused && available > 0 {
            *self.ready.entry(queue.num).or_default() += usize::try_from(available).unwrap_or(1);
        }
        Ok((queue, counts))
    }

    pub(crate) fn direct(&mut self, id: &str, directive: Directive) -> Applied<()> {
        // Only heartbeats carry directives, so a worker without heartbeats would never get one. Looking it up by name
        // would create it.
        if !self.tables.workers()?.iter().any(|(worker, _)| *worker.id == *id && worker.beat_at > 0) {
            return Err(OjsError::not_found("worker", id).with_hint("Only workers that send heartbeats can be directed.").into());
        }
        let mut worker = self.tables.worker(id)?;
        worker.directive = directive;
        self.tables.save_worker(&worker)?;
        if directive == Directive::Run {
            // A waiting fetch of this worker has found nothing yet.
            self.call_all_waiters()?;
        } else {
            self.signals.push(Signal::Quiet(id.to_owned()));
        }
        Ok(())
    }

    pub(crate) fn changed(&mut self, row: JobRow, previous: JobState) -> Applied<Changed> {
        Ok(Changed { job: self.view(row)?, previous })
    }
}
