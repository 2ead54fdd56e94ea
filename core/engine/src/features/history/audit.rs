//! The audit of deleted histories: each record belongs to a job that says so, and the other way round.
use ojs_model::JobId;

use super::records::{CutRow, HistoryTables as _};
use crate::error::Result;
use crate::kernel::audit::{Audit, Checks};
use crate::kernel::job::{JobRow, flag};

pub(crate) const CHECKS: Checks = Checks { job: Some(|audit, row, _| look_at(audit, row)), whole: Some(compare) };

fn look_at(audit: &mut Audit<'_>, row: &JobRow) -> Result<()> {
    if row.has(flag::CUT) && audit.tables.history_cut(row.id)?.is_none() {
        audit.find("history_cuts", format_args!("job {}", row.id), "when its history was deleted", "a record", "none");
    }
    Ok(())
}

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    audit.each_record(
        JobId::from_bytes([0; 16]),
        |row: &CutRow| row.job,
        |audit, row| {
            let subject = format!("deleted history of job {}", row.job);
            let owned = audit.tables.row(row.job)?.is_some_and(|job| job.has(flag::CUT));
            audit.same("history_cuts", &subject, "a job that says its history was deleted", true, owned);
            Ok(())
        },
    )
}
