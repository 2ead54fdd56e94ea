//! ISO 8601 durations (protocol section 6): `PT1S`, `PT0.5S`, `PT5M`, `P1D`. Years are 365 days, months 30, weeks 7.
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// A duration together with the text it came from, so that a client's own spelling is echoed.
#[derive(Debug, Clone, PartialEq)]
pub struct IsoDuration {
    value: Duration,
    text: Cow<'static, str>,
}

/// Longest duration read from a text: 2^63 − 1 milliseconds, what a stored time can hold.
const MAX_MILLIS: u128 = i64::MAX as u128;

/// The text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an ISO 8601 duration (for example PT30S, PT5M, P1D)")]
pub struct InvalidDuration;

impl IsoDuration {
    /// A known duration with its spelling: no allocation.
    pub(crate) const fn fixed(seconds: u64, text: &'static str) -> Self {
        Self { value: Duration::from_secs(seconds), text: Cow::Borrowed(text) }
    }

    /// Whole milliseconds, with the normal spelling (`PT1M30S`).
    #[must_use]
    pub fn from_millis(millis: u64) -> Self {
        let value = Duration::from_millis(millis);
        Self { value, text: Cow::Owned(format(value)) }
    }

    /// Reads ISO 8601, or the short forms `500ms`, `1s`, `5m`, `1h30m` that people and older clients write.
    ///
    /// # Errors
    /// [`InvalidDuration`] when it is neither.
    pub fn parse(text: &str) -> Result<Self, InvalidDuration> {
        match parse(text) {
            Ok(value) => Ok(Self { value, text: Cow::Owned(text.to_owned()) }),
            Err(invalid) => {
                let value = parse_short(text).ok_or(invalid)?;
                Ok(Self { value, text: Cow::Owned(format(value)) })
            }
        }
    }

    /// The length.
    #[must_use]
    pub fn value(&self) -> Duration {
        self.value
    }

    /// The text: the client's own spelling, or the normal one.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Seconds as a float: what the back-off formulae work with.
    #[must_use]
    pub fn as_secs_f64(&self) -> f64 {
        self.value.as_secs_f64()
    }
}

impl fmt::Display for IsoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Reads a length of time as people write it: whole days (`7d`), the short forms of [`IsoDuration::parse`] (`90s`,
/// `1h30m`), or ISO 8601.
///
/// ```
/// use std::time::Duration;
/// assert_eq!(ojs_model::duration::length("7d")?, Duration::from_secs(604_800));
/// assert_eq!(ojs_model::duration::length("1h30m")?, Duration::from_secs(5400));
/// assert!(ojs_model::duration::length("-2h").is_err());
/// # Ok::<(), ojs_model::duration::InvalidDuration>(())
/// ```
///
/// # Errors
/// [`InvalidDuration`] when it is none of these.
pub fn length(text: &str) -> Result<Duration, InvalidDuration> {
    match text.strip_suffix('d').and_then(|days| days.parse::<u32>().ok()) {
        Some(days) => Ok(Duration::from_secs(u64::from(days) * 86_400)),
        None => Ok(IsoDuration::parse(text)?.value()),
    }
}

/// Reads a strict ISO 8601 duration.
///
/// ```
/// use std::time::Duration;
/// assert_eq!(ojs_model::duration::parse("PT1H30M")?, Duration::from_secs(5400));
/// assert!(ojs_model::duration::parse("P").is_err());
/// # Ok::<(), ojs_model::duration::InvalidDuration>(())
/// ```
///
/// # Errors
/// [`InvalidDuration`] for bare `P`, trailing `T`, wrong order, signs, or values beyond 2^63 ms.
pub fn parse(text: &str) -> Result<Duration, InvalidDuration> {
    let rest = text.strip_prefix('P').ok_or(InvalidDuration)?;
    let (date, time) = match rest.split_once('T') {
        Some((_, "")) => return Err(InvalidDuration),
        Some((date, time)) => (date, time),
        None => (rest, ""),
    };
    if date.is_empty() && time.is_empty() {
        return Err(InvalidDuration);
    }
    let days = section(date, &[('Y', 365 * 86_400), ('M', 30 * 86_400), ('W', 7 * 86_400), ('D', 86_400)], false)?;
    let clock = section(time, &[('H', 3600), ('M', 60), ('S', 1)], true)?;
    let total = days.checked_add(clock).ok_or(InvalidDuration)?;
    if total.as_millis() > MAX_MILLIS { Err(InvalidDuration) } else { Ok(total) }
}

/// One side of the `T`: numbers with unit letters in the given order, each at most once.
fn section(mut text: &str, units: &[(char, u64)], fraction: bool) -> Result<Duration, InvalidDuration> {
    let mut total = Duration::ZERO;
    for (letter, seconds) in units {
        let Some((number, rest)) = text.split_once(*letter) else { continue };
        let fractional = fraction && *letter == 'S';
        let value = amount(number, *seconds, fractional)?;
        total = total.checked_add(value).ok_or(InvalidDuration)?;
        text = rest;
    }
    if text.is_empty() { Ok(total) } else { Err(InvalidDuration) }
}

fn amount(number: &str, seconds: u64, fractional: bool) -> Result<Duration, InvalidDuration> {
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) if fractional && !fraction.is_empty() => (whole, fraction),
        Some(_) => return Err(InvalidDuration),
        None => (number, ""),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return Err(InvalidDuration);
    }
    let whole: u64 = whole.parse().map_err(|_| InvalidDuration)?;
    let nanos: u32 = fraction.bytes().chain(std::iter::repeat(b'0')).take(9).fold(0, |n, b| n * 10 + u32::from(b - b'0'));
    Ok(Duration::new(whole.checked_mul(seconds).ok_or(InvalidDuration)?, nanos))
}

