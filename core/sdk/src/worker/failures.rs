//! One log record for each failed attempt, written when the server has answered, because the answer says whether the
//! job runs again.
//!
//! Hosts get the records through `ojs-abi`, Rust programs through `tracing`, and a program that has set up neither gets
//! them on stderr ([decision 90]). This is the only place that logs failures of workers. Arguments and results are
//! never logged; the text of an error is.
//!
//! [decision 90]: ../../../../docs/adr/0090-failures-without-a-log.md
use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::time::Duration;

use ojs_model::OjsError;
use serde::Deserialize;
use tokio::time::Instant;
use tracing::field;
use tracing::subscriber::NoSubscriber;

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
fn lenient<'de, D: serde::Deserializer<'de>, T: serde::de::DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
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
        let error = Trace { failure: self.failure, job_id: self.job_id };
        let runs_again = Again::of(fate);
        let record = Record { attempt: Attempt(fate.number(self), fate.most(self)), ..self.record(worker_id, &error) };
        if fate.is_final(self) {
            record.error("job failed for good");
        } else {
            Record { runs_again, ..record }.warn("job failed");
        }
    }

    /// Logs a failure that the server has not accepted, with its reason.
    pub fn log_lost(self, worker_id: &str, why: &Error) {
        let error = Trace { failure: self.failure, job_id: self.job_id };
        let record = Record { not_reported: Some(why), ..self.record(worker_id, &error) };
        record.warn("job failed, and the server did not take the report");
    }

    fn record<'a>(&'a self, worker_id: &'a str, error: &'a dyn fmt::Display) -> Record<'a> {
        Record { error: Some(error), ..Record::of(worker_id, self.job_id, self.about) }
    }
}

/// A run whose lease has gone to another worker, or was ended by the server.
pub(super) fn log_lease_lost(worker_id: &str, job_id: &str, about: &About) {
    const LOST: &str =
        "LeaseLost (lease_lost): the server gave the job to another worker, because this one was silent for too long";
    Record { error: Some(&LOST), ..Record::of(worker_id, job_id, about) }.warn("job failed");
}

/// The worker stops, and the server has not confirmed the outcome of this job.
pub(super) fn log_abandoned(worker_id: &str, entry: &Entry, now: Instant) {
    let lease_left = Some(entry.lease_until.saturating_duration_since(now));
    Record { lease_left, ..Record::of(worker_id, &entry.id, &entry.about) }.error(
        "the worker stops before the server has confirmed the outcome of this job; unless the server took the outcome without \
         answering, the job runs again when its lease is over",
    );
}

/// What a log record says beside its message.
struct Record<'a> {
    about: &'a About,
    job_id: &'a str,
    attempt: Attempt,
    runs_again: Option<Again<'a>>,
    worker_id: &'a str,
    lease_left: Option<Duration>,
    not_reported: Option<&'a Error>,
    error: Option<&'a dyn fmt::Display>,
}

/// Hands a record to `tracing` at one of its levels.
macro_rules! hand_over {
    ($level:ident, $record:expr, $message:expr) => {{
        let Record { about, job_id, attempt, runs_again, worker_id, lease_left, not_reported, error } = $record;
        tracing::$level!(
            "type" = &*about.job_type(), id = *job_id, queue = &*about.queue(), %attempt, runs_again = runs_again.as_ref().map(field::display),
            worker = *worker_id, lease_left = lease_left.map(field::debug), not_reported = not_reported.map(field::display),
            error = error.map(field::display), "{}", $message
        );
    }};
}

impl<'a> Record<'a> {
    fn of(worker_id: &'a str, job_id: &'a str, about: &'a About) -> Self {
        let attempt = Attempt(u64::from(about.attempt), about.max_attempts.map(u64::from));
        Self { about, job_id, attempt, runs_again: None, worker_id, lease_left: None, not_reported: None, error: None }
    }

    fn error(&self, message: &str) {
        hand_over!(error, self, message);
        self.show("ERROR", message);
    }

    fn warn(&self, message: &str) {
        hand_over!(warn, self, message);
        self.show("WARN", message);
    }

    /// Writes the record to stderr in a program that collects no records, so that no failure is invisible.
    fn show(&self, level: &str, message: &str) {
        if tracing::dispatcher::get_default(|subscriber| subscriber.is::<NoSubscriber>()) {
            let line = format!("{level} ojs::worker: {message}{self}\n");
            // Not `eprintln!`, which panics where nothing reads stderr any more.
            let _ = std::io::stderr().lock().write_all(line.as_bytes());
        }
    }
}

/// The fields, in the order in which `tracing` shows them.
impl fmt::Display for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { about, job_id, attempt, runs_again, worker_id, lease_left, not_reported, error } = self;
        let mut out = Printable { out: f, left: 2 * MOST_BYTES };
        write!(out, " type={} id={job_id} queue={} attempt={attempt}", about.job_type(), about.queue())?;
        if let Some(runs_again) = runs_again {
            write!(out, " runs_again={runs_again}")?;
        }
        write!(out, " worker={worker_id}")?;
        if let Some(lease_left) = lease_left {
            write!(out, " lease_left={lease_left:?}")?;
        }
        if let Some(not_reported) = not_reported {
            write!(out, " not_reported={not_reported}")?;
        }
        error.map_or(Ok(()), |error| write!(out, " error={error}"))
    }
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
            (Some(ms), Some(at)) => write!(f, "in {:?} ({at})", Duration::from_millis(ms)),
            (Some(ms), None) => write!(f, "in {:?}", Duration::from_millis(ms)),
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
            let envelope = r#"{"type":"t","queue":"q"}"#.into();
            let about = About { envelope, attempt: 2, max_attempts: Some(5) };
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
