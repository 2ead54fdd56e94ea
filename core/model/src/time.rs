//! Points in time: RFC 3339 in, UTC with milliseconds out (protocol section 6).
use std::fmt;
use std::time::Duration;

use crate::duration;

/// Milliseconds since the Unix epoch, UTC. Prints as `2026-02-12T10:30:00.000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// The text is not an RFC 3339 time with a zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 time with a zone (for example 2026-02-12T10:30:00Z)")]
pub struct InvalidTime;

/// The last millisecond with a four-digit year: RFC 3339 ends here.
const MAX_MILLIS: i64 = 253_402_300_799_999;
/// The first millisecond of the year 0, where RFC 3339 begins.
const MIN_MILLIS: i64 = -62_167_219_200_000;

impl Timestamp {
    /// `9999-12-31T23:59:59.999Z`, the last time that can be written. Sums stop here.
    pub const MAX: Self = Self(MAX_MILLIS);

    /// From milliseconds since the Unix epoch.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// This time plus a duration, at most [`Timestamp::MAX`].
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        self.plus_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }

    /// This time plus whole milliseconds, at most [`Timestamp::MAX`].
    #[must_use]
    pub fn plus_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_add_unsigned(millis)).min(Self::MAX)
    }

    /// Milliseconds from `earlier` to this time; zero when it lies behind.
    #[must_use]
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// Reads RFC 3339 with a mandatory zone. Digits behind the millisecond are dropped; a leap second reads as the
    /// second after it.
    ///
    /// # Errors
    /// [`InvalidTime`] for anything else, a missing zone included.
    pub fn parse(text: &str) -> Result<Self, InvalidTime> {
        parse(text.as_bytes()).map(Self).ok_or(InvalidTime)
    }

    /// Reads an RFC 3339 time, or `+<ISO 8601 duration>` relative to `now`.
    ///
    /// # Errors
    /// [`InvalidTime`] for anything else, and for a time behind the year 9999.
    pub fn parse_from(text: &str, now: Self) -> Result<Self, InvalidTime> {
        match text.strip_prefix('+') {
            Some(relative) => {
                let at = now.plus(duration::parse(relative).map_err(|_| InvalidTime)?);
                if at < Self::MAX { Ok(at) } else { Err(InvalidTime) }
            }
            None => Self::parse(text),
        }
    }
}

impl Timestamp {
    /// Appends the text form. Rendering a job prints several times, so this goes around the formatter.
    pub fn push(self, out: &mut String) {
        let (year, month, day) = civil_from_days(self.0.div_euclid(DAY_MS));
        let ms = self.0.rem_euclid(DAY_MS);
        let seconds = ms / 1000;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let d = |value: i64| b'0' + (value % 10).unsigned_abs() as u8;
        if (0..=9999).contains(&year) {
            push_ascii(out, &[d(year / 1000), d(year / 100), d(year / 10), d(year)]);
        } else {
            // Behind the limits of the wire, but a number can be printed.
            out.push_str(&year.to_string());
        }
        push_ascii(out, &[b'-', d(month / 10), d(month), b'-', d(day / 10), d(day), b'T', d(hour / 10), d(hour), b':']);
        push_ascii(
            out,
            &[d(minute / 10), d(minute), b':', d(second / 10), d(second), b'.', d(ms / 100), d(ms / 10), d(ms), b'Z'],
        );
    }
}

fn push_ascii(out: &mut String, digits: &[u8]) {
    out.push_str(std::str::from_utf8(digits).unwrap_or_default());
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(24);
        self.push(&mut text);
        f.pad(&text)
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(24);
        self.push(&mut text);
        serializer.serialize_str(&text)
    }
}

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// `YYYY-MM-DDThh:mm:ss[.f…](Z|±hh:mm)` to milliseconds. By hand: general parsers also read blanks for `T`, missing seconds,
/// zones in brackets and more that the wire does not have.
fn parse(text: &[u8]) -> Option<i64> {
    let (date_time, rest) = text.split_at_checked(19)?;
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T' | b't', h1, h2, b':', n1, n2, b':', s1, s2] = date_time else {
        return None;
    };
    let year = number(&[y1, y2, y3, y4])?;
    let month = number(&[m1, m2]).filter(|m| (1..=12).contains(m))?;
    let day = number(&[d1, d2]).filter(|d| (1..=days_in_month(year, month)).contains(d))?;
    let hour = number(&[h1, h2]).filter(|h| *h <= 23)?;
    let minute = number(&[n1, n2]).filter(|m| *m <= 59)?;
    let second = number(&[s1, s2]).filter(|s| *s <= 60)?;
    let (millis, zone) = fraction(rest)?;
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset(zone)?;
    // An offset or a leap second may carry a time out of the years that can be written.
    Some(seconds * 1000 + millis).filter(|ms| (MIN_MILLIS..=MAX_MILLIS).contains(ms))
}

/// Digits only; no sign, no blank.
fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))
}

/// The optional `.fff…` in milliseconds, and what follows it.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let Some(digits) = text.strip_prefix(b".") else { return Some((0, text)) };
    let len = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, rest) = digits.split_at_checked(len)?;
    let padded = digits.iter().chain(std::iter::repeat(&b'0')).take(3);
    (len > 0).then(|| (padded.fold(0, |n, b| n * 10 + i64::from(b - b'0')), rest))
}

