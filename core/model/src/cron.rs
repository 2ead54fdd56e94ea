//! Cron expressions: five or six fields, shortcuts, `@every`, in an IANA time zone (protocol section 8.2).
//!
//! Times are sought on the zone's wall clock: one that the clock skips does not fire, one that it repeats fires once, at the first.
use std::time::Duration;

use croner::parser::{CronParser, Seconds, Year};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

use crate::Timestamp;
use crate::error::OjsError;

/// Shortest period of `@every`: one evaluation a second.
const MIN_PERIOD: Duration = Duration::from_secs(1);
/// Occurrences looked at before giving up: a clock skips or repeats an hour or two, in steps of a second at most.
const MAX_LOOKS: usize = 20_000;

/// When an entry fires.
#[derive(Debug, Clone)]
pub struct CronSchedule {
    rule: Rule,
}

#[derive(Debug, Clone)]
enum Rule {
    Every(Duration),
    Wall(Box<croner::Cron>, TimeZone),
}

fn fault(field: &str, message: impl std::fmt::Display) -> OjsError {
    OjsError::invalid_field(field, format!("{field} {message}."))
}

/// The parser's error, with the expression and what its fields may be.
fn unreadable(fields: &str, error: &str) -> OjsError {
    let shown: String = fields.chars().take(80).collect();
    let error = error.trim_start_matches("Component error: ").trim_end_matches('.').to_lowercase();
    let ranges = "minute 0-59, hour 0-23, day 1-31, month 1-12, weekday 0-7";
    fault("expression", format_args!("'{shown}' is not valid: {error} ({ranges})"))
}

impl CronSchedule {
    /// Reads an expression and a zone.
    ///
    /// ```
    /// use ojs_model::{Timestamp, cron::CronSchedule};
    /// let daily = CronSchedule::parse("0 9 * * *", "Asia/Tokyo")?;
    /// let next = daily.next(Timestamp::parse("2026-02-12T10:30:00Z").unwrap());
    /// assert_eq!(next.unwrap().to_string(), "2026-02-13T00:00:00.000Z");
    /// # Ok::<(), ojs_model::OjsError>(())
    /// ```
    ///
    /// # Errors
    /// 400 `invalid_payload`, field `expression` or `timezone`.
    pub fn parse(expression: &str, timezone: &str) -> Result<Self, OjsError> {
        let zone = zone(timezone)?;
        let text = expression.trim();
        if let Some(period) = text.strip_prefix("@every ") {
            let period = every(period.trim()).filter(|period| *period >= MIN_PERIOD);
            let period = period
                .ok_or_else(|| fault("expression", "needs a period of at least 1s after @every, for example @every 1h30m"))?;
            return Ok(Self { rule: Rule::Every(period) });
        }
        let fields = match text.to_ascii_lowercase().as_str() {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            _ => text,
        };
        let count = fields.split_whitespace().count();
        if !matches!(count, 5 | 6) {
            return Err(fault(
                "expression",
                format_args!(
                    "must have 5 fields (minute hour day month weekday), or 6 with seconds first, or be a shortcut such as @daily; it has {count}"
                ),
            ));
        }
        check_words(fields)?;
        let seconds = if count == 6 { Seconds::Required } else { Seconds::Disallowed };
        let parser = CronParser::builder().seconds(seconds).year(Year::Disallowed).build();
        let cron = parser.parse(fields).map_err(|error| unreadable(fields, &error.to_string()))?;
        Ok(Self { rule: Rule::Wall(Box::new(cron), zone) })
    }

    /// The first time after `after`; `None` when there is none (30 February).
    #[must_use]
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        match &self.rule {
            Rule::Every(period) => Some(after.plus(*period)),
            Rule::Wall(cron, zone) => next_on_wall(cron, zone, after),
        }
    }
}

/// What the parser takes too lightly: empty places of a list, and names of days and months in fields of something else.
fn check_words(fields: &str) -> Result<(), OjsError> {
    const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
    const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
    // The last field is the weekday, the one before it the month; whether there are seconds does not matter here.
    for (place, field) in fields.split_whitespace().rev().enumerate() {
        let known = |word: &str| match place {
            0 => word == "L" || DAYS.contains(&word.strip_suffix('L').unwrap_or(word)),
            1 => MONTHS.contains(&word),
            _ => matches!(word, "L" | "W" | "LW"),
        };
        let upper = field.to_ascii_uppercase();
        let mut words = upper.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
        if field.split(',').any(str::is_empty) || !words.all(known) {
            let field: String = field.chars().take(80).collect();
            return Err(fault("expression", format_args!("is not valid: '{field}' means nothing in its place")));
        }
    }
    Ok(())
}

fn next_on_wall(cron: &croner::Cron, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let after = jiff::Timestamp::from_millisecond(after.as_millis()).ok()?;
    let mut wall: DateTime = zone.to_datetime(after);
    for _ in 0..MAX_LOOKS {
        // The wall clock alone, as if it never jumped.
        let from = wall.to_zoned(TimeZone::UTC).ok()?;
        wall = cron.find_next_occurrence(&from, false).ok()?.datetime();
        let ambiguous = zone.to_ambiguous_timestamp(wall);
        if matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. }) {
            continue;
        }
        let first = ambiguous.earlier().ok()?;
        if first > after {
            return Some(Timestamp::from_millis(first.as_millisecond()));
        }
    }
    None
}

