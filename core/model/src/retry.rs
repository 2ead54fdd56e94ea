//! Retry policy: every input form, the exact back-off formulae, and what to do after a failure (protocol section 7).
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::duration::IsoDuration;
use crate::error::OjsError;
use crate::failure::JobError;
use crate::json::{push_bare, push_member, push_string, push_text};

/// The type of the error that a stopping worker reports for jobs that it could not finish.
const SHUTDOWN: &str = "ShutdownError";

/// What happens to a job whose attempts are spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExhaustion {
    /// Discarded, not listed as a dead letter.
    Discard,
    /// Discarded and listed as a dead letter.
    DeadLetter,
}

/// How the delay grows with the number of the retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackoffStrategy {
    /// `I · C^(n−1)`
    Exponential,
    /// `I · n`
    Linear,
    /// `I`
    Constant,
    /// `I`, under its other name.
    None,
    /// `I · n^C`
    Polynomial,
}

/// When and how often a failed job runs again.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryPolicy {
    /// Runs in all; 0 and 1 both mean "once".
    pub max_attempts: u32,
    /// Delay before the first retry.
    pub initial_interval: IsoDuration,
    /// Growth factor; the exponent for [`BackoffStrategy::Polynomial`]. At least 1.
    pub backoff_coefficient: f64,
    /// Cap, before and after jitter.
    pub max_interval: IsoDuration,
    /// Whether the delay is multiplied by a random factor in `[0.5, 1.5)`.
    pub jitter: bool,
    /// Error types or codes that end the job at once: exact, or `prefix.*`.
    pub non_retryable_errors: Vec<String>,
    /// What happens when attempts are spent.
    pub on_exhaustion: OnExhaustion,
    /// The formula.
    pub backoff_strategy: BackoffStrategy,
}

impl Default for RetryPolicy {
    /// `{3, PT1S, 2.0, PT5M, jitter, [], discard, exponential}` (protocol section 1.5).
    fn default() -> Self {
        Self {
            max_attempts: 3,
            initial_interval: IsoDuration::fixed(1, "PT1S"),
            backoff_coefficient: 2.0,
            max_interval: IsoDuration::fixed(300, "PT5M"),
            jitter: true,
            non_retryable_errors: Vec::new(),
            on_exhaustion: OnExhaustion::Discard,
            backoff_strategy: BackoffStrategy::Exponential,
        }
    }
}

/// What the engine does with a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Run again after the delay.
    Retry(Duration),
    /// Discard; `dead_letter` says whether it is listed as a dead letter.
    Discard {
        /// Listed as a dead letter.
        dead_letter: bool,
    },
}

