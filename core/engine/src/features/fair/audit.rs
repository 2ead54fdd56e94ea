//! The audit of shared queues. It reports available jobs that no claim would find.
use ojs_model::JobState;

use crate::error::Result;
use crate::features::fair::records::{FairQueue, Share};
use crate::features::fair::weights::{MAX_WEIGHT, key_of_tenant};
use crate::kernel::audit::{Audit, Checks};
use crate::kernel::holds::Holds;
use crate::kernel::job::JobRow;

pub(crate) const CHECKS: Checks = Checks { job: Some(|audit, row, _| look_at(audit, row)), whole: Some(compare) };

fn look_at(audit: &mut Audit<'_>, row: &JobRow) -> Result<()> {
    if row.state != JobState::Available {
        return Ok(());
    }
    let in_line = row.holds.contains(Holds::FAIR_SHARE);
    let subject = format!("job {}", row.id);
    audit.same("fair_lines", &subject, "in the line of a key", row.fair > 0, in_line);
    if !in_line {
        return Ok(());
    }
    let Some(sharing) = audit.tables.fair_queue(row.queue)? else {
        let what = format!("whether claims look for lines of keys in queue number {}", row.queue);
        audit.find("fair_lines", &subject, what, "yes", "no");
        return Ok(());
    };
    // Jobs that came while the queue was shared by keys keep theirs.
    let by_tenant = sharing.share == Share::Tenant && row.created_at > sharing.updated_at;
    if by_tenant {
        audit.same("fair_lines", &subject, "its key", key_of_tenant(row.tenant), row.fair);
    }
    Ok(())
}

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    audit.each_record(
        0,
        |row: &FairQueue| row.queue,
        |audit, row| {
            let subject = format!("queue number {}", row.queue);
            if !(1..=MAX_WEIGHT).contains(&row.default_weight) {
                audit.find("fair_queues", &subject, "its default weight", format!("1 to {MAX_WEIGHT}"), row.default_weight);
            }
            if row.weights.known().is_none() {
                audit.find("fair_queues", &subject, "its weights", "an object of weights", "a text that cannot be read");
            }
            Ok(())
        },
    )
}
