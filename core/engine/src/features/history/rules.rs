//! A history is deleted: its job stays as it is, and what happened up to now is not shown any more.
use ojs_model::JobId;

use super::commands::{Shown, shown};
use super::records::{CutRow, HistoryTables as _};
use crate::error::{Applied, Result};
use crate::kernel::job::{JobRow, flag};
use crate::kernel::transaction::Transaction;

impl Transaction<'_> {
    /// Deletes the history of a job: how many events it had.
    pub(super) fn delete_history(&mut self, id: JobId, which: Shown) -> Applied<usize> {
        let before = self.require(id)?;
        let events = shown(self.tables, id, which)?.len();
        let row = CutRow { job: id, until: self.now.as_millis(), releases: i64::from(before.releases) };
        self.tables.put_history_cut(&row)?;
        if !before.has(flag::CUT) {
            self.tables.update(&before, &JobRow { flags: before.flags | flag::CUT, ..before.clone() })?;
        }
        Ok(events)
    }

    /// Deletes the record of a deleted history when its job is deleted.
    pub(super) fn erase_history_cut(&mut self, row: &JobRow) -> Result<()> {
        if row.has(flag::CUT) { self.tables.forget_history_cut(row.id) } else { Ok(()) }
    }
}
