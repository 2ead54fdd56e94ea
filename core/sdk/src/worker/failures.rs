//! One log record for each failed attempt, written when the server has answered, because the answer says whether the
//! job runs again.
//!
//! Hosts get the records through `ojs-abi`, Rust programs through `tracing`; this is the only place that logs failures. Arguments and
//! results are never logged; the text of an error is.
use std::fmt::{self, Write as _};

use ojs_model::OjsError;
use serde::Deserialize;
use tokio::time::Instant;

use super::held::{About, Entry};
use crate::dispatch::HandlerFailure;
use crate::error::Error;

/// Most bytes of a logged error, its stack trace included.
const MOST_BYTES: usize = 16_384;

/// A failed attempt whose outcome is on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failed<'a> {
    pub about: &'a About,
    pub job_id: &'a str,
    pub failure: &'a HandlerFailure,
}

/// The server's answer to a failure: the body of a nack's answer, or an entry of an exchange's results. Servers differ
/// in the members that they send, and in their types.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Fate {
    #[serde(deserialize_with = "lenient")]
    state: Option<String>,
    #[serde(deserialize_with = "lenient")]
    attempt: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    max_attempts: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    next_attempt_at: Option<String>,
    #[serde(deserialize_with = "lenient")]
    retry_delay_ms: Option<u64>,
}

/// A member of an unexpected type counts as absent: a log record must not depend on it.
pub(super) fn lenient<'de, D: serde::Deserializer<'de>, T: serde::de::DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(serde_json::Value::deserialize(deserializer)?).ok())
}

impl Fate {
    /// From the members of an exchange's result, as JSON text each.
    pub fn of_result(state: &str, attempt: Option<&str>, most: Option<&str>, at: Option<&str>, delay_ms: Option<&str>) -> Self {
        let number = |text: Option<&str>| text.and_then(|text| text.parse().ok());
        Self {
            state: serde_json::from_str(state).ok(),
            attempt: number(attempt),
            max_attempts: number(most),
            next_attempt_at: at.and_then(|text| serde_json::from_str(text).ok()),
            retry_delay_ms: number(delay_ms),
        }
    }

    /// From the body of an answer to a nack.
    pub fn of_answer(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }

    /// From a refusal that names the state of the job.
    pub fn of_refusal(refusal: &OjsError) -> Self {
        let state = refusal.details.as_ref().and_then(|details| details.get("current_state")).and_then(serde_json::Value::as_str);
        Self { state: state.map(str::to_owned), ..Self::default() }
    }

    /// Whether this attempt was the last one; decided by the failure itself where the server does not say.
    fn is_final(&self, failed: Failed<'_>) -> bool {
        match self.state.as_deref() {
            Some("discarded" | "dead" | "dead_letter" | "failed") => true,
            Some("retryable" | "available" | "scheduled" | "pending") => false,
            _ => !failed.failure.retryable || self.most(failed).is_some_and(|most| self.number(failed) >= most),
        }
    }

    fn number(&self, failed: Failed<'_>) -> u64 {
        self.attempt.unwrap_or(u64::from(failed.about.attempt))
    }

    fn most(&self, failed: Failed<'_>) -> Option<u64> {
        self.max_attempts.or(failed.about.max_attempts.map(u64::from))
    }
}

impl Failed<'_> {
    /// Logs a failure that the server has accepted.
    pub fn log(self, worker_id: &str, fate: &Fate) {
        let About { job_type, queue, .. } = self.about;
        let attempt = Attempt(fate.number(self), fate.most(self));
        let (id, error) = (self.job_id, Trace { failure: self.failure, job_id: self.job_id });
        if fate.is_final(self) {
            tracing::error!("type" = job_type, id, queue, %attempt, worker = worker_id, %error, "job failed for good");
        } else if let Some(runs_again) = Again::of(fate) {
            tracing::warn!("type" = job_type, id, queue, %attempt, %runs_again, worker = worker_id, %error, "job failed");
        } else {
            tracing::warn!("type" = job_type, id, queue, %attempt, worker = worker_id, %error, "job failed");
        }
    }

    /// Logs a failure that the server has not accepted, with its reason.
    pub fn log_lost(self, worker_id: &str, why: &Error) {
        let About { job_type, queue, .. } = self.about;
        let attempt = Attempt(u64::from(self.about.attempt), self.about.max_attempts.map(u64::from));
        let (id, error) = (self.job_id, Trace { failure: self.failure, job_id: self.job_id });
        tracing::warn!(
            "type" = job_type, id, queue, %attempt, worker = worker_id, not_reported = %why, %error,
            "job failed, and the server did not take the report"
        );
    }
}

/// A run whose lease has gone to another worker, or was ended by the server.
pub(super) fn log_lease_lost(worker_id: &str, job_id: &str, about: &About) {
    let About { job_type, queue, .. } = about;
    let attempt = Attempt(u64::from(about.attempt), about.max_attempts.map(u64::from));
    tracing::warn!(
        "type" = job_type, id = job_id, queue, %attempt, worker = worker_id,
        error = "LeaseLost (lease_lost): the server gave the job to another worker, because this one was silent for too long",
        "job failed"
    );
}

