//! An outcome that is sent to the server. It never changes: a report is sent until the server has accepted it or the
//! lease is certainly lost, and a success never becomes a failure because its ack was lost (decision D11).
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ojs_model::json::{push_bare, push_member, push_text};
use ojs_model::{ErrorCode, OjsError};

use super::failures::{Failed, Fate};
use super::held::{About, Entry};
use crate::dispatch::{CancelReason, DeliveryKey, HandlerFailure, Outcome};

/// One outcome, ready to be sent.
#[derive(Debug, Clone)]
pub(super) struct Report {
    pub key: DeliveryKey,
    pub job_id: Arc<str>,
    about: About,
    pub verdict: Verdict,
    /// Must be sent alone: a request that contained it with others was refused as a whole.
    pub alone: bool,
    lease_token: Option<u64>,
    /// Sends that got no clear answer. Above zero, the server may have taken the outcome already.
    unclear: u32,
}

#[derive(Debug, Clone)]
pub(super) enum Verdict {
    /// JSON text of the result.
    Ack(Option<Bytes>),
    Nack(Box<HandlerFailure>),
    /// Given back; no attempt is counted.
    Release {
        why: &'static str,
        delay: Option<Duration>,
    },
}

/// What to do after the server's answer to a report.
#[derive(Debug)]
pub(super) enum Next {
    /// The server has accepted it; its answer has the new state of the job.
    Done(Fate),
    /// Send it again later.
    Again(OjsError),
    /// The server will never accept it; a corrected report is sent instead.
    Instead(Verdict, OjsError),
    /// The server will never accept it, nor anything else about this delivery.
    Lost(OjsError),
}

impl Report {
    pub fn new(key: DeliveryKey, entry: &Entry, outcome: Outcome) -> Self {
        let interrupted = entry.cancelled == Some(CancelReason::Shutdown);
        Self {
            key,
            job_id: Arc::clone(&entry.id),
            about: entry.about.clone(),
            verdict: verdict(outcome, interrupted),
            alone: false,
            lease_token: entry.lease_token,
            unclear: 0,
        }
    }

    /// A job whose type has no handler here goes back to its queue, and waits there for this time.
    pub fn turned_away(key: DeliveryKey, entry: &Entry, wait: Duration) -> Self {
        let verdict = Verdict::Release { why: "unknown_type", delay: Some(wait) };
        Self { verdict, ..Self::new(key, entry, Outcome::Released) }
    }

    /// The same delivery with a failure in place of its outcome.
    #[cfg(feature = "serverless")]
    pub fn failing(&self, failure: HandlerFailure) -> Self {
        Self { verdict: Verdict::Nack(Box::new(failure)), ..self.clone() }
    }

