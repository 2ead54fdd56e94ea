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

impl Timestamp {
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

    /// This time plus a duration, saturating.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// This time plus whole milliseconds, saturating.
    #[must_use]
    pub fn plus_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)))
    }

    /// Milliseconds from `earlier` to this time; zero when it lies behind.
    #[must_use]
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// Reads RFC 3339 with a mandatory zone.
    ///
    /// # Errors
    /// [`InvalidTime`] for anything else, a missing zone included.
    pub fn parse(text: &str) -> Result<Self, InvalidTime> {
        // jiff also reads a blank in place of `T` and a zone in brackets: the wire does not.
        let strict = text.len() >= 20 && matches!(text.as_bytes().get(10), Some(b'T' | b't')) && !text.contains('[');
        if !strict {
            return Err(InvalidTime);
        }
        let time: jiff::Timestamp = text.parse().map_err(|_| InvalidTime)?;
        Ok(Self(time.as_millisecond()))
    }

    /// Reads an RFC 3339 time, or `+<ISO 8601 duration>` relative to `now`.
    ///
    /// # Errors
    /// [`InvalidTime`] for anything else.
    pub fn parse_from(text: &str, now: Self) -> Result<Self, InvalidTime> {
        match text.strip_prefix('+') {
            Some(relative) => Ok(now.plus(duration::parse(relative).map_err(|_| InvalidTime)?)),
            None => Self::parse(text),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0.div_euclid(86_400_000);
        let ms = self.0.rem_euclid(86_400_000);
        let (year, month, day) = civil_from_days(days);
        let (s, milli) = (ms / 1000, ms % 1000);
        let (hour, minute, second) = (s / 3600, s / 60 % 60, s % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
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
        fn reads_what_it_prints(millis in 0_i64..253_402_300_799_999) {
            let time = Timestamp(millis);
            prop_assert_eq!(Timestamp::parse(&time.to_string()), Ok(time));
        }
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
