//! Settings of queues: what an operator may set, how it is checked, and how a queue's own settings stand over the template's
//! (protocol section 8.7, extensions section 5).
//!
//! Stored as the canonical JSON object that [`QueueConfig::to_value`] prints. The backpressure document's names are read as well and stored
//! under these: `backpressure.max_depth` is `max_size`, `backpressure.strategy` is `overflow_policy`.
use std::sync::Arc;

use ojs_model::{OjsError, RetryPolicy};
use serde_json::{Map, Value, json};

use super::values::{Checked, at_least_a_second, overflow, patterns, whole};
pub use super::values::{Overflow, Rate, number, parse_period, period_text};

/// Name of the queue that holds the template: no job can be enqueued there.
pub const TEMPLATE: &str = "_default";
/// Share of the bound from which on the answer to an enqueue warns of the pressure.
pub const WARNING_THRESHOLD: f64 = 0.8;

/// The settings of a queue. What is `None` is left to the template, and then to the system.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueueConfig {
    /// Most jobs that wait; 0 is no bound.
    pub max_size: Option<u64>,
    /// Most bytes of jobs that wait; 0 is no bound.
    pub max_size_bytes: Option<u64>,
    /// What happens when it is full.
    pub overflow_policy: Option<Overflow>,
    /// Share of the bound from which on it says so.
    pub warning_threshold: Option<f64>,
    /// Most active jobs.
    pub concurrency: Option<u64>,
    /// Most jobs handed out in a time.
    pub rate_limit: Option<Rate>,
    /// Milliseconds of a lease.
    pub visibility_timeout_ms: Option<u64>,
    /// Milliseconds of an attempt.
    pub default_timeout_ms: Option<u64>,
    /// Retry policy, as far as it is named.
    pub default_retry: Option<Value>,
    /// Milliseconds that completed jobs are kept.
    pub keep_completed_ms: Option<u64>,
    /// Milliseconds that discarded jobs are kept.
    pub keep_discarded_ms: Option<u64>,
    /// Milliseconds that cancelled jobs are kept.
    pub keep_cancelled_ms: Option<u64>,
    /// Milliseconds that dead letters are kept.
    pub dead_letter_ttl_ms: Option<u64>,
    /// Job types that may be enqueued: exact, or the start followed by `*`.
    pub allowed_job_types: Option<Vec<String>>,
}

