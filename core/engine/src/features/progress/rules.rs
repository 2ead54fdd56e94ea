//! Progress: which reports count, what they change, and what becomes of them when the attempt ends (extensions
//! section 20).
use ojs_model::{JobState, json};

use crate::error::{Applied, StoreError};
use crate::features::progress::board::Board;
use crate::features::progress::commands::{ReportProgress, Standing};
use crate::features::progress::records::{ProgressRow, ProgressTables as _};
use crate::kernel::job::{JobRow, flag};
use crate::kernel::transaction::Transaction;
use crate::store::tables::Tables;

type Stored<T> = Result<T, StoreError>;

/// The record of the latest attempt.
pub(super) fn current(tables: &mut dyn Tables, row: &JobRow) -> Stored<Option<ProgressRow>> {
    let known = if row.has(flag::PROGRESS) { tables.progress(row.id)? } else { None };
    Ok(known.filter(|known| known.lease == row.lease))
}

/// The progress of a job, with what this process has not written yet.
pub(super) fn standing(tables: &mut dyn Tables, board: &Board, row: JobRow) -> Stored<Standing> {
    let mut progress = current(tables, &row)?;
    if let (Some(known), Some(report)) = (&mut progress, board.unwritten(row.id, row.lease)) {
        known.take(&report);
    }
    Ok(Standing { row, progress, accepted: false })
}

impl Transaction<'_> {
    /// Takes in a report. It renews the lease as a heartbeat does.
    pub(crate) fn report_progress(&mut self, report: &ReportProgress) -> Applied<Standing> {
        let before = self.require(report.job)?;
        let known = current(self.tables, &before)?;
        let is_active = before.state == JobState::Active;
        match report.accepted_under {
            Some(lease) if lease == before.lease => {}
            // Of an attempt that is over, or of a job that is not running.
            Some(_) => return Ok(Standing { row: before, progress: known, accepted: false }),
            None if !is_active => return Ok(Standing { row: before, progress: known, accepted: false }),
            None => self.check_holder(&before, report.proof.lease, report.proof.worker.as_deref())?,
        }
        let mut row = before;
        if let Some(save) = &report.checkpoint {
            self.save_checkpoint(save)?;
            row = self.require(report.job)?;
        }
        let mut progress = known.unwrap_or_else(|| ProgressRow::fresh(row.id, row.lease));
        if let Some((_, earlier)) = report.earlier.as_ref().filter(|(lease, _)| *lease == row.lease) {
            progress.take(earlier);
        }
        progress.take(&report.report);
        if is_active {
            progress.active_at = progress.updated_at;
            let before = row.clone();
            row.flags |= flag::PROGRESS;
            self.renew(&mut row);
            self.tables.update(&before, &row)?;
            self.emit_progress(&["job.progress", "progress.updated"], &row, &progress)?;
        }
        self.tables.put_progress(&progress)?;
        Ok(Standing { row, progress: Some(progress), accepted: is_active })
    }

    /// An attempt ends: writes what was reported last.
    pub(crate) fn end_progress(&mut self, before: &JobRow, after: &JobRow) -> Stored<()> {
        if before.state != JobState::Active || !before.has(flag::PROGRESS) {
            return Ok(());
        }
        let Some(mut progress) = current(self.tables, before)? else { return Ok(()) };
        if let Some(report) = self.counters.kept.progress.unwritten(before.id, before.lease) {
            progress.take(&report);
            self.emit_progress(&["job.progress", "progress.updated"], before, &progress)?;
        }
        self.counters.kept.progress.ended(before.id, before.lease);
        progress.active_at = 0;
        if after.state == JobState::Completed {
            progress.fraction = progress.fraction.map(|_| 1.0);
            self.emit_progress(&["progress.completed"], before, &progress)?;
        } else if after.state != JobState::Cancelled && before.sort_key <= self.now.as_millis() {
            // Neither a report nor a heartbeat came in time.
            self.emit_progress(&["progress.stalled"], before, &progress)?;
        }
        self.tables.put_progress(&progress)
    }

    /// Removes the record of a job that is removed.
    pub(crate) fn erase_progress(&mut self, row: &JobRow) -> Stored<()> {
        if row.has(flag::PROGRESS) { self.tables.delete_progress(row.id) } else { Ok(()) }
    }

    fn emit_progress(&mut self, events: &[&str], row: &JobRow, progress: &ProgressRow) -> Stored<()> {
        let mut extra = format!("\"attempt\":{}", row.attempt);
        if row.worker != 0
            && let Some(worker) = self.tables.worker_name(row.worker)?
        {
            json::push_text(&mut extra, "worker_id", &worker);
        }
        if let Some(percent) = progress.percent() {
            json::push_whole(&mut extra, "progress_percent", percent);
        }
        if let Some(message) = &progress.message {
            json::push_text(&mut extra, "progress_message", message);
        }
        events.iter().try_for_each(|event| self.emit(event, row, &extra))
    }
}