impl RetryPolicy {
    /// Reads a policy, filling what is left out from `defaults`.
    ///
    /// Accepts `max_retries`, `initial_interval_ms`, `base_delay_ms`, `initial_delay_ms`, `multiplier`,
    /// `max_interval_ms`, `backoff_type`, `backoff`, `strategy` beside the official names; the official name wins where
    /// both are present.
    ///
    /// # Errors
    /// 422 with `type: "validation_error"` and the name of the field in the message (protocol section 7.5).
    pub fn parse(value: &Value, defaults: &Self) -> Result<Self, OjsError> {
        let object = value.as_object().ok_or_else(|| OjsError::invalid_retry("", "must be an object"))?;
        let mut policy = defaults.clone();
        if let Some((field, v)) = first(object, &["max_attempts", "max_retries"]) {
            policy.max_attempts = v.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| {
                OjsError::invalid_retry("max_attempts", format!("({field}) must be an integer of at least 0, got {}", shorten(v)))
            })?;
        }
        let initial = interval(object, "initial_interval", &["initial_interval_ms", "base_delay_ms", "initial_delay_ms"])?;
        let max = interval(object, "max_interval", &["max_interval_ms"])?;
        policy.set_intervals(initial, max)?;
        if let Some((_, v)) = first(object, &["backoff_coefficient", "multiplier"]) {
            policy.backoff_coefficient = v.as_f64().filter(|c| *c >= 1.0 && c.is_finite()).ok_or_else(|| {
                OjsError::invalid_retry("backoff_coefficient", format!("must be a number of at least 1.0, got {}", shorten(v)))
            })?;
        }
        if let Some((_, v)) = first(object, &["jitter"]) {
            policy.jitter = v.as_bool().ok_or_else(|| OjsError::invalid_retry("jitter", "must be true or false"))?;
        }
        if let Some((_, v)) = first(object, &["non_retryable_errors"]) {
            policy.non_retryable_errors =
                strings(v).ok_or_else(|| OjsError::invalid_retry("non_retryable_errors", "must be an array of strings"))?;
        }
        if let Some((_, v)) = first(object, &["on_exhaustion"]) {
            policy.on_exhaustion = match v.as_str() {
                Some("discard") => OnExhaustion::Discard,
                Some("dead_letter") => OnExhaustion::DeadLetter,
                _ => return Err(OjsError::invalid_retry("on_exhaustion", "must be 'discard' or 'dead_letter'")),
            };
        }
        if let Some((_, v)) = first(object, &["backoff_strategy", "backoff_type", "backoff", "strategy"]) {
            policy.backoff_strategy = v.as_str().and_then(BackoffStrategy::from_word).ok_or_else(|| {
                OjsError::invalid_retry("backoff_strategy", "must be exponential, linear, constant, none or polynomial")
            })?;
        }
        Ok(policy)
    }

    fn set_intervals(&mut self, initial: Option<IsoDuration>, max: Option<IsoDuration>) -> Result<(), OjsError> {
        let max_given = max.is_some();
        if let Some(initial) = initial {
            self.initial_interval = initial;
        }
        if let Some(max) = max {
            self.max_interval = max;
        }
        if self.initial_interval.value().is_zero() {
            return Err(OjsError::invalid_retry("initial_interval", "must be longer than zero"));
        }
        if self.max_interval.value() < self.initial_interval.value() {
            if max_given {
                return Err(OjsError::invalid_retry("max_interval", "must not be shorter than initial_interval"));
            }
            // Only the first interval was given and it exceeds the default cap: the client means it.
            self.max_interval = self.initial_interval.clone();
        }
        Ok(())
    }

    /// The delay before retry number `n` (1, 2, …). `unit` is uniform in `[0, 1)` and feeds the jitter.
    ///
    /// ```
    /// use ojs_model::RetryPolicy;
    /// let policy = RetryPolicy { jitter: false, ..RetryPolicy::default() };
    /// let seconds: Vec<u64> = (1..=10).map(|n| policy.delay(n, 0.0).as_secs()).collect();
    /// assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
    /// ```
    #[must_use]
    pub fn delay(&self, n: u32, unit: f64) -> Duration {
        let n = n.max(1);
        let initial = self.initial_interval.as_secs_f64();
        let max = self.max_interval.as_secs_f64();
        let raw = match self.backoff_strategy {
            BackoffStrategy::Constant | BackoffStrategy::None => initial,
            BackoffStrategy::Linear => initial * f64::from(n),
            BackoffStrategy::Exponential => initial * self.backoff_coefficient.powf(f64::from(n - 1)),
            BackoffStrategy::Polynomial => initial * f64::from(n).powf(self.backoff_coefficient),
        };
        let effective = raw.min(max);
        let jittered = if self.jitter { effective * (0.5 + unit.clamp(0.0, 1.0)) } else { effective };
        let millis = (jittered.clamp(0.0, max) * 1000.0).round();
        // f64 to u64 saturates.
        Duration::from_millis(millis as u64)
    }

    /// True when the error's type, class or code is listed in `non_retryable_errors` (protocol section 7.4).
    #[must_use]
    pub fn forbids(&self, error: &JobError) -> bool {
        let class = error.details.as_ref().and_then(|d| d.get("error_class")).and_then(Value::as_str);
        let names = [Some(error.kind.as_str()), class, Some(error.code.as_str())];
        let hit = |entry: &String, name: &str| match entry.strip_suffix('*') {
            Some(prefix) if prefix.ends_with('.') => name.starts_with(prefix),
            _ => entry == name,
        };
        names.into_iter().flatten().any(|name| self.non_retryable_errors.iter().any(|entry| hit(entry, name)))
    }

    /// What to do with a failed attempt, in the order of protocol section 7.3 (`requeue` is the caller's business).
    ///
    /// `charged` counts the attempts that count: attempts started minus those released without charge.
    #[must_use]
    pub fn judge(&self, error: &JobError, attempt: u32, charged: u32, unit: f64) -> Verdict {
        let exhausted = Verdict::Discard { dead_letter: self.on_exhaustion == OnExhaustion::DeadLetter };
        match error.code.as_str() {
            "DISCARD" | "FAIL" => return Verdict::Discard { dead_letter: false },
            "DEAD_LETTER" => return Verdict::Discard { dead_letter: true },
            "RETRY" => {}
            // The worker was stopped, the job did not fail: whatever the worker or the policy says (extensions section 7).
            _ if error.kind == SHUTDOWN => {}
            _ if !error.retryable || self.forbids(error) => return exhausted,
            _ => {}
        }
        if charged < self.max_attempts { Verdict::Retry(self.delay(attempt, unit)) } else { exhausted }
    }

    /// The policy in official names.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "max_attempts": self.max_attempts,
            "initial_interval": self.initial_interval.as_str(),
            "backoff_coefficient": self.backoff_coefficient,
            "max_interval": self.max_interval.as_str(),
            "jitter": self.jitter,
            "non_retryable_errors": self.non_retryable_errors,
            "on_exhaustion": self.on_exhaustion.as_str(),
            "backoff_strategy": self.backoff_strategy.as_str(),
        })
    }

    /// Appends the policy in official names as JSON text: [`to_value`](Self::to_value) without the tree.
    pub fn push_json(&self, out: &mut String) {
        out.push('{');
        push_bare(out, "max_attempts", self.max_attempts);
        push_text(out, "initial_interval", self.initial_interval.as_str());
        // Debug keeps the `.0` that tells a float from an integer.
        push_bare(out, "backoff_coefficient", format_args!("{:?}", self.backoff_coefficient));
        push_text(out, "max_interval", self.max_interval.as_str());
        push_bare(out, "jitter", self.jitter);
        push_member(out, "non_retryable_errors", "[");
        for (i, name) in self.non_retryable_errors.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            push_string(out, name);
        }
        out.push(']');
        push_text(out, "on_exhaustion", self.on_exhaustion.as_str());
        push_text(out, "backoff_strategy", self.backoff_strategy.as_str());
        out.push('}');
    }
}