/// An IANA name; offsets and abbreviations do not say what the clock does in summer.
fn zone(name: &str) -> Result<TimeZone, OjsError> {
    let unknown = || {
        fault(
            "timezone",
            format_args!(
                "must be an IANA name such as Europe/Berlin or UTC, got '{}'",
                name.chars().take(80).collect::<String>()
            ),
        )
    };
    if name != "UTC" && !name.contains('/') {
        return Err(unknown());
    }
    TimeZone::get(name).map_err(|_| unknown())
}

/// `1h30m`: numbers with ms, s, m, h.
fn every(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let number: u64 = number.parse().ok()?;
        total = total.checked_add(match unit {
            "ms" => Duration::from_millis(number),
            "s" => Duration::from_secs(number),
            "m" => Duration::from_secs(number.checked_mul(60)?),
            "h" => Duration::from_secs(number.checked_mul(3600)?),
            _ => return None,
        })?;
        rest = tail;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(expression: &str, zone: &str, from: &str, count: usize) -> Vec<String> {
        let schedule = CronSchedule::parse(expression, zone).unwrap();
        let mut at = Timestamp::parse(from).unwrap();
        std::iter::from_fn(|| {
            at = schedule.next(at)?;
            Some(at.to_string().replace(".000Z", "Z"))
        })
        .take(count)
        .collect()
    }

    #[test]
    fn fields_and_shortcuts() {
        assert_eq!(runs("*/15 * * * *", "UTC", "2026-01-01T00:07:00Z", 2), ["2026-01-01T00:15:00Z", "2026-01-01T00:30:00Z"]);
        assert_eq!(runs("30 0 0 * * *", "UTC", "2026-01-01T00:00:00Z", 1), ["2026-01-01T00:00:30Z"]);
        assert_eq!(runs("@daily", "America/New_York", "2026-01-01T12:00:00Z", 1), ["2026-01-02T05:00:00Z"]);
        assert_eq!(
            runs("0 0 1 JAN MON", "UTC", "2026-01-02T00:00:00Z", 2),
            ["2026-01-05T00:00:00Z", "2026-01-12T00:00:00Z"],
            "either day matches"
        );
        assert_eq!(
            runs("0 0 1,LW jan-dec monL", "UTC", "2026-02-01T00:00:00Z", 2),
            ["2026-02-23T00:00:00Z", "2026-02-27T00:00:00Z"]
        );
        assert_eq!(runs("0 0 L * *", "UTC", "2026-02-01T00:00:00Z", 1), ["2026-02-28T00:00:00Z"]);
        assert_eq!(runs("0 0 31 * *", "UTC", "2026-02-01T00:00:00Z", 1), ["2026-03-31T00:00:00Z"], "short months have none");
        assert_eq!(runs("@every 1h30m", "UTC", "2026-01-01T00:00:00Z", 2), ["2026-01-01T01:30:00Z", "2026-01-01T03:00:00Z"]);
        assert!(runs("0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z", 1).is_empty());
    }

    #[test]
    fn the_clock_changes() {
        // Berlin, 29 March 2026: 02:00 becomes 03:00. A time that does not exist does not fire.
        assert_eq!(
            runs("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2),
            ["2026-03-30T00:30:00Z", "2026-03-31T00:30:00Z"]
        );
        // 25 October 2026: 03:00 becomes 02:00. A time that comes twice fires at the first.
        assert_eq!(
            runs("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2),
            ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
        );
        assert_eq!(
            runs("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 3),
            ["2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z", "2026-10-25T03:00:00Z"]
        );
    }

    #[test]
    fn faults_name_the_field() {
        for expression in [
            "not a valid cron",
            "0 0 0 0 0 0 0",
            "99 25 32 13 8",
            "*/0 * * * *",
            "",
            "* * * *",
            "@every 10ms",
            "@every soon",
            "@sometimes",
            "61 * * * *",
            "1,,2 * * * *",
            "5, * * * *",
            "0 0 * MON *",
            "0 0 * * JAN",
            "0 0 FRI * *",
        ] {
            let error = CronSchedule::parse(expression, "UTC").unwrap_err();
            assert_eq!(error.details.unwrap()["field"], "expression", "{expression}");
        }
        assert_eq!(
            CronSchedule::parse("0 25 * * *", "UTC").unwrap_err().message,
            "expression '0 25 * * *' is not valid: number out of bounds \
             (minute 0-59, hour 0-23, day 1-31, month 1-12, weekday 0-7)."
        );
        for zone in ["+02:00", "CET", "Mars/Olympus", ""] {
            let error = CronSchedule::parse("@daily", zone).unwrap_err();
            assert_eq!(error.details.unwrap()["field"], "timezone", "{zone}");
        }
    }
}
