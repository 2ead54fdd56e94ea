//! When the server takes a version out of the rules of its job type: what a client asks for, and how it is kept.
use std::time::Duration;

use ojs_model::OjsError;
use ojs_model::duration::{self, IsoDuration};
use serde_json::{Map, Value, json};

use crate::error::StoreError;
use crate::features::versions::records::RouteRow;

/// Shortest and longest time that is looked at, milliseconds.
pub(super) const WINDOW: std::ops::RangeInclusive<i64> = 10_000..=86_400_000;
/// Attempts below which nothing is decided, when the rules do not say.
const MIN_ATTEMPTS: i64 = 20;
/// Most attempts that may be asked for.
const MAX_MIN_ATTEMPTS: i64 = 1_000_000;
/// The one action.
const ACTION: &str = "rollback";

/// When the server takes a version out of the rules of its job type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rollback {
    /// Share of the attempts that may fail, 0 to 1.
    pub threshold: f64,
    /// The time that is looked at, milliseconds.
    pub window_ms: i64,
    /// Attempts below which nothing is decided.
    pub min_attempts: i64,
}

impl Rollback {
    /// Reads `auto_rollback`.
    ///
    /// # Errors
    /// 400 with `details.field`.
    pub(crate) fn parse(value: Option<&Value>) -> Result<Option<Self>, OjsError> {
        let members: &Map<String, Value> = match value {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Object(members)) => members,
            Some(_) => return Err(wrong("", "auto_rollback must be an object with error_rate_threshold.")),
        };
        let known = ["error_rate_threshold", "evaluation_window", "min_attempts", "action"];
        if let Some(other) = members.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(wrong(other, &format!("auto_rollback has no member {other}: it has {}.", known.join(", "))));
        }
        let member = |name: &str| members.get(name).filter(|value| !value.is_null());
        let threshold = member("error_rate_threshold").and_then(Value::as_f64).filter(|rate| (0.0..=1.0).contains(rate));
        let threshold = threshold.ok_or_else(|| {
            wrong("error_rate_threshold", "auto_rollback.error_rate_threshold is required: a number from 0 to 1, such as 0.05.")
        })?;
        let window_ms = match member("evaluation_window") {
            None => 300_000,
            Some(value) => value.as_str().and_then(millis).filter(|ms| WINDOW.contains(ms)).ok_or_else(|| {
                wrong("evaluation_window", "auto_rollback.evaluation_window must be a duration from PT10S to P1D, such as PT5M.")
            })?,
        };
        let min_attempts = match member("min_attempts") {
            None => MIN_ATTEMPTS,
            Some(value) => value.as_i64().filter(|count| (1..=MAX_MIN_ATTEMPTS).contains(count)).ok_or_else(|| {
                wrong("min_attempts", &format!("auto_rollback.min_attempts must be a whole number from 1 to {MAX_MIN_ATTEMPTS}."))
            })?,
        };
        if member("action").is_some_and(|action| action != ACTION) {
            return Err(wrong("action", "auto_rollback.action must be rollback: the version gets no more jobs."));
        }
        Ok(Some(Self { threshold, window_ms, min_attempts }))
    }

    /// As it is shown and kept.
    pub(crate) fn to_json(self) -> Value {
        let window = duration::format(Duration::from_millis(self.window_ms.unsigned_abs()));
        json!({
            "error_rate_threshold": self.threshold, "evaluation_window": window, "min_attempts": self.min_attempts,
            "action": ACTION,
        })
    }

    /// Whether so many attempts of which so many failed are too many.
    pub(super) fn decides(self, attempts: i64, failed: i64) -> bool {
        attempts >= self.min_attempts && rate(attempts, failed) > self.threshold
    }
}

fn millis(text: &str) -> Option<i64> {
    i64::try_from(IsoDuration::parse(text).ok()?.value().as_millis()).ok()
}

/// The share of attempts that failed.
pub(super) fn rate(attempts: i64, failed: i64) -> f64 {
    failed as f64 / attempts.max(1) as f64
}

fn wrong(member: &str, message: &str) -> OjsError {
    let field = if member.is_empty() { "auto_rollback".to_owned() } else { format!("auto_rollback.{member}") };
    OjsError::invalid_field(&field, message)
}

/// What a stored row says of it.
pub(crate) fn rollback_of(row: &RouteRow) -> Result<Option<Rollback>, StoreError> {
    if row.rollback.is_empty() {
        return Ok(None);
    }
    let read = serde_json::from_str(&row.rollback).ok().and_then(|value: Value| Rollback::parse(Some(&value)).ok()).flatten();
    let job_type = &row.job_type;
    let unreadable = || format!("auto_rollback of job type '{job_type}' cannot be read: set its rules anew");
    read.map(Some).ok_or_else(|| StoreError::Failed(unreadable()))
}

/// The versions that were taken out of the rules of a row.
///
/// # Errors
/// [`StoreError::Failed`] when they cannot be read.
pub(crate) fn rolled_back(row: &RouteRow) -> Result<Vec<Value>, StoreError> {
    let unreadable =
        || format!("the versions of job type '{}' that were rolled back cannot be read: set its rules anew", row.job_type);
    if row.rolled_back.is_empty() {
        return Ok(Vec::new());
    }
    serde_json::from_str(&row.rolled_back).map_err(|_| StoreError::Failed(unreadable()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_attempts_decide_nothing() {
        let rollback = Rollback { threshold: 0.5, window_ms: 10_000, min_attempts: 4 };
        assert!(!rollback.decides(3, 3) && !rollback.decides(4, 2) && rollback.decides(4, 3));
        let strict = Rollback { threshold: 0.0, ..rollback };
        assert!(!strict.decides(100, 0) && strict.decides(100, 1));
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let given = json!({"error_rate_threshold": 0.05, "evaluation_window": "PT90S", "action": "rollback"});
        let rollback = Rollback::parse(Some(&given)).unwrap().unwrap();
        assert_eq!(rollback, Rollback { threshold: 0.05, window_ms: 90_000, min_attempts: 20 });
        assert_eq!(Rollback::parse(Some(&rollback.to_json())).unwrap(), Some(rollback));
        assert_eq!(Rollback::parse(Some(&Value::Null)).unwrap(), None);
    }
}
