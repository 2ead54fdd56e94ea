//! Rate-limit policy of a job: the long form of the extension and the short forms in use, brought into one (extensions section 4).
use serde_json::{Map, Value, json};

use crate::duration::{IsoDuration, format};
use crate::error::OjsError;
use crate::label::is_label;
use crate::limits::MAX_INTEGER;

/// Longest key in bytes.
const MAX_KEY_BYTES: usize = 255;

/// So many starts in so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Starts.
    pub limit: u64,
    /// Milliseconds.
    pub period_ms: u64,
}

impl Window {
    /// The form on the wire.
    #[must_use]
    pub fn to_value(self) -> Value {
        json!({"limit": self.limit, "period": format(std::time::Duration::from_millis(self.period_ms))})
    }
}

/// What happens to a job that comes up while its key is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnLimit {
    /// Stays available.
    #[default]
    Wait,
    /// Is scheduled for the time at which there should be room.
    Reschedule,
    /// Is discarded.
    Drop,
}

/// Who goes first when retried and new jobs of a key wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RetryPriority {
    /// Who has waited longer.
    #[default]
    Equal,
    /// Retried jobs.
    PreferRetry,
    /// New jobs.
    PreferNew,
}

/// The limits of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Most jobs active at a time; 0 lets nothing run.
    pub concurrency: Option<u64>,
    /// Most starts within any period of that length.
    pub rate: Option<Window>,
    /// Starts evenly spaced: at least period/limit apart.
    pub throttle: Option<Window>,
    /// What happens to a job that comes up while the key is full.
    pub on_limit: OnLimit,
    /// Who goes first.
    pub retry_priority: RetryPriority,
}

impl Limits {
    /// Whether any limit is named.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.concurrency.is_some() || self.rate.is_some() || self.throttle.is_some()
    }

    /// Reads the members of a policy; those without a meaning are ignored.
    ///
    /// # Errors
    /// 400 that names the member.
    pub fn parse(object: &Map<String, Value>) -> Result<Self, OjsError> {
        let concurrency = match member(object, "concurrency") {
            // As a key is shown: what was read can be written.
            Some(Value::Object(shown)) => {
                Some(whole("rate_limit.concurrency.limit", shown.get("limit").unwrap_or(&Value::Null), 0)?)
            }
            value => value.map(|value| whole("rate_limit.concurrency", value, 0)).transpose()?,
        };
        let rate = match (member(object, "rate"), member(object, "max_per_second")) {
            (Some(Value::Object(rate)), _) => Some(window("rate_limit.rate", rate)?),
            (Some(limit), _) => Some(Window {
                limit: whole("rate_limit.rate", limit, 1)?,
                period_ms: period("rate_limit.period", member(object, "period"))?,
            }),
            (None, Some(limit)) => Some(per_second(limit)?),
            (None, None) => None,
        };
        let throttle = match member(object, "throttle") {
            None => None,
            Some(Value::Object(throttle)) => Some(window("rate_limit.throttle", throttle)?),
            Some(_) => {
                let message = "rate_limit.throttle must be an object: {\"limit\": 10, \"period\": \"PT1S\"}.";
                return Err(OjsError::invalid_field("rate_limit.throttle", message));
            }
        };
        let on_limit = match word(object, "on_limit", &["wait", "reschedule", "drop"])? {
            Some("reschedule") => OnLimit::Reschedule,
            Some("drop") => OnLimit::Drop,
            _ => OnLimit::Wait,
        };
        let retry_priority = match word(object, "retry_priority", &["equal", "prefer_retry", "prefer_new"])? {
            Some("prefer_retry") => RetryPriority::PreferRetry,
            Some("prefer_new") => RetryPriority::PreferNew,
            _ => RetryPriority::Equal,
        };
        Ok(Self { concurrency, rate, throttle, on_limit, retry_priority })
    }

    /// The members of a policy in official names.
    #[must_use]
    pub fn to_value(&self) -> Map<String, Value> {
        let on_limit = match self.on_limit {
            OnLimit::Wait => "wait",
            OnLimit::Reschedule => "reschedule",
            OnLimit::Drop => "drop",
        };
        let retry_priority = match self.retry_priority {
            RetryPriority::Equal => "equal",
            RetryPriority::PreferRetry => "prefer_retry",
            RetryPriority::PreferNew => "prefer_new",
        };
        let members = [
            ("concurrency", self.concurrency.map(Value::from)),
            ("rate", self.rate.map(Window::to_value)),
            ("throttle", self.throttle.map(Window::to_value)),
            ("on_limit", Some(json!(on_limit))),
            ("retry_priority", Some(json!(retry_priority))),
        ];
        members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// The policy of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimit {
    /// Jobs of the same key share its limits.
    pub key: String,
    /// Whose key it is: the tenant, or empty for everybody's.
    pub tenant: String,
    /// The limits.
    pub limits: Limits,
}