impl QueueConfig {
    /// Reads a configuration in canonical names; see [`canonical`].
    ///
    /// # Errors
    /// 400 that names the member in `details.field`; 422 for the retry policy.
    pub fn parse(object: &Map<String, Value>) -> Checked<Self> {
        let mut config = Self::default();
        for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
            config.set(name, value)?;
        }
        Ok(config)
    }

    fn set(&mut self, name: &str, value: &Value) -> Checked<()> {
        match name {
            "max_size" => self.max_size = Some(whole(name, value, 0)?),
            "max_size_bytes" => self.max_size_bytes = Some(whole(name, value, 0)?),
            "overflow_policy" => self.overflow_policy = Some(overflow(name, value)?),
            "warning_threshold" => {
                let share = value.as_f64().filter(|share| (0.0..=1.0).contains(share));
                self.warning_threshold = Some(share.ok_or_else(|| {
                    OjsError::invalid_field(name, format!("warning_threshold must be a number from 0 to 1, got {value}."))
                })?);
            }
            "concurrency" => self.concurrency = Some(whole(name, value, 0)?),
            "rate_limit" => self.rate_limit = Some(Rate::parse(name, value)?),
            "visibility_timeout" => {
                let ms = at_least_a_second(name, value)?;
                ojs_model::envelope::check_lease_ms(name, ms)?;
                self.visibility_timeout_ms = Some(ms);
            }
            "default_timeout" => self.default_timeout_ms = Some(parse_period(name, value)?),
            "default_retry" => {
                RetryPolicy::parse(value, &RetryPolicy::default()).map_err(|mut error| {
                    error.message = format!("default_retry: {}", error.message);
                    error
                })?;
                self.default_retry = Some(value.clone());
            }
            "retention" => self.set_retention(value)?,
            "dead_letter_ttl" => self.dead_letter_ttl_ms = Some(parse_period(name, value)?),
            "allowed_job_types" => self.allowed_job_types = Some(patterns(name, value)?),
            _ => {
                let known = "max_size, max_size_bytes, overflow_policy, warning_threshold, backpressure, concurrency, rate_limit, \
                             visibility_timeout, default_timeout, default_retry, retention, dead_letter_ttl, allowed_job_types";
                return Err(OjsError::invalid_field(
                    name,
                    format!("{name} is not a setting of a queue; the settings are {known}."),
                ));
            }
        }
        Ok(())
    }

    fn set_retention(&mut self, value: &Value) -> Checked<()> {
        let object = value.as_object().ok_or_else(|| {
            OjsError::invalid_field(
                "retention",
                "retention must be an object: {\"completed\": \"P7D\", \"discarded\": \"P30D\"}.",
            )
        })?;
        for (state, period) in object.iter().filter(|(_, period)| !period.is_null()) {
            let field = format!("retention.{state}");
            let slot = match state.as_str() {
                "completed" => &mut self.keep_completed_ms,
                "discarded" => &mut self.keep_discarded_ms,
                "cancelled" => &mut self.keep_cancelled_ms,
                _ => {
                    let message = format!("{field} is not known: use completed, discarded and cancelled.");
                    return Err(OjsError::invalid_field(&field, message));
                }
            };
            *slot = Some(parse_period(&field, period)?);
        }
        Ok(())
    }

    /// Its own settings, and the template's where it has none.
    #[must_use]
    pub fn over(&self, template: &Self) -> Self {
        let own = self.clone();
        let base = template.clone();
        let default_retry = match (own.default_retry, base.default_retry) {
            (Some(Value::Object(own)), Some(Value::Object(mut base))) => {
                base.extend(own);
                Some(Value::Object(base))
            }
            (own, base) => own.or(base),
        };
        Self {
            max_size: own.max_size.or(base.max_size),
            max_size_bytes: own.max_size_bytes.or(base.max_size_bytes),
            overflow_policy: own.overflow_policy.or(base.overflow_policy),
            warning_threshold: own.warning_threshold.or(base.warning_threshold),
            concurrency: own.concurrency.or(base.concurrency),
            rate_limit: own.rate_limit.or(base.rate_limit),
            visibility_timeout_ms: own.visibility_timeout_ms.or(base.visibility_timeout_ms),
            default_timeout_ms: own.default_timeout_ms.or(base.default_timeout_ms),
            default_retry,
            keep_completed_ms: own.keep_completed_ms.or(base.keep_completed_ms),
            keep_discarded_ms: own.keep_discarded_ms.or(base.keep_discarded_ms),
            keep_cancelled_ms: own.keep_cancelled_ms.or(base.keep_cancelled_ms),
            dead_letter_ttl_ms: own.dead_letter_ttl_ms.or(base.dead_letter_ttl_ms),
            allowed_job_types: own.allowed_job_types.or(base.allowed_job_types),
        }
    }

    /// The canonical form.
    #[must_use]
    pub fn to_value(&self) -> Map<String, Value> {
        let period = |ms: Option<u64>| ms.map(|ms| json!(period_text(ms)));
        let kept =
            [("completed", self.keep_completed_ms), ("discarded", self.keep_discarded_ms), ("cancelled", self.keep_cancelled_ms)];
        let retention: Map<String, Value> =
            kept.into_iter().filter_map(|(state, ms)| Some((state.to_owned(), period(ms)?))).collect();
        let members = [
            ("max_size", self.max_size.map(Value::from)),
            ("max_size_bytes", self.max_size_bytes.map(Value::from)),
            ("overflow_policy", self.overflow_policy.map(|policy| json!(policy.as_str()))),
            ("warning_threshold", self.warning_threshold.map(Value::from)),
            ("concurrency", self.concurrency.map(Value::from)),
            ("rate_limit", self.rate_limit.map(Rate::to_value)),
            ("visibility_timeout", period(self.visibility_timeout_ms)),
            ("default_timeout", period(self.default_timeout_ms)),
            ("default_retry", self.default_retry.clone()),
            ("retention", (!retention.is_empty()).then_some(Value::Object(retention))),
            ("dead_letter_ttl", period(self.dead_letter_ttl_ms)),
            ("allowed_job_types", self.allowed_job_types.as_ref().map(|list| json!(list))),
        ];
        members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    /// Most jobs that wait, when there is a bound.
    #[must_use]
    pub fn bound(&self) -> Option<u64> {
        self.max_size.filter(|max| *max > 0)
    }

    /// Most bytes that wait, when there is a bound.
    #[must_use]
    pub fn byte_bound(&self) -> Option<u64> {
        self.max_size_bytes.filter(|max| *max > 0)
    }

    /// Whether there is any bound.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.bound().is_some() || self.byte_bound().is_some()
    }

    /// Whether jobs of this type may be enqueued.
    #[must_use]
    pub fn allows(&self, job_type: &str) -> bool {
        let fits = |pattern: &String| match pattern.strip_suffix('*') {
            Some(start) => job_type.starts_with(start),
            None => pattern == job_type,
        };
        self.allowed_job_types.as_ref().is_none_or(|list| list.iter().any(fits))
    }

    /// Whether it fills in anything that a job left out.
    #[must_use]
    pub fn has_defaults(&self) -> bool {
        self.default_retry.is_some() || self.default_timeout_ms.is_some() || self.visibility_timeout_ms.is_some()
    }
}