impl OnExhaustion {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Discard => "discard",
            Self::DeadLetter => "dead_letter",
        }
    }
}

impl BackoffStrategy {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exponential => "exponential",
            Self::Linear => "linear",
            Self::Constant => "constant",
            Self::None => "none",
            Self::Polynomial => "polynomial",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Exponential, Self::Linear, Self::Constant, Self::None, Self::Polynomial].into_iter().find(|s| s.as_str() == word)
    }
}

/// The first of the names that is present and not null.
fn first<'a>(object: &'a Map<String, Value>, names: &[&'static str]) -> Option<(&'static str, &'a Value)> {
    names.iter().find_map(|name| object.get(*name).filter(|v| !v.is_null()).map(|v| (*name, v)))
}

fn interval(object: &Map<String, Value>, iso: &'static str, millis: &[&'static str]) -> Result<Option<IsoDuration>, OjsError> {
    let fault = |detail: String| OjsError::invalid_retry(iso, detail);
    if let Some((_, v)) = first(object, &[iso]) {
        let text = v.as_str().ok_or_else(|| fault(format!("must be an ISO 8601 duration such as PT1S, got {}", shorten(v))))?;
        return IsoDuration::parse(text).map(Some).map_err(|e| fault(format!("is {e}, got {}", shorten(v))));
    }
    let Some((name, v)) = first(object, millis) else { return Ok(None) };
    let n = v.as_u64().ok_or_else(|| fault(format!("({name}) must be an integer of milliseconds, got {}", shorten(v))))?;
    Ok(Some(IsoDuration::from_millis(n)))
}

/// A value as the client sent it, cut where it is long.
fn shorten(value: &Value) -> String {
    crate::envelope::shorten(&value.to_string())
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|v| v.as_str().map(str::to_owned)).collect()
}