impl RateLimit {
    /// Reads `rate_limit`. `None` when it is only `max_per_second` without a key: that is the queue's business (protocol section 8.8).
    ///
    /// # Errors
    /// 400 that names the member.
    pub fn parse(object: &Map<String, Value>, queue: &str, meta: &str) -> Result<Option<Self>, OjsError> {
        let limits = Limits::parse(object)?;
        let key = match member(object, "key") {
            Some(key) => check_key(key)?,
            None if limits.concurrency.is_some() || limits.throttle.is_some() || member(object, "rate").is_some() => {
                format!("queue:{queue}")
            }
            None => return Ok(None),
        };
        let tenant = match word(object, "scope", &["tenant", "global"])? {
            Some("global") => String::new(),
            // Jobs that name a tenant share limits with jobs of that tenant only (interactions, EI-003).
            _ => tenant_of(meta),
        };
        Ok(Some(Self { key, tenant, limits }))
    }
}

fn tenant_of(meta: &str) -> String {
    let meta: Value = serde_json::from_str(meta).unwrap_or_default();
    let named = meta.get(crate::envelope::TENANT_ID).and_then(Value::as_str);
    named.filter(|tenant| *tenant != crate::envelope::DEFAULT_TENANT).unwrap_or_default().to_owned()
}

/// A member that is there and not null.
fn member<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.get(name).filter(|value| !value.is_null())
}

fn word<'a>(object: &'a Map<String, Value>, name: &str, words: &[&str]) -> Result<Option<&'a str>, OjsError> {
    let Some(value) = member(object, name) else { return Ok(None) };
    let known = value.as_str().filter(|word| words.contains(word));
    known.map(Some).ok_or_else(|| {
        let field = format!("rate_limit.{name}");
        let message =
            format!("{field} must be one of {}, got {}.", words.join(", "), crate::envelope::shorten(&value.to_string()));
        OjsError::invalid_field(&field, message)
    })
}

fn check_key(value: &Value) -> Result<String, OjsError> {
    value.as_str().filter(|key| is_label(key, MAX_KEY_BYTES)).map(str::to_owned).ok_or_else(|| {
        let message = format!(
            "rate_limit.key must be letters, digits, '.', '_', ':' and '-', starting with a letter or digit, at most {MAX_KEY_BYTES} bytes."
        );
        OjsError::invalid_field("rate_limit.key", message)
    })
}

fn whole(field: &str, value: &Value, min: u64) -> Result<u64, OjsError> {
    let number = value.as_u64().filter(|n| (min..=MAX_INTEGER).contains(n));
    number.ok_or_else(|| {
        let value = crate::envelope::shorten(&value.to_string());
        OjsError::invalid_field(field, format!("{field} must be an integer of at least {min}, got {value}."))
    })
}

fn window(field: &str, object: &Map<String, Value>) -> Result<Window, OjsError> {
    let limit = whole(&format!("{field}.limit"), object.get("limit").unwrap_or(&Value::Null), 1)?;
    Ok(Window { limit, period_ms: period(&format!("{field}.period"), member(object, "period"))? })
}

