//! Retry and unique policies in the form that every published server understands: the union of the spellings in use
//! (a server ignores the names it does not know; `docs/spec/dialects.md` 0.1).
use std::time::Duration;

use ojs_model::duration::{self, IsoDuration};
pub use ojs_model::retry::{BackoffStrategy, OnExhaustion};
use serde_json::{Map, Value, json};

/// Above it floats have gaps between whole numbers: 2^53.
const LARGEST_FACTOR: f64 = 9_007_199_254_740_992.0;

/// How a job is retried. What is not set is left to the server: three attempts, from one second, doubling, with jitter.
///
/// ```
/// use std::time::Duration;
/// use ojs::RetryPolicy;
/// let policy = RetryPolicy::new().max_attempts(5).initial_interval(Duration::from_secs(2));
/// assert_eq!(policy.to_value(), serde_json::json!({"max_attempts": 5, "initial_interval": "PT2S", "initial_interval_ms": 2000}));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RetryPolicy(Map<String, Value>);

impl RetryPolicy {
    /// Nothing set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs in all, the first one included.
    #[must_use]
    pub fn max_attempts(self, runs: u32) -> Self {
        self.set("max_attempts", json!(runs))
    }

    /// Pause before the second run.
    #[must_use]
    pub fn initial_interval(self, pause: Duration) -> Self {
        self.set("initial_interval", json!(duration::format(pause)))
    }

    /// Growth of the pause from run to run; at least 1.
    #[must_use]
    pub fn backoff_coefficient(self, factor: f64) -> Self {
        self.set("backoff_coefficient", json!(factor))
    }

    /// Longest pause.
    #[must_use]
    pub fn max_interval(self, pause: Duration) -> Self {
        self.set("max_interval", json!(duration::format(pause)))
    }

    /// Whether pauses vary at random.
    #[must_use]
    pub fn jitter(self, jitter: bool) -> Self {
        self.set("jitter", json!(jitter))
    }

    /// Error types or codes that end the job at once: exact, or `prefix.*`.
    #[must_use]
    pub fn non_retryable_errors<E: Into<String>>(self, errors: impl IntoIterator<Item = E>) -> Self {
        let errors: Vec<String> = errors.into_iter().map(Into::into).collect();
        self.set("non_retryable_errors", json!(errors))
    }

    /// What happens after the last failure.
    #[must_use]
    pub fn on_exhaustion(self, fate: OnExhaustion) -> Self {
        let word = match fate {
            OnExhaustion::Discard => "discard",
            OnExhaustion::DeadLetter => "dead_letter",
        };
        self.set("on_exhaustion", json!(word))
    }

    /// The formula of the pauses.
    #[must_use]
    pub fn backoff_strategy(self, strategy: BackoffStrategy) -> Self {
        self.set("backoff_strategy", json!(strategy.as_str()))
    }

    fn set(mut self, name: &str, value: Value) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// The wire form, in every spelling.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut object = self.0.clone();
        complete_retry(&mut object);
        Value::Object(object)
    }
}

/// Which jobs count as the same, and what happens to a second one.
///
/// ```
/// use std::time::Duration;
/// use ojs::{OnConflict, UniquePolicy};
/// let policy = UniquePolicy::by(["type", "args"]).period(Duration::from_secs(3600)).on_conflict(OnConflict::Ignore);
/// assert_eq!(policy.to_value()["period"], "PT1H");
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UniquePolicy(Map<String, Value>);

/// What happens to a job that another one makes a duplicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnConflict {
    /// Refused: [`Error::is_duplicate`](crate::Error::is_duplicate).
    Reject,
    /// The existing job is returned in its place.
    Ignore,
    /// The existing job is cancelled.
    Replace,
    /// As `Replace`, but the new job runs when the old one would have.
    ReplaceExceptSchedule,
}

