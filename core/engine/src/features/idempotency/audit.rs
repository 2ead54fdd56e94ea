//! The audit of remembered answers: each can be given again.
use crate::error::Result;
use crate::features::idempotency::records::Remembered;
use crate::kernel::audit::{Audit, Checks};

pub(crate) const CHECKS: Checks = Checks { job: None, whole: Some(compare) };

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    audit.each_record(
        String::new(),
        |row: &Remembered| row.name.clone(),
        |audit, row| {
            let subject = format!("answer '{}'", row.name);
            audit.same("answers", &subject, "bytes of the digest of its request", 32, row.digest.len());
            if !(100..600).contains(&row.status) {
                audit.find("answers", &subject, "its status", "100 to 599", row.status);
            }
            Ok(())
        },
    )
}