    /// The failure that it reports; `None` for any other outcome.
    pub fn failed(&self) -> Option<Failed<'_>> {
        match &self.verdict {
            Verdict::Nack(failure) => Some(Failed { about: &self.about, job_id: &self.job_id, failure }),
            Verdict::Ack(_) | Verdict::Release { .. } => None,
        }
    }

    /// A send ended without a clear answer.
    pub fn note_unclear(&mut self) {
        self.unclear = self.unclear.saturating_add(1);
    }

    /// The path of the plain protocol.
    pub fn path(&self) -> &'static str {
        match self.verdict {
            Verdict::Ack(_) => "/workers/ack",
            Verdict::Nack(_) | Verdict::Release { .. } => "/workers/nack",
        }
    }

    /// The body of the plain protocol.
    pub fn body(&self, worker_id: &str) -> String {
        let mut body = String::from("{");
        self.push_identity(&mut body);
        // A function may not know the name under which its job was leased.
        if !worker_id.is_empty() {
            push_text(&mut body, "worker_id", worker_id);
        }
        match &self.verdict {
            Verdict::Ack(result) => push_result(&mut body, result.as_ref()),
            Verdict::Nack(failure) => push_member(&mut body, "error", &error_text(failure)),
            Verdict::Release { why, delay } => {
                // The plain nack wants an error even with `requeue`; foreign servers read the delay from its details.
                let mut error =
                    serde_json::json!({"code": why, "type": why, "message": "Given back by the worker.", "retryable": true});
                if let (Some(delay), Some(object)) = (delay, error.as_object_mut()) {
                    object.insert("details".into(), serde_json::json!({"snooze_ms": millis(*delay)}));
                }
                push_member(&mut body, "error", &error.to_string());
                push_release(&mut body, *delay);
            }
        }
        body.push('}');
        body
    }

    /// Appends the entry of an exchange's `outcomes`.
    pub fn push_outcome(&self, out: &mut String) {
        out.push('{');
        self.push_identity(out);
        match &self.verdict {
            Verdict::Ack(result) => push_result(out, result.as_ref()),
            Verdict::Nack(failure) => push_member(out, "error", &error_text(failure)),
            Verdict::Release { delay, .. } => push_release(out, *delay),
        }
        out.push('}');
    }

    fn push_identity(&self, out: &mut String) {
        push_text(out, "job_id", &self.job_id);
        if let Some(token) = self.lease_token {
            push_bare(out, "lease_token", token);
        }
    }

    /// Reads the server's refusal of this report.
    pub fn next(&self, error: OjsError) -> Next {
        let code = ErrorCode::recognise(&error.code);
        let settled = matches!(code, Some(ErrorCode::Conflict | ErrorCode::NotFound | ErrorCode::InvalidRequest))
            && matches!(error.status, 0 | 404 | 409);
        if settled || matches!(error.status, 404 | 409) {
            return if self.was_taken_before(&error) { Next::Done(Fate::of_refusal(&error)) } else { Next::Lost(error) };
        }
        // An operator must replace a missing or expired token; the outcome waits for that as long as the lease is
        // valid.
        if error.retryable
            || matches!(error.status, 401 | 403)
            || matches!(code, Some(ErrorCode::Unauthenticated | ErrorCode::PermissionDenied))
        {
            return Next::Again(error);
        }
        match self.verdict {
            // The server cannot store this result (too large, for one) and the job would stay active until its lease
            // ran out, to fail in the same way again: say so instead.
            Verdict::Ack(_) => {
                let failure = HandlerFailure {
                    code: error.code.to_string(),
                    retryable: false,
                    ..HandlerFailure::error("ResultRefused", format!("The server refused the result: {}", error.message))
                };
                Next::Instead(Verdict::Nack(Box::new(failure)), error)
            }
            _ => Next::Lost(error),
        }
    }

    /// An earlier send may have got through: the job is then where this report would bring it.
    fn was_taken_before(&self, error: &OjsError) -> bool {
        let state = error.details.as_ref().and_then(|d| d.get("current_state")).and_then(serde_json::Value::as_str);
        let expected: &[&str] = match self.verdict {
            Verdict::Ack(_) => &["completed"],
            Verdict::Nack(_) => &["retryable", "discarded"],
            Verdict::Release { .. } => &["available", "scheduled", "retryable"],
        };
        self.unclear > 0 && state.is_some_and(|state| expected.contains(&state))
    }
}

fn verdict(outcome: Outcome, interrupted: bool) -> Verdict {
    match outcome {
        // A result that is not JSON (NaN from a lenient serializer) would make the whole request invalid.
        Outcome::Completed { result: Some(text) } if !is_json(&text) => Verdict::Nack(Box::new(HandlerFailure {
            code: "invalid_result".to_owned(),
            retryable: false,
            ..HandlerFailure::error("InvalidResult", "The handler's result is not JSON.")
        })),
        Outcome::Completed { result } => Verdict::Ack(result.filter(|text| text.as_ref() != b"null")),
        // The handler was asked to stop and has stopped: that is no failure of the job.
        Outcome::Failed(_) | Outcome::Abandoned if interrupted => Verdict::Release { why: "shutdown", delay: None },
        Outcome::Failed(failure) => Verdict::Nack(Box::new(failure)),
        Outcome::Released => Verdict::Release { why: "shutdown", delay: None },
        Outcome::Snoozed(delay) => Verdict::Release { why: "snooze", delay: Some(delay) },
        Outcome::Abandoned => Verdict::Nack(Box::new(HandlerFailure {
            code: "abandoned".to_owned(),
            ..HandlerFailure::error("Abandoned", "The handler was lost without reporting an outcome.")
        })),
    }
}

fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<&serde_json::value::RawValue>(text).is_ok()
}

/// The error object of a nack (protocol section 4.6).
fn error_text(failure: &HandlerFailure) -> String {
    let mut details = match &failure.details {
        Some(serde_json::Value::Object(object)) => object.clone(),
        _ => serde_json::Map::new(),
    };
    details.entry("error_class").or_insert_with(|| failure.kind.clone().into());
    let mut text = String::from("{");
    push_text(&mut text, "code", &failure.code);
    push_text(&mut text, "type", &failure.kind);
    push_text(&mut text, "message", if failure.message.is_empty() { &failure.kind } else { &failure.message });
    push_bare(&mut text, "retryable", failure.retryable);
    push_member(&mut text, "details", &serde_json::Value::Object(details).to_string());
    if !failure.backtrace.is_empty() {
        push_member(&mut text, "backtrace", &serde_json::json!(failure.backtrace).to_string());
    }
    text.push('}');
    text
}

fn push_result(out: &mut String, result: Option<&Bytes>) {
    if let Some(text) = result.and_then(|bytes| std::str::from_utf8(bytes).ok()) {
        push_member(out, "result", text);
    }
}

fn push_release(out: &mut String, delay: Option<Duration>) {
    push_bare(out, "requeue", true);
    if let Some(delay) = delay {
        push_bare(out, "delay_ms", millis(delay));
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
