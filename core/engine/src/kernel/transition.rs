//! The one place where a job changes its state.
use ojs_model::JobState;
use ojs_model::state::Trigger;

use crate::error::StoreError;
use crate::kernel::holds::Holds;
use crate::kernel::hooks::call;
use crate::kernel::job::JobRow;
use crate::kernel::transaction::Transaction;

impl Transaction<'_> {
    /// Moves a job to another state, as the transition table allows, and keeps counts and wake-ups in step.
    pub(crate) fn transition(
        &mut self,
        before: &JobRow,
        mut after: JobRow,
        trigger: Trigger,
        to: JobState,
    ) -> Result<JobRow, StoreError> {
        if !before.state.allows(trigger, to) {
            return Err(StoreError::Failed(format!("illegal transition {} to {to} of job {}", before.state, before.id)));
        }
        after.state = to;
        if to != JobState::Available {
            after.holds = Holds::NONE;
        }
        call!(self, on_transition, before, &mut after);
        self.journal.moved(self.now, Some(before.state), &after);
        self.tables.update(before, &after)?;
        self.count(before, before.state, -1);
        self.count(&after, to, 1);
        if to.is_terminal() {
            self.done.push(after.id);
        }
        if matches!(to, JobState::Scheduled | JobState::Retryable) {
            self.counters.note_due(after.sort_key);
        }
        if to == JobState::Available {
            *self.ready.entry(after.queue).or_default() += 1;
        }
        Ok(after)
    }

    /// Puts a job back in line: ticket, time, event.
    pub(crate) fn make_available(&mut self, before: &JobRow, mut after: JobRow, trigger: Trigger) -> Result<JobRow, StoreError> {
        after.sort_key = self.counters.ticket(self.now);
        after.enqueued_at = self.now.as_millis();
        after.worker = 0;
        self.set_end_of_waiting(&mut after)?;
        after.holds = Holds::NONE;
        call!(self, on_available, &mut after);
        let row = self.transition(before, after, trigger, JobState::Available)?;
        self.emit("job.enqueued", &row, "")?;
        Ok(row)
    }

    /// Holds an available job for one more reason.
    pub(crate) fn hold(&mut self, row: &JobRow, reason: Holds) -> Result<(), StoreError> {
        if row.is_free() {
            call!(self, on_hold, row, reason);
        }
        self.tables.update(row, &JobRow { holds: row.holds.with(reason), ..row.clone() })
    }

    /// Removes one reason. The job becomes available again if that was the last one. Otherwise features are called: a
    /// feature that still holds the job may have skipped it because of the other reason.
    pub(crate) fn let_go(&mut self, row: &JobRow, reason: Holds) -> Result<(), StoreError> {
        let after = JobRow { holds: row.holds.without(reason), ..row.clone() };
        self.tables.update(row, &after)?;
        if after.is_free() {
            *self.ready.entry(after.queue).or_default() += 1;
        } else {
            call!(self, on_release, &after);
        }
        Ok(())
    }

    /// Notes that the queue of a job has more or fewer jobs in a state.
    pub(crate) fn count(&mut self, row: &JobRow, state: JobState, delta: i64) {
        if let Some(cell) = self.counts.entry(row.queue).or_default().get_mut(state as usize) {
            *cell += delta;
        }
        if row.tenant != 0
            && let Some(cell) = self.tenant_counts.entry((row.tenant, row.queue)).or_default().get_mut(state as usize)
        {
            *cell += delta;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