impl UniquePolicy {
    /// Jobs are the same when these are: any of `type`, `queue`, `args`, `meta`. The type always counts.
    pub fn by<K: Into<String>>(keys: impl IntoIterator<Item = K>) -> Self {
        let keys: Vec<String> = keys.into_iter().map(Into::into).collect();
        Self::default().set("keys", json!(keys))
    }

    /// Only these members of the first object argument count.
    #[must_use]
    pub fn args_keys<K: Into<String>>(self, keys: impl IntoIterator<Item = K>) -> Self {
        let keys: Vec<String> = keys.into_iter().map(Into::into).collect();
        self.set("args_keys", json!(keys))
    }

    /// Only these members of `meta` count.
    #[must_use]
    pub fn meta_keys<K: Into<String>>(self, keys: impl IntoIterator<Item = K>) -> Self {
        let keys: Vec<String> = keys.into_iter().map(Into::into).collect();
        self.set("meta_keys", json!(keys))
    }

    /// Only jobs created within this time count.
    #[must_use]
    pub fn period(self, period: Duration) -> Self {
        self.set("period", json!(duration::format(period)))
    }

    /// Only jobs in these states count.
    #[must_use]
    pub fn states(self, states: impl IntoIterator<Item = ojs_model::JobState>) -> Self {
        let states: Vec<&str> = states.into_iter().map(ojs_model::JobState::as_str).collect();
        self.set("states", json!(states))
    }

    /// What happens to the second job.
    #[must_use]
    pub fn on_conflict(self, fate: OnConflict) -> Self {
        let word = match fate {
            OnConflict::Reject => "reject",
            OnConflict::Ignore => "ignore",
            OnConflict::Replace => "replace",
            OnConflict::ReplaceExceptSchedule => "replace_except_schedule",
        };
        self.set("on_conflict", json!(word))
    }

    fn set(mut self, name: &str, value: Value) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// The wire form, in every spelling.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut object = self.0.clone();
        complete_unique(&mut object);
        Value::Object(object)
    }
}

/// A train: its jobs run one after the other, in the order in which they were stored, each when the one before has
/// ended for good. A job that fails and is tried again keeps its place (extensions section 30).
///
/// Where it is set for all jobs of a type ([`JobOptions`](crate::JobOptions)), it may leave out the id, or name
/// arguments of the job in it: `dest_{destination_id}` is filled in with this member of the first argument, `dest_{0}`
/// with the first argument itself.
///
/// ```
/// use ojs::{JobRequest, Train, TrainAction};
/// let job = JobRequest::new("deploy", [123]).train("dest_123");
/// let held = JobRequest::new("deploy", [123]).train(Train::new("dest_123").on_cancelled(TrainAction::Hold));
/// assert!(job.to_json()?.contains(r#""train":{"id":"dest_123"}"#));
/// assert!(held.to_json()?.contains(r#""train":{"id":"dest_123","on_cancelled":"hold"}"#));
/// # Ok::<(), ojs::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Train(Map<String, Value>);

/// What a train does when the job at its head is cancelled or discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrainAction {
    /// The next job runs. This is what a train does without a policy.
    Advance,
    /// No job runs until an operator lets the train go on.
    Hold,
}

impl TrainAction {
    const fn word(self) -> &'static str {
        match self {
            Self::Advance => "advance",
            Self::Hold => "hold",
        }
    }
}

/// When a job that is cancelled while it runs leaves its train.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CancelActive {
    /// When its worker has let go of it: two handlers never run for one train at the same time. The usual.
    Drain,
    /// At once, although its handler may still be running.
    Immediate,
}

impl CancelActive {
    const fn word(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::Immediate => "immediate",
        }
    }
}

impl Train {
    /// The train with this id: 1 to 255 letters, digits, `.`, `_`, `:` or `-`, beginning with a letter or a digit.
    pub fn new(id: impl Into<String>) -> Self {
        Self::default().set("id", id.into())
    }

    /// What happens when this job is cancelled while it is at the head of its train.
    #[must_use]
    pub fn on_cancelled(self, action: TrainAction) -> Self {
        self.set("on_cancelled", action.word())
    }

