//! The number of dead letters of each queue, which is kept as they come and go (decision 114).
use crate::error::{Applied, StoreError};
use crate::features::dead_letters::records::COUNTED_AS;
use crate::kernel::job::{JobRow, flag};
use crate::kernel::transaction::Transaction;

/// How often the dead letters of a store with several nodes are counted one by one, milliseconds: a node of an earlier
/// version does not keep the number.
const RECOUNT_EVERY_MS: i64 = 3_600_000;

impl Transaction<'_> {
    /// A job changes its state: it may become a dead letter, or stop being one.
    pub(crate) fn count_dead(&mut self, before: &JobRow, after: &JobRow) -> Result<(), StoreError> {
        for (row, delta) in [(before, -1), (after, 1)].into_iter().filter(|(row, _)| row.has(flag::DEAD)) {
            *self.features.dead_letters.entry(row.queue).or_default() += delta;
        }
        Ok(())
    }

    /// A job is removed.
    pub(crate) fn uncount_dead(&mut self, row: &JobRow) -> Result<(), StoreError> {
        if row.has(flag::DEAD) {
            *self.features.dead_letters.entry(row.queue).or_default() -= 1;
        }
        Ok(())
    }

    /// Writes what has been noted.
    pub(crate) fn write_dead_counts(&mut self) -> Result<(), StoreError> {
        let counted = std::mem::take(&mut self.features.dead_letters);
        counted
            .into_iter()
            .filter(|(_, delta)| *delta != 0)
            .try_for_each(|(queue, delta)| self.tables.add_count(queue, COUNTED_AS, delta))
    }

    /// Counts the dead letters once after the start, and again where an earlier version may write as well: a file or
    /// database of an earlier version has no number of them.
    pub(crate) fn recount_dead(&mut self) -> Applied<()> {
        let now = self.now.as_millis();
        if now < self.counters.dead_recount_at {
            return Ok(());
        }
        let drift = self.tables.dead_drift()?;
        for (queue, delta) in &drift {
            self.tables.add_count(*queue, COUNTED_AS, *delta)?;
        }
        // After a correction the count is checked again at once, because this transaction may not be committed.
        self.counters.dead_recount_at = match (drift.is_empty(), self.tables.is_shared()) {
            (false, _) => now,
            (true, true) => now.saturating_add(RECOUNT_EVERY_MS),
            (true, false) => i64::MAX,
        };
        Ok(())
    }
}
