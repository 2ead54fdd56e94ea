//! The audit of keys with limits: the numbers of a key against its jobs, and parked jobs against free slots.
use crate::error::Result;
use crate::features::limits::records::LimitRow;
use crate::features::limits::rules::parked_lines;
use crate::kernel::audit::{Audit, Checks};
use crate::kernel::holds::Holds;
use crate::kernel::job::JobRow;
use crate::store::selection::Selection;

pub(crate) const CHECKS: Checks = Checks { job: Some(|audit, row, _| look_at(audit, row)), whole: Some(compare) };

fn look_at(audit: &mut Audit<'_>, row: &JobRow) -> Result<()> {
    if row.limit == 0 {
        if row.holds.contains(Holds::LIMIT) {
            audit.find("parked_jobs", format_args!("job {}", row.id), "its key", "a key that holds it", "none");
        }
        return Ok(());
    }
    let [active, waiting] = audit.features.limits.entry(row.limit).or_default();
    match row.state {
        ojs_model::JobState::Active => *active += 1,
        ojs_model::JobState::Available => *waiting += 1,
        _ => {}
    }
    Ok(())
}

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    let mut seen = std::mem::take(&mut audit.features.limits);
    audit.each_record(
        0,
        |row: &LimitRow| row.num,
        |audit, row| {
            let subject = format!("rate limit '{}'", row.key);
            let [active, waiting] = seen.remove(&row.num).unwrap_or_default();
            let (running, held) = (audit.tables.running(row.num)?, audit.tables.held(row.num)?);
            audit.same("limit_counts", &subject, "active jobs of the key", active, running);
            audit.same("limit_counts", &subject, "available jobs of the key", waiting, held);
            look_for_room(audit, row, &subject, running)
        },
    )?;
    for number in seen.keys() {
        audit.find("limit_keys", format_args!("rate limit number {number}"), "a key that jobs name", "a row", "none");
    }
    Ok(())
}

/// A key with a free slot has no parked job, unless time opens it: then a sweep will.
fn look_for_room(audit: &mut Audit<'_>, row: &LimitRow, subject: &str, running: i64) -> Result<()> {
    // Limits that cannot be read hold their jobs until they are set anew. An override that is over is none.
    let Ok(limits) = row.now(i64::MAX) else { return Ok(()) };
    let timed = row.open_at > 0 || row.held_until > 0 || limits.rate.is_some() || limits.throttle.is_some();
    if timed {
        return Ok(());
    }
    let slots = limits.concurrency.map_or(i64::MAX, |most| i64::try_from(most).unwrap_or(i64::MAX));
    for line in parked_lines(audit.tables, row.num)? {
        let (ready, _) = audit.tables.heads(row.num, line)?;
        // Counted, because a reader may not lock rows.
        let parked = audit.tables.count(&Selection::Parked { key: row.num, line }, 1)? > 0;
        let free = slots.saturating_sub(running).saturating_sub(ready);
        if free > 0 && parked {
            let what = format!("free slots while jobs of queue number {} are parked", line.queue);
            audit.find("parked_jobs", subject, what, "none", free);
        }
    }
    Ok(())
}
