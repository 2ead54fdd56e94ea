//! The audit of error groups: each row has the key of its parts, and its figures fit together.
use crate::error::Result;
use crate::features::errors::records::{ErrorRow, MAX_JOBS};
use crate::kernel::audit::{Audit, Checks};

pub(crate) const CHECKS: Checks = Checks { job: None, whole: Some(compare) };

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    audit.each_record(
        String::new(),
        |row: &ErrorRow| row.id.clone(),
        |audit, row| {
            let subject = format!("error group '{}' of queue '{}' and type '{}'", row.fingerprint, row.queue, row.job_type);
            let id = ErrorRow::id_of(row.tenant, &row.fingerprint, &row.queue, &row.job_type);
            audit.same("errors", &subject, "its key", &id, &row.id);
            if row.count < 1 {
                audit.find("errors", &subject, "its failures", "1 or more", row.count);
            }
            if row.first_at > row.last_at {
                audit.find("errors", &subject, "its first failure", "not after the last one", row.first_at);
            }
            if !(1..=MAX_JOBS).contains(&row.jobs.len()) {
                audit.find("errors", &subject, "the jobs that it names", format!("1 to {MAX_JOBS}"), row.jobs.len());
            }
            Ok(())
        },
    )
}