/// Seconds east of UTC.
fn offset(zone: &[u8]) -> Option<i64> {
    match *zone {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let hours = number(&[h1, h2]).filter(|h| *h <= 23)?;
            let minutes = number(&[m1, m2]).filter(|m| *m <= 59)?;
            let seconds = hours * 3600 + minutes * 60;
            Some(if sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Day number of a date, counted from 1970-01-01: the inverse of [`civil_from_days`].
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let shifted_year = if month <= 2 { year - 1 } else { year };
    let shifted_month = (month + 9) % 12;
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Proleptic Gregorian date of a day number counted from 1970-01-01. Printed several times per job, hence by hand.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    // Eras of 400 years starting on 1 March, so that the leap day is the last day of a year.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn prints_what_jiff_prints(millis in -62_135_596_800_000_i64..253_402_300_799_999) {
            let jiff = jiff::Timestamp::from_millisecond(millis).unwrap();
            prop_assert_eq!(Timestamp(millis).to_string(), format!("{jiff:.3}"));
        }

        #[test]
        fn reads_what_it_prints(millis in -62_135_596_800_000_i64..253_402_300_799_999) {
            let time = Timestamp(millis);
            prop_assert_eq!(Timestamp::parse(&time.to_string()), Ok(time));
        }

        #[test]
        fn reads_what_jiff_reads(
            (year, month, day) in (1_i32..9999, 0_u32..14, 0_u32..33), (hour, minute, second) in (0_u32..26, 0_u32..62, 0_u32..60),
            fraction in "(\\.[0-9]{1,9})?", zone in "Z|z|[+-][01][0-9]:[0-5][0-9]",
        ) {
            let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}");
            // jiff rounds towards zero, so does a clock before 1970 towards the future: compare after it.
            let jiff = text.parse::<jiff::Timestamp>().ok().filter(|t| t.as_second() > 0).map(|t| t.as_millisecond());
            let ours = Timestamp::parse(&text).ok().map(Timestamp::as_millis).filter(|ms| *ms >= 1000);
            prop_assert_eq!(ours, jiff, "{}", text);
        }

        #[test]
        fn never_panics(text in "\\PC{0,40}|[0-9TZ:.+-]{15,40}", now in any::<i64>()) {
            let _ = Timestamp::parse_from(&text, Timestamp(now));
            let _ = Timestamp(now).to_string();
        }
    }

    #[test]
    fn only_rfc_3339_is_read() {
        for text in [
            "2026-02-12T10:30:00",
            "2026-02-12",
            "2026-02-12 10:30:00Z",
            "2026-02-12T10:30Z",
            "2026-02-12T10:30:00.Z",
            "2026-02-12T10:30:00,5Z",
            "2026-02-12T10:30:00+02",
            "2026-02-12T10:30:00+0200",
            "2026-02-12T10:30:00+02:00:00",
            "2026-02-12T10:30:00Z[UTC]",
            "20260212T103000Z",
            "2026-02-30T10:30:00Z",
            "2025-02-29T10:30:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:61Z",
            "2026-01-01T00:00:00+24:00",
            "+2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00Z ",
            " 2026-01-01T00:00:00Z",
            "٢026-01-01T00:00:00Z",
            "",
            "0000-01-01T00:00:00+00:01",
            "9999-12-31T23:59:60Z",
            "9999-12-31T23:59:59-00:01",
            "tomorrow",
            "1760000000",
        ] {
            assert_eq!(Timestamp::parse(text), Err(InvalidTime), "{text}");
        }
        for (text, millis) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.0019Z", 1),
            ("1970-01-01t01:00:00.5+01:00", 500),
            ("1969-12-31T23:59:59-00:00", -1000),
            ("2024-02-29T00:00:00Z", 1_709_164_800_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000),
            ("9999-12-31T23:59:59.999Z", MAX_MILLIS),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000),
        ] {
            assert_eq!(Timestamp::parse(text), Ok(Timestamp(millis)), "{text}");
        }
    }

    #[test]
    fn sums_stop_at_the_last_year() {
        assert_eq!(Timestamp(0).plus(Duration::MAX), Timestamp::MAX);
        assert_eq!(Timestamp(i64::MAX).plus_millis(1), Timestamp::MAX);
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::parse_from("+P9000Y", Timestamp(0)), Err(InvalidTime));
        assert!(Timestamp(i64::MIN).to_string().starts_with("-292275055-"), "nothing for the wire, but no panic either");
    }

    #[test]
    fn zone_is_mandatory_and_offsets_count() {
        assert_eq!(Timestamp::parse("2026-02-12T10:30:00"), Err(InvalidTime));
        assert_eq!(Timestamp::parse("2026-02-12"), Err(InvalidTime));
        assert_eq!(Timestamp::parse("2026-02-12 10:30:00Z"), Err(InvalidTime));
        let utc = Timestamp::parse("2026-02-12T10:30:00Z").unwrap();
        assert_eq!(Timestamp::parse("2026-02-12T12:30:00+02:00"), Ok(utc));
    }

    #[test]
    fn relative_times_count_from_now() {
        let now = Timestamp(1_000);
        assert_eq!(Timestamp::parse_from("+PT5S", now), Ok(Timestamp(6_000)));
        assert_eq!(Timestamp::parse_from("+5s", now), Err(InvalidTime));
        assert_eq!(Timestamp::parse_from("-PT5S", now), Err(InvalidTime));
    }
}
