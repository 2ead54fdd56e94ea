//! The values of a queue's settings: how each is checked, and how it is written.
use ojs_model::{OjsError, envelope};
use serde_json::{Value, json};

pub use crate::kernel::rate::Rate;

/// A value, or a refusal that names the setting.
pub(super) type Checked<T> = std::result::Result<T, OjsError>;

/// Longest time a setting may name: what a stored time can hold, with room to add.
const MAX_MILLIS: u64 = 1 << 53;

/// What happens to an enqueue that finds its queue full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overflow {
    /// Refused with 429.
    #[default]
    Reject,
    /// Waits as long as the caller allows for room, then is refused.
    Block,
    /// The oldest available jobs make room.
    DropOldest,
}

impl Overflow {
    const ALL: [Self; 3] = [Self::Reject, Self::Block, Self::DropOldest];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reject => "reject",
            Self::Block => "block",
            Self::DropOldest => "drop_oldest",
        }
    }
}

impl Rate {
    /// Reads `{limit, period}` or `{max_per_second}`.
    ///
    /// # Errors
    /// 400 that names the member under `field`.
    pub fn parse(field: &str, value: &Value) -> Checked<Self> {
        let object = value.as_object().ok_or_else(|| {
            OjsError::invalid_field(field, format!("{field} must be an object: {{\"limit\": 100, \"period\": \"PT1M\"}}."))
        })?;
        let (name, limit) = match object.get("max_per_second") {
            Some(limit) => ("max_per_second", limit),
            None => ("limit", object.get("limit").unwrap_or(&Value::Null)),
        };
        let positive = limit.as_f64().filter(|n| *n > 0.0 && n.is_finite());
        let limit = positive.ok_or_else(|| {
            OjsError::invalid_field(&format!("{field}.{name}"), format!("{field}.{name} must be a number above 0, got {limit}."))
        })?;
        let period_ms = match object.get("period").filter(|_| name == "limit") {
            None => 1000,
            Some(period) => parse_period(&format!("{field}.period"), period)?,
        };
        Ok(Self { limit, period_ms })
    }

    /// The form on the wire.
    #[must_use]
    pub fn to_value(self) -> Value {
        json!({"limit": number(self.limit), "period": period_text(self.period_ms)})
    }
}

/// An ISO 8601 duration, the name of a unit, or a number of seconds; in milliseconds.
///
/// # Errors
/// 400 that names the field.
pub fn parse_period(field: &str, value: &Value) -> Checked<u64> {
    let millis = match value {
        Value::String(word) => match word.as_str() {
            "second" => Some(1000),
            "minute" => Some(60_000),
            "hour" => Some(3_600_000),
            "day" => Some(86_400_000),
            text => ojs_model::duration::IsoDuration::parse(text).ok().and_then(|d| u64::try_from(d.value().as_millis()).ok()),
        },
        Value::Number(_) => value.as_u64().and_then(|s| s.checked_mul(1000)),
        _ => None,
    };
    millis.filter(|ms| (1..=MAX_MILLIS).contains(ms)).ok_or_else(|| {
        let message =
            format!("{field} must be an ISO 8601 duration such as PT1M, or seconds, and longer than zero, got {value}.");
        OjsError::invalid_field(field, message)
    })
}

/// A duration as it is written.
#[must_use]
pub fn period_text(ms: u64) -> String {
    ojs_model::duration::format(std::time::Duration::from_millis(ms))
}

/// A number without `.0` where it is whole.
#[must_use]
pub fn number(n: f64) -> Value {
    if n.fract() == 0.0 && (0.0..9e15).contains(&n) { json!(n as u64) } else { json!(n) }
}

/// A whole number that is not smaller than this.
pub(super) fn whole(field: &str, value: &Value, min: u64) -> Checked<u64> {
    let number = value.as_u64().filter(|n| (min..=ojs_model::limits::MAX_INTEGER).contains(n));
    number.ok_or_else(|| OjsError::invalid_field(field, format!("{field} must be an integer of at least {min}, got {value}.")))
}

/// A length of time, in milliseconds, of a second or more.
pub(super) fn at_least_a_second(field: &str, value: &Value) -> Checked<u64> {
    let ms = parse_period(field, value)?;
    if ms >= 1000 {
        Ok(ms)
    } else {
        Err(OjsError::invalid_field(field, format!("{field} must be at least one second, got {value}.")))
    }
}

/// The word for what happens at a full queue.
pub(super) fn overflow(field: &str, value: &Value) -> Checked<Overflow> {
    let known = Overflow::ALL.into_iter().find(|policy| value.as_str() == Some(policy.as_str()));
    known.ok_or_else(|| OjsError::invalid_field(field, format!("{field} must be reject, block or drop_oldest, got {value}.")))
}

/// A list of job types, each exact or the start of one followed by `*`.
pub(super) fn patterns(field: &str, value: &Value) -> Checked<Vec<String>> {
    let fault = |index: Option<usize>| {
        let field = index.map_or_else(|| field.to_owned(), |index| format!("{field}[{index}]"));
        let message = format!("{field} must be a job type, or the start of one followed by *; the list is an array of those.");
        OjsError::invalid_field(&field, message)
    };
    let list = value.as_array().ok_or_else(|| fault(None))?;
    let entry = |(index, value): (usize, &Value)| {
        let text = value.as_str().ok_or_else(|| fault(Some(index)))?;
        let valid = match text.strip_suffix('*') {
            Some(start) => start.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-' | b'.')),
            None => envelope::check_type(text).is_ok(),
        };
        if valid { Ok(text.to_owned()) } else { Err(fault(Some(index))) }
    };
    list.iter().enumerate().map(entry).collect()
}