/// The worker stops, and the server has not confirmed the outcome of this job.
pub(super) fn log_abandoned(worker_id: &str, entry: &Entry, now: Instant) {
    let About { job_type, queue, .. } = &*entry.about;
    let attempt = Attempt(u64::from(entry.about.attempt), entry.about.max_attempts.map(u64::from));
    let lease_left = entry.lease_until.saturating_duration_since(now);
    tracing::error!(
        "type" = job_type, id = &*entry.id, queue, %attempt, worker = worker_id, ?lease_left,
        "the worker stops before the server has confirmed the outcome of this job; unless the server took the outcome without \
         answering, the job runs again when its lease is over"
    );
}

/// `2 of 5`, or `2` where the most is not known.
struct Attempt(u64, Option<u64>);

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            // 0 is one run, and 1 of 0 would puzzle.
            Some(most) => write!(f, "{} of {}", self.0, most.max(self.0)),
            None => write!(f, "{}", self.0),
        }
    }
}

/// When the job runs again, as far as the server says.
struct Again<'a> {
    at: Option<&'a str>,
    delay_ms: Option<u64>,
}

impl<'a> Again<'a> {
    fn of(fate: &'a Fate) -> Option<Self> {
        let again = Self { at: fate.next_attempt_at.as_deref(), delay_ms: fate.retry_delay_ms };
        (again.at.is_some() || again.delay_ms.is_some()).then_some(again)
    }
}

impl fmt::Display for Again<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.delay_ms, self.at) {
            (Some(ms), Some(at)) => write!(f, "in {:?} ({at})", std::time::Duration::from_millis(ms)),
            (Some(ms), None) => write!(f, "in {:?}", std::time::Duration::from_millis(ms)),
            (None, at) => f.write_str(at.unwrap_or_default()),
        }
    }
}

/// `ValueError (handler_error): message`, then the stack trace, a line each. Of a job without a handler, what to do about it.
struct Trace<'a> {
    failure: &'a HandlerFailure,
    job_id: &'a str,
}

impl fmt::Display for Trace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HandlerFailure { code, kind, message, backtrace, .. } = self.failure;
        let mut out = Printable { out: f, left: MOST_BYTES };
        write!(out, "{kind} ({code}): {message}")?;
        if code == "no_handler" {
            write!(out, " Is the type misspelt? If not, register a handler, then: ojs jobs retry {}", self.job_id)?;
        }
        for line in backtrace.iter().flat_map(|frame| frame.lines()) {
            write!(out, "\n    {line}")?;
        }
        Ok(())
    }
}

/// Writes text without characters that steer a terminal, and no more than so many bytes.
struct Printable<'a, 'f> {
    out: &'a mut fmt::Formatter<'f>,
    left: usize,
}

impl fmt::Write for Printable<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            if self.left == 0 {
                return Ok(());
            }
            self.left = self.left.saturating_sub(character.len_utf8());
            if self.left == 0 {
                self.out.write_str(" …")?;
            } else if character.is_control() && character != '\n' && character != '\t' {
                write!(self.out, "{}", character.escape_default())?;
            } else {
                self.out.write_char(character)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(retryable: bool) -> HandlerFailure {
        HandlerFailure { retryable, ..HandlerFailure::error("ValueError", "no\u{1b}[31m") }
    }

    #[test]
    fn the_server_decides_whether_an_attempt_was_the_last() {
        for (answer, retryable, is_final) in [
            (r#"{"state":"retryable"}"#, false, false),
            (r#"{"state":"discarded"}"#, true, true),
            (r#"{"state":"dead"}"#, true, true),
            ("{}", true, false),
            ("{}", false, true),
            (r#"{"attempt":5,"max_attempts":"many"}"#, true, true),
            (r#"{"attempt":2,"max_attempts":2,"state":7}"#, true, true),
            ("<html>", true, false),
        ] {
            let about = About { job_type: "t".into(), queue: "q".into(), attempt: 2, max_attempts: Some(5) };
            let failed = Failed { about: &about, job_id: "a", failure: &failure(retryable) };
            assert_eq!(Fate::of_answer(answer.as_bytes()).is_final(failed), is_final, "{answer}");
        }
    }

    #[test]
    fn traces_are_lines_without_commands_to_a_terminal_and_bounded() {
        let mut failure = failure(true);
        failure.backtrace = vec!["one\n  two".into(), "three".into()];
        assert_eq!(
            Trace { failure: &failure, job_id: "a" }.to_string(),
            "ValueError (handler_error): no\\u{1b}[31m\n    one\n      two\n    three"
        );
        failure.message = "ü".repeat(MOST_BYTES);
        let text = Trace { failure: &failure, job_id: "a" }.to_string();
        assert!(text.len() <= MOST_BYTES + 8 && text.ends_with('…'), "{}", text.len());
    }
}
