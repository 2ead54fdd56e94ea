//! Cron entries that are due and did not fire, or fall into an hour that the clock skips or repeats.
use ojs_model::Timestamp;
use ojs_model::cron::CronSchedule;
use serde_json::Value;

use super::context::{Context, age_ms, now_ms, span};
use super::finding::{Finding, note, ok, warning};
use crate::failure::Failure;
use crate::list::{Paging, Source};
use crate::output::text;

const DAY_MS: i64 = 86_400_000;
/// Entries fire within a second of their time.
const LATE_MS: i64 = 60_000;
/// How far ahead changes of the clock are looked for.
const AHEAD_MS: i64 = 30 * DAY_MS;

/// All entries that are enabled.
pub async fn look(context: &Context) -> Result<Vec<Finding>, Failure> {
    let source = Source { path: "/cron".to_owned(), members: &["crons", "cron_jobs", "entries"], paging: Paging::Offset(200) };
    let entries = source.first(context.remote()?, 1_000).await?;
    let (mut found, mut enabled) = (Vec::new(), 0);
    for entry in entries.iter().map(|entry| &entry.value) {
        if text(entry, "/enabled") == "false" {
            continue;
        }
        enabled += 1;
        let name = text(entry, "/name");
        if let Some(late) = age_ms(entry, "/next_run_at").filter(|late| *late > LATE_MS) {
            let said = format!("'{name}' was due {} ago and did not fire: is maintenance on, does a server run?", span(late));
            found.push(warning(said).seen("cron", name.as_str()).seen("late_ms", late).cleared_by("ojs maintenance off"));
        } else if text(entry, "/next_run_at").is_empty() {
            let said = format!("'{name}' will never fire again: '{}' names no time to come", text(entry, "/expression"));
            found.push(warning(said).seen("cron", name.as_str()).cleared_by(format!("ojs crons delete {name}")));
        }
        found.extend(skipped_by_clock(entry, &name, now_ms()));
    }
    if found.is_empty() {
        found.push(ok(format!("{enabled} entries, none is late")));
    }
    Ok(found)
}

/// A note about an entry that fires once a day and has no time on the day of the next change of the clock.
fn skipped_by_clock(entry: &Value, name: &str, now: i64) -> Option<Finding> {
    let schedule = CronSchedule::parse(&text(entry, "/expression"), &text(entry, "/timezone")).ok()?;
    // The same times on a clock that never jumps.
    let steady = CronSchedule::parse(&text(entry, "/expression"), "UTC").ok()?;
    let gap = |schedule: &CronSchedule, at: i64| Some(schedule.next(Timestamp::from_millis(at))?.as_millis() - at);
    let usual = gap(&steady, steady.next(Timestamp::from_millis(now))?.as_millis())?;
    if usual != DAY_MS {
        return None;
    }
    let mut at = schedule.next(Timestamp::from_millis(now))?.as_millis();
    while at < now.saturating_add(AHEAD_MS) {
        let step = gap(&schedule, at)?;
        // 23 or 25 hours are the change itself; a day more is a time that was left out.
        if step > DAY_MS + DAY_MS / 2 {
            let day = Timestamp::from_millis(at.saturating_add(DAY_MS)).to_string();
            let day = day.split('T').next().unwrap_or_default();
            let said = format!("'{name}' does not fire about {day}: the clock of {} skips its time", text(entry, "/timezone"));
            return Some(note(said).seen("cron", name).seen("day", day).cleared_by(format!("ojs crons get {name}")));
        }
        at = at.saturating_add(step);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_time_that_the_clock_skips_is_named() {
        let entry = |expression: &str| json!({"expression": expression, "timezone": "Europe/Berlin"});
        let march = Timestamp::parse("2027-03-20T00:00:00Z").unwrap().as_millis();
        let said = skipped_by_clock(&entry("30 2 * * *"), "nightly", march).unwrap().message;
        assert!(said.contains("2027-03-28") && said.contains("Europe/Berlin"), "{said}");
        assert!(skipped_by_clock(&entry("30 4 * * *"), "nightly", march).is_none(), "half past four is always there");
        let june = Timestamp::parse("2027-06-20T00:00:00Z").unwrap().as_millis();
        assert!(skipped_by_clock(&entry("30 2 * * *"), "nightly", june).is_none(), "nothing changes in summer");
    }
}
