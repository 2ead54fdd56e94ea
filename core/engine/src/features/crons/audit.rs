//! The audit of cron entries: their times and the number of jobs that wait.
use crate::error::Result;
use crate::features::crons::records::CronRow;
use crate::features::crons::rules::MAX_WAITING;
use crate::kernel::audit::{Audit, Checks};

pub(crate) const CHECKS: Checks = Checks { job: None, whole: Some(compare) };

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    audit.each_record(
        String::new(),
        |row: &CronRow| row.name.clone(),
        |audit, row| {
            let subject = format!("cron entry '{}'", row.name);
            if row.next_at > 0 && row.last_at >= row.next_at {
                let expected = format!("more than {}", row.last_at);
                audit.find("cron_times", &subject, "its next time, milliseconds", expected, row.next_at);
            }
            if !row.enabled {
                audit.same("cron_times", &subject, "the next time of a disabled entry", 0, row.next_at);
            }
            if !(0..=MAX_WAITING).contains(&row.waiting) {
                audit.find("cron_waiting", &subject, "jobs that wait", format!("0 to {MAX_WAITING}"), row.waiting);
            }
            Ok(())
        },
    )
}