    /// What happens when this job is discarded: it failed for good, or expired.
    #[must_use]
    pub fn on_discarded(self, action: TrainAction) -> Self {
        self.set("on_discarded", action.word())
    }

    /// When the job leaves its train after it was cancelled while it ran.
    #[must_use]
    pub fn cancel_active(self, when: CancelActive) -> Self {
        self.set("cancel_active", when.word())
    }

    fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// The wire form.
    #[must_use]
    pub fn to_value(&self) -> Value {
        Value::Object(self.0.clone())
    }
}

impl From<&str> for Train {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

impl From<String> for Train {
    fn from(id: String) -> Self {
        Self::new(id)
    }
}

/// Gives intervals both as ISO 8601 text and as milliseconds, whichever of the two is there, and a whole coefficient
/// without a fraction: not every language has a form for 2.0 that is not 2.
pub(crate) fn complete_retry(policy: &mut Map<String, Value>) {
    if let Some(factor) = policy.get_mut("backoff_coefficient")
        && let Some(whole) = factor.as_f64().filter(|f| factor.is_f64() && f.fract() == 0.0 && (0.0..=LARGEST_FACTOR).contains(f))
    {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and in range")]
        let whole = whole as u64;
        *factor = json!(whole);
    }
    for (iso, millis) in [("initial_interval", "initial_interval_ms"), ("max_interval", "max_interval_ms")] {
        let text = policy.get(iso).and_then(Value::as_str).and_then(|text| IsoDuration::parse(text).ok());
        let number = policy.get(millis).and_then(Value::as_u64);
        match (text, number) {
            (Some(text), None) => {
                let number = u64::try_from(text.value().as_millis()).unwrap_or(u64::MAX);
                policy.insert(millis.to_owned(), json!(number));
            }
            (None, Some(number)) if !policy.contains_key(iso) => {
                policy.insert(iso.to_owned(), json!(IsoDuration::from_millis(number).to_string()));
            }
            _ => {}
        }
    }
}

/// Gives the dimensions as `keys` and `key`, and the period as ISO 8601 text and as milliseconds.
pub(crate) fn complete_unique(policy: &mut Map<String, Value>) {
    if let Some(keys) = policy.get("keys").cloned() {
        policy.entry("key").or_insert(keys);
    }
    if let Some(millis) = policy.get("period_ms").and_then(Value::as_u64) {
        policy.entry("period").or_insert_with(|| json!(IsoDuration::from_millis(millis).to_string()));
    }
    let period = policy.get("period").and_then(Value::as_str).and_then(|text| IsoDuration::parse(text).ok());
    if let Some(period) = period {
        let millis = u64::try_from(period.value().as_millis()).unwrap_or(u64::MAX);
        policy.entry("period_ms").or_insert_with(|| json!(millis));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_come_in_both_spellings() {
        let policy = RetryPolicy::new().initial_interval(Duration::from_millis(500)).max_interval(Duration::from_secs(300));
        assert_eq!(
            policy.to_value(),
            json!({
                "initial_interval": "PT0.5S", "initial_interval_ms": 500, "max_interval": "PT5M", "max_interval_ms": 300_000,
            })
        );
        let mut raw = json!({"initial_interval_ms": 1500}).as_object().unwrap().clone();
        complete_retry(&mut raw);
        assert_eq!(Value::Object(raw), json!({"initial_interval_ms": 1500, "initial_interval": "PT1.5S"}));
    }

    #[test]
    fn unique_keys_come_under_both_names() {
        let policy = UniquePolicy::by(["type", "args"]).period(Duration::from_secs(60)).on_conflict(OnConflict::Replace);
        assert_eq!(
            policy.to_value(),
            json!({
                "keys": ["type", "args"], "key": ["type", "args"], "period": "PT1M", "period_ms": 60_000, "on_conflict": "replace",
            })
        );
    }
}
