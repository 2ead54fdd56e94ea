//! Results: how long they are kept, and their removal (protocol section 8.10).
use crate::error::StoreError;
use crate::features::results::records::expiry;
use crate::kernel::job::{JobRow, flag};
use crate::kernel::transaction::Transaction;

impl Transaction<'_> {
    /// Stores the result of a job that completes now, unless its `result_ttl` is 0.
    pub(crate) fn keep_result(&mut self, row: &mut JobRow, result: &[u8]) -> Result<(), StoreError> {
        if row.has(flag::RESULT_TTL) {
            match self.settings(row.seq)?.result_ttl {
                Some(0) => return Ok(()),
                Some(seconds) if seconds > 0 => {
                    row.expires_at = row.finished_at.saturating_add(seconds.saturating_mul(1000));
                }
                _ => {}
            }
        }
        let mut history = if row.has(flag::ERRORS) { self.tables.history(row.seq)? } else { Default::default() };
        history.result = String::from_utf8_lossy(result).into_owned();
        row.flags |= flag::RESULT;
        self.tables.set_history(row.seq, &history)
    }

    /// Removes the result of a completed job; the job stays.
    pub(crate) fn prune_result(&mut self, before: &JobRow) -> Result<(), StoreError> {
        let mut row = before.clone();
        row.expires_at = 0;
        if row.has(flag::RESULT) {
            let mut history = self.tables.history(row.seq)?;
            history.result.clear();
            self.tables.set_history(row.seq, &history)?;
            row.flags = row.flags & !flag::RESULT | flag::PRUNED;
        }
        self.tables.update(before, &row)
    }

    /// The same when its time is over.
    pub(crate) fn prune_old_result(&mut self, row: &JobRow) -> Result<(), StoreError> {
        let now = self.now.as_millis();
        if row.has(flag::RESULT) && expiry(row).is_some_and(|at| at <= now) { self.prune_result(row) } else { Ok(()) }
    }
}
