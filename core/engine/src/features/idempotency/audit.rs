//! The audit of remembered answers: each can be given again.
use crate::error::Result;
use crate::features::idempotency::records::Remembered;
use crate::kernel::audit::{Audit, Checks, RECORDS};
use crate::store::record::{Records, Scan};

pub(crate) const CHECKS: Checks = Checks { job: None, whole: Some(compare) };

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    let mut after = String::new();
    loop {
        let page: Vec<Remembered> =
            Records::of(&mut *audit.tables).scan(&Scan::over(Remembered::KEY).above(&after).limit(RECORDS))?;
        let Some(last) = page.last().map(|row| row.name.clone()) else { return Ok(()) };
        for row in &page {
            let subject = format!("answer '{}'", row.name);
            audit.same("answers", &subject, "bytes of the digest of its request", 32, row.digest.len());
            if !(100..600).contains(&row.status) {
                audit.find("answers", &subject, "its status", "100 to 599", row.status);
            }
        }
        after = last;
    }
}
