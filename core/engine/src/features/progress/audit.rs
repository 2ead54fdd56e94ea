//! The audit of progress: each record belongs to a job that says that it has one, and its values are possible.
use ojs_model::{JobId, JobState};

use crate::error::Result;
use crate::features::progress::records::{ProgressRow, ProgressTables as _};
use crate::kernel::audit::{Audit, Checks};
use crate::kernel::job::{JobRow, flag};

pub(crate) const CHECKS: Checks = Checks { job: Some(|audit, row, _| look_at(audit, row)), whole: Some(compare) };

fn look_at(audit: &mut Audit<'_>, row: &JobRow) -> Result<()> {
    if row.has(flag::PROGRESS) && audit.tables.progress(row.id)?.is_none() {
        audit.find("progress", format_args!("job {}", row.id), "its progress", "a record", "none");
    }
    Ok(())
}

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    audit.each_record(
        JobId::from_bytes([0; 16]),
        |row: &ProgressRow| row.job,
        |audit, row| {
            let subject = format!("progress of job {}", row.job);
            let Some(job) = audit.tables.row(row.job)?.filter(|job| job.has(flag::PROGRESS)) else {
                audit.find("progress", &subject, "a job that says it has reported progress", "a row", "none");
                return Ok(());
            };
            let runs = job.state == JobState::Active && job.lease == row.lease;
            audit.same("progress", &subject, "that its attempt runs", runs, row.active_at > 0);
            if row.lease > job.lease {
                audit.find("progress", &subject, "its claim", format_args!("at most {}", job.lease), row.lease);
            }
            if let Some(fraction) = row.fraction.filter(|fraction| !(0.0..=1.0).contains(fraction)) {
                audit.find("progress", &subject, "its fraction", "from 0 to 1", fraction);
            }
            Ok(())
        },
    )
}
