//! The audit of cron entries: their times and the number of jobs that wait.
use crate::error::Result;
use crate::features::crons::records::CronRow;
use crate::features::crons::rules::MAX_WAITING;
use crate::kernel::audit::{Audit, Checks, RECORDS};
use crate::store::record::{Records, Scan};

pub(crate) const CHECKS: Checks = Checks { job: None, whole: Some(compare) };

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    let mut after = String::new();
    loop {
        let page: Vec<CronRow> = Records::of(&mut *audit.tables).scan(&Scan::over(CronRow::KEY).above(&after).limit(RECORDS))?;
        let Some(last) = page.last().map(|row| row.name.clone()) else { return Ok(()) };
        for row in &page {
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
        }
        after = last;
    }
}