/// A period: an ISO 8601 duration, the name of a unit, or seconds; a second when left out.
fn period(field: &str, value: Option<&Value>) -> Result<u64, OjsError> {
    let Some(value) = value else { return Ok(1000) };
    let millis = match value {
        Value::String(text) => match text.as_str() {
            "second" => Some(1000),
            "minute" => Some(60_000),
            "hour" => Some(3_600_000),
            "day" => Some(86_400_000),
            text => IsoDuration::parse(text).ok().and_then(|d| u64::try_from(d.value().as_millis()).ok()),
        },
        _ => value.as_u64().and_then(|s| s.checked_mul(1000)),
    };
    millis.filter(|ms| (1..=MAX_INTEGER).contains(ms)).ok_or_else(|| {
        let value = crate::envelope::shorten(&value.to_string());
        OjsError::invalid_field(
            field,
            format!("{field} must be an ISO 8601 duration such as PT1M, longer than zero, got {value}."),
        )
    })
}

/// `max_per_second`, which may be a fraction: one start in so many milliseconds.
fn per_second(value: &Value) -> Result<Window, OjsError> {
    let rate = value.as_f64().filter(|rate| *rate > 0.0 && rate.is_finite());
    let rate = rate.ok_or_else(|| {
        let value = crate::envelope::shorten(&value.to_string());
        let message = format!("rate_limit.max_per_second must be a number above 0, got {value}.");
        OjsError::invalid_field("rate_limit.max_per_second", message)
    })?;
    // Float casts saturate.
    if rate < 1.0 {
        return Ok(Window { limit: 1, period_ms: ((1000.0 / rate).ceil() as u64).min(MAX_INTEGER) });
    }
    Ok(Window { limit: (rate.floor() as u64).min(MAX_INTEGER), period_ms: 1000 })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]
    use super::*;

    fn read(value: Value) -> Result<Option<RateLimit>, OjsError> {
        RateLimit::parse(value.as_object().unwrap(), "q", r#"{"tenant_id":"a"}"#)
    }

    #[test]
    fn the_forms_in_use_mean_the_same() {
        let second = Some(Window { limit: 2, period_ms: 1000 });
        for form in [
            json!({"key": "k", "rate": {"limit": 2, "period": "PT1S"}}),
            json!({"key": "k", "rate": 2, "period": "second"}),
            json!({"key": "k", "max_per_second": 2}),
        ] {
            assert_eq!(read(form).unwrap().unwrap().limits.rate, second);
        }
        assert_eq!(read(json!({"max_per_second": 2})).unwrap(), None, "the queue's own rate");
        assert_eq!(read(json!({"concurrency": 1})).unwrap().unwrap().key, "queue:q");
        assert_eq!(read(json!({"key": "k", "scope": "tenant"})).unwrap().unwrap().tenant, "a");
        assert_eq!(read(json!({"key": "k"})).unwrap().unwrap().tenant, "a", "a tenant's own unless it says otherwise");
        assert_eq!(read(json!({"key": "k", "scope": "global"})).unwrap().unwrap().tenant, "");
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let limits = read(json!({"key": "k", "concurrency": 0, "rate": {"limit": 5, "period": "PT1M"},
            "throttle": {"limit": 1, "period": 2}, "on_limit": "drop", "retry_priority": "prefer_new"}))
        .unwrap()
        .unwrap()
        .limits;
        assert_eq!(Limits::parse(&limits.to_value()).unwrap(), limits);
    }

    #[test]
    fn a_fault_names_its_field() {
        for (form, field) in [
            (json!({"key": "-x"}), "rate_limit.key"),
            (json!({"key": 5}), "rate_limit.key"),
            (json!({"key": "k", "concurrency": -1}), "rate_limit.concurrency"),
            (json!({"key": "k", "rate": {"limit": 0}}), "rate_limit.rate.limit"),
            (json!({"key": "k", "rate": {"limit": 1, "period": "PT0S"}}), "rate_limit.rate.period"),
            (json!({"key": "k", "throttle": 5}), "rate_limit.throttle"),
            (json!({"key": "k", "on_limit": "explode"}), "rate_limit.on_limit"),
            (json!({"key": "k", "scope": "world"}), "rate_limit.scope"),
            (json!({"key": "k", "retry_priority": "never"}), "rate_limit.retry_priority"),
            (json!({"max_per_second": 0}), "rate_limit.max_per_second"),
        ] {
            assert_eq!(read(form.clone()).unwrap_err().details.unwrap()["field"], field, "{form}");
        }
    }
}
