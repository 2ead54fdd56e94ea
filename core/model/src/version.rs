//! Versions of the arguments of a job type, and ranges of versions (extensions section 14).
//!
//! A version is one to three whole numbers. What is left out is 0, so `2`, `"2.0"` and `"2.0.0"` are one version. A
//! range is `*`, an exact version, or comparisons that must all hold: `>=2.0 <3.0`, with spaces or commas between them.
use std::fmt;

use serde_json::Value;

use crate::error::OjsError;

/// Each part of a version is below this.
const PART: i64 = 1_000_000;

/// A version of the arguments of a job type: `2`, `2.1` or `2.1.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// As it was given.
    pub text: String,
    /// Its place among versions: `2`, `2.0` and `2.0.0` have the same.
    pub rank: i64,
}

impl Version {
    /// Reads a version.
    ///
    /// ```
    /// use ojs_model::version::Version;
    /// assert_eq!(Version::parse("2")?.rank, Version::parse("2.0.0")?.rank);
    /// assert!(Version::parse("1.9")?.rank < Version::parse("1.10")?.rank);
    /// # Ok::<(), ojs_model::OjsError>(())
    /// ```
    ///
    /// # Errors
    /// 400 for anything but one to three whole numbers below 1,000,000, joined by dots.
    pub fn parse(text: &str) -> Result<Self, OjsError> {
        let rank = rank(text).ok_or_else(|| {
            OjsError::invalid_field("version", "version must be one to three whole numbers below 1000000: 2, 2.1 or 2.1.0.")
        })?;
        Ok(Self { text: text.to_owned(), rank })
    }

    /// Reads a version out of JSON: a string or a whole number.
    ///
    /// # Errors
    /// 400 as [`parse`](Self::parse).
    pub fn from_json(value: Option<&Value>) -> Result<Self, OjsError> {
        match value {
            Some(Value::String(text)) => Self::parse(text),
            Some(Value::Number(number)) if number.is_u64() => Self::parse(&number.to_string()),
            _ => Err(OjsError::invalid_field("version", "version is required: a string such as \"2.1.0\", or a whole number.")),
        }
    }
}

/// The first part of the version with this rank.
#[must_use]
pub const fn major(rank: i64) -> i64 {
    rank / PART / PART
}

/// The version with this rank, all three parts of it.
///
/// ```
/// use ojs_model::version::{Version, canonical};
/// assert_eq!(canonical(Version::parse("2.1")?.rank), "2.1.0");
/// # Ok::<(), ojs_model::OjsError>(())
/// ```
#[must_use]
pub fn canonical(rank: i64) -> String {
    format!("{}.{}.{}", major(rank), rank / PART % PART, rank % PART)
}

fn rank(text: &str) -> Option<i64> {
    let number = |part: &str| {
        let plain = part.bytes().all(|byte| byte.is_ascii_digit()) && (part.len() == 1 || !part.starts_with('0'));
        part.parse::<i64>().ok().filter(|number| plain && *number < PART)
    };
    let parts: Option<Vec<i64>> = text.split('.').map(number).collect();
    let (major, minor, patch) = match parts.as_deref() {
        Some([major]) => (*major, 0, 0),
        Some([major, minor]) => (*major, *minor, 0),
        Some([major, minor, patch]) => (*major, *minor, *patch),
        _ => return None,
    };
    Some((major * PART + minor) * PART + patch)
}

/// A range of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The smallest rank in it.
    from: i64,
    /// The smallest rank above it.
    below: i64,
}

impl Range {
    /// Every version.
    pub const ALL: Self = Self { from: 0, below: i64::MAX };

