//! The audit of pools: each queue of a pool names a pool that there is, and their numbers are within their bounds.
use crate::error::Result;
use crate::features::pools::records::{MAX_WEIGHT, PoolQueue, PoolRow};
use crate::features::pools::shares::WHOLE;
use crate::kernel::audit::{Audit, Checks};

pub(crate) const CHECKS: Checks = Checks { job: None, whole: Some(compare) };

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    audit.each_record(
        String::new(),
        |row: &PoolQueue| row.queue.clone(),
        |audit, row| {
            let subject = format!("queue '{}' of pool '{}'", row.queue, row.pool);
            if audit.tables.pool(&row.pool)?.is_none() {
                audit.find("pools", &subject, "its pool", "a pool", "none");
            }
            if !(1..=MAX_WEIGHT).contains(&row.weight) {
                audit.find("pools", &subject, "its weight", format!("1 to {MAX_WEIGHT}"), row.weight);
            }
            Ok(())
        },
    )?;
    audit.each_record(
        String::new(),
        |row: &PoolRow| row.name.clone(),
        |audit, row| {
            let subject = format!("pool '{}'", row.name);
            if row.concurrency < 0 {
                audit.find("pools", &subject, "its limit of active jobs", "at least 0", row.concurrency);
            }
            if !(0..=WHOLE).contains(&row.least_share) {
                audit.find("pools", &subject, "the share of each queue", format!("0 to {WHOLE}"), row.least_share);
            }
            Ok(())
        },
    )
}