/// One unit or several, `1h30m`: each smaller than the one before.
fn parse_short(mut text: &str) -> Option<Duration> {
    let (mut total, mut before) = (Duration::ZERO, Duration::MAX);
    while !text.is_empty() {
        let unit = text.find(|c: char| c.is_ascii_alphabetic())?;
        let end = text.get(unit..)?.find(|c: char| !c.is_ascii_alphabetic()).map_or(text.len(), |length| unit + length);
        let length = parse_unit(text.get(..unit)?, text.get(unit..end)?)?;
        let one = parse_unit("1", text.get(unit..end)?)?;
        if one >= before {
            return None;
        }
        (total, before) = (total.checked_add(length)?, one);
        text = text.get(end..)?;
    }
    (before < Duration::MAX && total.as_millis() <= MAX_MILLIS).then_some(total)
}

fn parse_unit(number: &str, unit: &str) -> Option<Duration> {
    // The float parser also reads signs.
    if !number.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    let value: f64 = number.parse().ok()?;
    let seconds = match unit {
        "ms" => value / 1000.0,
        "s" => value,
        "m" => value * 60.0,
        "h" => value * 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

/// The normal spelling: days, hours, minutes, seconds, zero parts left out; `PT0S` for zero.
#[must_use]
pub fn format(value: Duration) -> String {
    let seconds = value.as_secs();
    let (days, hours, minutes, rest) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let mut date = String::from("P");
    if days > 0 {
        date.push_str(&format!("{days}D"));
    }
    let mut time = String::new();
    for (n, letter) in [(hours, 'H'), (minutes, 'M')] {
        if n > 0 {
            time.push_str(&format!("{n}{letter}"));
        }
    }
    let nanos = value.subsec_nanos();
    if nanos > 0 {
        let fraction = format!("{nanos:09}");
        time.push_str(&format!("{rest}.{}S", fraction.trim_end_matches('0')));
    } else if rest > 0 || (days == 0 && time.is_empty()) {
        time.push_str(&format!("{rest}S"));
    }
    if time.is_empty() { date } else { format!("{date}T{time}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_the_forms_of_the_specification() {
        for (text, seconds) in [
            ("PT1S", 1.0),
            ("PT0.5S", 0.5),
            ("PT5M", 300.0),
            ("PT1H", 3600.0),
            ("P1D", 86_400.0),
            ("P7D", 604_800.0),
            ("P1W", 604_800.0),
            ("P1Y", 31_536_000.0),
            ("P1M", 2_592_000.0),
            ("P1DT1H", 90_000.0),
            ("PT1H2M3.25S", 3723.25),
            ("PT0S", 0.0),
        ] {
            assert_eq!(parse(text).map(|d| d.as_secs_f64()), Ok(seconds), "{text}");
        }
        for text in [
            "",
            "P",
            "PT",
            "P1DT",
            "1S",
            "PT1",
            "PT-1S",
            "-PT1S",
            "PT1S1M",
            "PT.5S",
            "PT1.S",
            "P1.5D",
            "pt1s",
            "PT1M1M",
            "PT99999999999999999999S",
        ] {
            assert_eq!(parse(text), Err(InvalidDuration), "{text}");
        }
    }

    #[test]
    fn short_forms_are_normalised() {
        for (text, iso) in [("1s", "PT1S"), ("300s", "PT5M"), ("500ms", "PT0.5S"), ("2h", "PT2H"), ("1m", "PT1M")] {
            assert_eq!(IsoDuration::parse(text).unwrap().to_string(), iso);
        }
        assert!(IsoDuration::parse("5 apples").is_err());
        for text in ["-1s", "+1s", "1e3s", "s", "1", "1d", "99999999999999999h", "infs", "1.2.3s", ""] {
            assert!(IsoDuration::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn reads_what_it_prints(millis in 0_u64..10_000_000_000_000) {
            let value = Duration::from_millis(millis);
            prop_assert_eq!(parse(&format(value)), Ok(value));
        }

        #[test]
        fn never_panics(text in "\\PC{0,20}") {
            let _ = IsoDuration::parse(&text);
        }
    }
}
