//! The audit of checkpoints: each belongs to a job that says that it has one, and the other way round.
use ojs_model::JobId;

use crate::error::Result;
use crate::features::checkpoints::records::{CheckpointRow, CheckpointTables as _};
use crate::kernel::audit::{Audit, Checks};
use crate::kernel::job::{JobRow, flag};

pub(crate) const CHECKS: Checks = Checks { job: Some(|audit, row, _| look_at(audit, row)), whole: Some(compare) };

fn look_at(audit: &mut Audit<'_>, row: &JobRow) -> Result<()> {
    // Where the checkpoint goes with the end of the job, a job that was run again has none.
    if row.has(flag::CHECKPOINT) && !row.has(flag::CHECKPOINT_ENDS) && audit.tables.checkpoint(row.id)?.is_none() {
        audit.find("checkpoints", format_args!("job {}", row.id), "its checkpoint", "a record", "none");
    }
    Ok(())
}

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    audit.each_record(
        JobId::from_bytes([0; 16]),
        |row: &CheckpointRow| row.job,
        |audit, row| {
            let subject = format!("checkpoint of job {}", row.job);
            let owned = audit.tables.row(row.job)?.is_some_and(|job| job.has(flag::CHECKPOINT));
            audit.same("checkpoints", &subject, "a job that says it has a checkpoint", true, owned);
            if row.sequence < 1 {
                audit.find("checkpoints", &subject, "its sequence", "at least 1", row.sequence);
            }
            if serde_json::from_str::<serde::de::IgnoredAny>(&row.state).is_err() {
                let found = format!("{} bytes of another form", row.state.len());
                audit.find("checkpoints", &subject, "its state", "a JSON text", found);
            }
            Ok(())
        },
    )
}
