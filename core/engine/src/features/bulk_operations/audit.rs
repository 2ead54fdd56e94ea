//! The audit of bulk operations: their counts and times against their states.
use ojs_model::JobId;

use super::records::{OperationRow, OperationState};
use super::refusals;
use crate::error::Result;
use crate::kernel::audit::{Audit, Checks};

pub(crate) const CHECKS: Checks = Checks { job: None, whole: Some(compare) };

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    audit.each_record(
        JobId::from_bytes([0; 16]),
        |row: &OperationRow| row.id,
        |audit, row| {
            let subject = format!("bulk operation {}", row.id);
            let is_open = matches!(row.state, OperationState::Running | OperationState::Paused);
            if is_open != (row.open_at > 0) || is_open == (row.finished_at > 0) {
                audit.find("bulk_operation", &subject, "its place among those that have not ended", is_open, row.open_at > 0);
            }
            if row.seen != row.changed + row.refused {
                audit.find("bulk_operation", &subject, "jobs changed and refused", row.seen, row.changed + row.refused);
            }
            match refusals::read(&row.refusals) {
                Ok(known) => {
                    let counted: u64 = known.iter().map(|refusals| refusals.count).sum();
                    if u64::try_from(row.refused) != Ok(counted) {
                        audit.find("bulk_operation", &subject, "jobs refused, by reason", row.refused, counted);
                    }
                }
                Err(fault) => audit.find("bulk_operation", &subject, "its refusals", "readable", fault),
            }
            Ok(())
        },
    )
}
