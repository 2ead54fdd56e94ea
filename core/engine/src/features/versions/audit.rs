//! The audit of versions: claims find each available job in the line of its version.
use crate::error::Result;
use crate::kernel::audit::{Audit, Checks};
use crate::kernel::holds::Holds;
use crate::kernel::job::JobRow;

pub(crate) const CHECKS: Checks = Checks { job: Some(|audit, row, _| look_at(audit, row)), whole: None };

fn look_at(audit: &mut Audit<'_>, row: &JobRow) -> Result<()> {
    if row.state != ojs_model::JobState::Available {
        return Ok(());
    }
    let in_line = row.holds.contains(Holds::VERSION);
    audit.same("version_lines", format_args!("job {}", row.id), "in the line of a version", row.version > 0, in_line);
    if in_line && !audit.tables.has_versions(row.queue)? {
        let what = format!("whether claims look for versions in queue number {}", row.queue);
        audit.find("version_lines", format_args!("job {}", row.id), what, "yes", "no");
    }
    Ok(())
}