    /// Reads a range.
    ///
    /// ```
    /// use ojs_model::version::{Range, Version};
    /// let range = Range::parse(">=2.0, <3.0")?;
    /// assert!(range.contains(Version::parse("2.7")?.rank));
    /// assert!(!range.contains(Version::parse("3")?.rank));
    /// # Ok::<(), ojs_model::OjsError>(())
    /// ```
    ///
    /// # Errors
    /// 400, field `versions`, for a text that is no range, and for one that contains no version.
    pub fn parse(text: &str) -> Result<Self, OjsError> {
        let fault = |why: &str| {
            let shown: String = text.chars().take(80).collect();
            let message = format!("versions: '{shown}' {why}; write *, 2.0 or >=2.0 <3.0.");
            OjsError::invalid_field("versions", message)
        };
        let mut range = Self::ALL;
        let mut words = text.split([' ', ',']).filter(|word| !word.is_empty()).peekable();
        if words.peek().is_none() {
            return Err(fault("is empty"));
        }
        while let Some(word) = words.next() {
            let operator = word.len() - word.trim_start_matches(['<', '>', '=']).len();
            let (operator, mut version) = word.split_at(operator);
            if version.is_empty() {
                // A space between the sign and the version.
                version = words.next().unwrap_or_default();
            }
            let own = if operator.is_empty() && version == "*" {
                Self::ALL
            } else {
                let rank = rank(version).ok_or_else(|| fault("names no version"))?;
                Self::compared(operator, rank).ok_or_else(|| fault("has a sign that is none of >=, >, <=, < and ="))?
            };
            range = Self { from: range.from.max(own.from), below: range.below.min(own.below) };
        }
        if range.from < range.below { Ok(range) } else { Err(fault("contains no version")) }
    }

    const fn compared(operator: &str, rank: i64) -> Option<Self> {
        Some(match operator.as_bytes() {
            b"" | b"=" | b"==" => Self { from: rank, below: rank + 1 },
            b">=" => Self { from: rank, below: i64::MAX },
            b">" => Self { from: rank + 1, below: i64::MAX },
            b"<=" => Self { from: 0, below: rank + 1 },
            b"<" => Self { from: 0, below: rank },
            _ => return None,
        })
    }

    /// Whether the version with this rank is in the range.
    #[must_use]
    pub const fn contains(self, rank: i64) -> bool {
        self.from <= rank && rank < self.below
    }
}

/// Splits `email.send@2.0` into the job type and the version; without an `@` there is no version.
///
/// ```
/// use ojs_model::version::split_type;
/// assert_eq!(split_type("email.send@2.0"), ("email.send", Some("2.0")));
/// assert_eq!(split_type("email.send"), ("email.send", None));
/// ```
#[must_use]
pub fn split_type(text: &str) -> (&str, Option<&str>) {
    text.split_once('@').map_or((text, None), |(name, version)| (name, Some(version)))
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered() {
        let rank = |text: &str| Version::parse(text).unwrap().rank;
        assert!(rank("1.9.9") < rank("2") && rank("2.0.9") < rank("2.1"));
        assert_eq!((rank("2"), rank("2.0")), (rank("2.0.0"), rank("2.0.0")));
        assert_eq!((major(rank("3.1.4")), canonical(rank("3.1.4"))), (3, "3.1.4".to_owned()));
        for wrong in ["", "v2", "2.", "1.2.3.4", "-1", "02", "1000000", "1.0.0-rc.1", "٣"] {
            assert!(Version::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_range_has_the_versions_that_all_its_comparisons_allow() {
        for (range, inside, outside) in [
            ("*", vec!["0", "1", "999999.999999.999999"], vec![]),
            ("2.0", vec!["2", "2.0", "2.0.0"], vec!["2.0.1", "2.1", "1.9"]),
            (">=2.0 <3.0", vec!["2", "2.9.9"], vec!["1.9", "3"]),
            (">=2.0,<3.0", vec!["2", "2.9.9"], vec!["1.9", "3"]),
            (">= 1.0 , <= 1.2", vec!["1", "1.2"], vec!["1.2.1"]),
            (">1", vec!["1.0.1", "2"], vec!["1", "0.9"]),
            ("=3", vec!["3"], vec!["3.0.1", "2"]),
        ] {
            let read = Range::parse(range).unwrap();
            for version in inside {
                assert!(read.contains(Version::parse(version).unwrap().rank), "{version} in {range}");
            }
            for version in outside {
                assert!(!read.contains(Version::parse(version).unwrap().rank), "{version} not in {range}");
            }
        }
        for wrong in ["", " , ", ">=", "2.x", "^2.0", "~1", ">=3 <2", "><1", "* 2.x"] {
            let error = Range::parse(wrong).unwrap_err();
            assert_eq!(error.details.as_ref().unwrap()["field"], "versions", "{wrong}");
        }
    }
}