/// Brings a request into canonical names: the members of `backpressure` and the words of both documents. `null` asks for the template's value.
///
/// # Errors
/// 400 that names the member.
pub fn canonical(request: &Map<String, Value>) -> Checked<Map<String, Value>> {
    let mut out = Map::new();
    for (name, value) in request {
        match name.as_str() {
            "backpressure" => spread_backpressure(value, &mut out)?,
            "max_depth" => _ = out.insert("max_size".into(), value.clone()),
            "rate" => _ = out.insert("rate_limit".into(), value.clone()),
            "retry" | "retry_policy" => _ = out.insert("default_retry".into(), value.clone()),
            // Who may produce is a matter of keys, not of queues: only the value that says nothing is taken.
            "producers" if *value == json!(["*"]) || value.is_null() => {}
            _ => _ = out.insert(name.clone(), value.clone()),
        }
    }
    QueueConfig::parse(&out)?;
    Ok(out)
}

fn spread_backpressure(value: &Value, out: &mut Map<String, Value>) -> Checked<()> {
    if value.is_null() {
        for name in ["max_size", "max_size_bytes", "overflow_policy", "warning_threshold"] {
            out.insert(name.into(), Value::Null);
        }
        return Ok(());
    }
    let object = value
        .as_object()
        .ok_or_else(|| OjsError::invalid_field("backpressure", "backpressure must be an object: {\"max_depth\": 1000}."))?;
    for (name, value) in object {
        let canonical = match name.as_str() {
            "max_depth" | "max_size" => "max_size",
            "max_size_bytes" => "max_size_bytes",
            "strategy" | "overflow_policy" => "overflow_policy",
            "warning_threshold" => "warning_threshold",
            _ => {
                let field = format!("backpressure.{name}");
                let message = format!("{field} is not known: use max_depth, max_size_bytes, strategy and warning_threshold.");
                return Err(OjsError::invalid_field(&field, message));
            }
        };
        out.insert(canonical.into(), value.clone());
    }
    Ok(())
}

/// What a queue has set, and what holds for it.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueSettings {
    /// What an operator set for this queue.
    pub own: QueueConfig,
    /// The same over the template.
    pub config: QueueConfig,
}

/// The settings of a queue as a store keeps them.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum StoredSettings {
    /// Nothing is set: such a queue costs nothing.
    #[default]
    None,
    /// What is set.
    Set(Arc<QueueSettings>),
    /// Texts that cannot be read. They stay as they are until the queue is configured anew.
    Unreadable(Arc<UnreadableSettings>),
}

/// Settings that cannot be read.
#[derive(Debug, Clone, PartialEq)]
pub struct UnreadableSettings {
    own: String,
    config: String,
    /// Why not.
    pub(crate) fault: String,
}

impl StoredSettings {
    /// A queue's own settings over the template's.
    #[must_use]
    pub fn new(own: QueueConfig, template: &QueueConfig) -> Self {
        let config = own.over(template);
        if config == QueueConfig::default() { Self::None } else { Self::Set(Arc::new(QueueSettings { own, config })) }
    }

    /// Both as stores keep them: two JSON objects, or two empty texts.
    #[must_use]
    pub fn texts(&self) -> (String, String) {
        let text = |config: &QueueConfig| Value::Object(config.to_value()).to_string();
        match self {
            Self::None => Default::default(),
            Self::Set(settings) => (text(&settings.own), text(&settings.config)),
            Self::Unreadable(texts) => (texts.own.clone(), texts.config.clone()),
        }
    }

    /// Reads what [`texts`](Self::texts) wrote.
    #[must_use]
    pub fn read(own: &str, config: &str) -> Self {
        if own.is_empty() && config.is_empty() {
            return Self::None;
        }
        match read_config(own).and_then(|own| Ok(QueueSettings { own, config: read_config(config)? })) {
            Ok(settings) => Self::Set(Arc::new(settings)),
            Err(fault) => {
                Self::Unreadable(Arc::new(UnreadableSettings { own: own.to_owned(), config: config.to_owned(), fault }))
            }
        }
    }

    /// The settings, when they can be read and there are any: for figures that leave out what cannot be read.
    #[must_use]
    pub fn known(&self) -> Option<&Arc<QueueSettings>> {
        match self {
            Self::Set(settings) => Some(settings),
            Self::None | Self::Unreadable(_) => None,
        }
    }

