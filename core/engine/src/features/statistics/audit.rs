//! The audit of figures: each row begins where a minute or an hour begins, and no figure is negative.
use crate::error::Result;
use crate::features::statistics::records::{HOUR, MINUTE, StatRow};
use crate::features::statistics::types::TypeRow;
use crate::kernel::audit::{Audit, Checks, RECORDS};
use crate::store::record::{Records, Scan};

pub(crate) const CHECKS: Checks = Checks { job: None, whole: Some(compare) };

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    let mut seen = 0;
    for span in [MINUTE, HOUR] {
        let mut after = (i64::MIN, 0, 0);
        loop {
            let next = Scan::over(StatRow::KEY).under(&span).after(&after).limit(RECORDS);
            let page: Vec<StatRow> = Records::of(&mut *audit.tables).scan(&next)?;
            let Some(last) = page.last().map(|row| (row.at, row.queue, row.node)) else { break };
            page.iter().for_each(|row| look_at(audit, "queue", row));
            seen += page.len();
            after = last;
        }
    }
    let all = Records::<StatRow, _>::of(&mut *audit.tables).count(&Scan::over(StatRow::KEY))?;
    audit.same("figures", "all figures", "rows, of minutes and hours and in all", seen, all);
    compare_types(audit)
}

fn compare_types(audit: &mut Audit<'_>) -> Result<()> {
    for span in [MINUTE, HOUR] {
        let mut after = (i64::MIN, 0, 0);
        loop {
            let next = Scan::over(TypeRow::KEY).under(&span).after(&after).limit(RECORDS);
            let page: Vec<TypeRow> = Records::of(&mut *audit.tables).scan(&next)?;
            let Some(last) = page.last().map(|row| (row.at, row.job_type, row.node)) else { break };
            for row in page {
                look_at(audit, "job type", &row.into());
            }
            after = last;
        }
    }
    Ok(())
}

fn look_at(audit: &mut Audit<'_>, of: &str, row: &StatRow) {
    let subject = format!("figures of {of} number {} at {} for {} ms", row.queue, row.at, row.span);
    if row.at.rem_euclid(row.span) != 0 {
        audit.find("figures", &subject, "its beginning", "a whole minute or hour", row.at);
    }
    let smallest = [row.enqueued, row.completed, row.failed, row.discarded].into_iter().min().unwrap_or(0);
    if smallest < 0 {
        audit.find("figures", &subject, "its smallest figure", "0 or more", smallest);
    }
}