    /// What an operator has set, as far as it can be read: what a new configuration is merged into.
    #[must_use]
    pub fn own(&self) -> QueueConfig {
        match self {
            Self::None => QueueConfig::default(),
            Self::Set(settings) => settings.own.clone(),
            Self::Unreadable(texts) => read_config(&texts.own).unwrap_or_default(),
        }
    }
}

/// Reads one object of settings. It was checked before it was stored, so a fault means damage.
fn read_config(text: &str) -> std::result::Result<QueueConfig, String> {
    let object: Map<String, Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    QueueConfig::parse(&object).map_err(|error| error.message)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]
    use super::*;
    use crate::store::rows::QueueRow;

    fn parsed(value: Value) -> Checked<QueueConfig> {
        QueueConfig::parse(&canonical(value.as_object().unwrap())?)
    }

    #[test]
    fn both_documents_name_the_same_settings() {
        let one = parsed(json!({"max_size": 5, "overflow_policy": "block", "warning_threshold": 0.5})).unwrap();
        let other = parsed(json!({"backpressure": {"max_depth": 5, "strategy": "block", "warning_threshold": 0.5}})).unwrap();
        assert_eq!(one, other);
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let config = parsed(json!({
            "max_size": 5, "max_size_bytes": 1000, "overflow_policy": "drop_oldest", "concurrency": 3,
            "rate_limit": {"limit": 2.5, "period": "PT1M"}, "visibility_timeout": 60, "default_timeout": "PT5M",
            "default_retry": {"max_attempts": 9}, "retention": {"completed": "P1D", "cancelled": "PT1H"},
            "dead_letter_ttl": "P3D", "allowed_job_types": ["a.*", "b"],
        }))
        .unwrap();
        assert_eq!(QueueConfig::parse(&config.to_value()).unwrap(), config);
        let settings = StoredSettings::new(config, &QueueConfig::default());
        let (own, effective) = settings.texts();
        assert_eq!(StoredSettings::read(&own, &effective), settings);
    }

    #[test]
    fn settings_that_cannot_be_read_are_kept_as_they_are() {
        assert_eq!(StoredSettings::read("", ""), StoredSettings::None);
        for (own, effective) in [("{", "{}"), ("{}", "{"), ("{}", r#"{"max_size":-1}"#), (r#"{"colour":1}"#, "{}"), ("", "{}")] {
            let stored = StoredSettings::read(own, effective);
            assert_eq!(stored.texts(), (own.to_owned(), effective.to_owned()));
            let row = QueueRow { settings: stored, ..QueueRow::fresh(1, "q", 0) };
            let fault = row.settings().unwrap_err().to_string();
            assert!(fault.contains("queue 'q' cannot be read") && fault.contains("PUT /ojs/v1/queues/q/config"), "{fault}");
        }
        assert_eq!(StoredSettings::read(r#"{"max_size":5}"#, "{").own().max_size, Some(5));
    }

    #[test]
    fn a_fault_names_its_field() {
        for (request, field) in [
            (json!({"max_size": -1}), "max_size"),
            (json!({"overflow_policy": "explode"}), "overflow_policy"),
            (json!({"backpressure": {"strategy": 1}}), "overflow_policy"),
            (json!({"backpressure": {"depth": 1}}), "backpressure.depth"),
            (json!({"warning_threshold": 1.5}), "warning_threshold"),
            (json!({"concurrency": "many"}), "concurrency"),
            (json!({"rate_limit": {"limit": 0}}), "rate_limit.limit"),
            (json!({"rate_limit": {"limit": 1, "period": "soon"}}), "rate_limit.period"),
            (json!({"visibility_timeout": "PT0.5S"}), "visibility_timeout"),
            (json!({"default_timeout": 0}), "default_timeout"),
            (json!({"default_retry": {"max_attempts": -1}}), "retry.max_attempts"),
            (json!({"retention": {"lost": "P1D"}}), "retention.lost"),
            (json!({"allowed_job_types": ["a", "B!"]}), "allowed_job_types[1]"),
            (json!({"max_sise": 1}), "max_sise"),
            (json!({"producers": ["billing"]}), "producers"),
        ] {
            let error = parsed(request.clone()).unwrap_err();
            assert_eq!(error.details.as_ref().unwrap()["field"], field, "{request}: {error}");
        }
    }

    #[test]
    fn a_queue_stands_over_the_template_member_by_member() {
        let template = parsed(json!({"concurrency": 2, "default_retry": {"max_attempts": 9, "jitter": false}})).unwrap();
        let own = parsed(json!({"max_size": 1, "default_retry": {"max_attempts": 4}})).unwrap();
        let config = own.over(&template);
        assert_eq!((config.concurrency, config.max_size), (Some(2), Some(1)));
        assert_eq!(config.default_retry, Some(json!({"max_attempts": 4, "jitter": false})));
    }
}
