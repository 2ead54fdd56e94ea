//! What an answer means for the job, and for the endpoint ("Serverless Integration", section 2.3).
use bytes::Bytes;
use ojs_model::limits::{MAX_DELAY_MS, MAX_RESULT_BYTES};
use ojs_model::{JobError, OjsError};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::delivery::ANSWER_BYTES;
use super::health::{Note, Sign};
use crate::kernel::command::Outcome;
use crate::outgoing::{Answer, Fault};

/// Characters of an answer that an error repeats.
const SHOWN: usize = 200;

/// What follows from a delivery.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// For the job.
    pub(crate) outcome: Outcome,
    /// For the endpoint.
    pub(crate) note: Note,
}

/// What a function answers.
#[derive(Deserialize)]
struct Told<'a> {
    status: &'a str,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Value>,
    /// The job was not tried: it goes back without a charge, as in a `nack`.
    #[serde(default)]
    requeue: bool,
    /// Milliseconds after which it is available again then.
    #[serde(default)]
    delay_ms: u64,
}

impl Verdict {
    /// Judges what came of a request; `retry_429` as in the configuration of the endpoint.
    pub(crate) fn of(came: &Result<Answer, Fault>, retry_429: bool) -> Self {
        let answer = match came {
            Ok(answer) => answer,
            Err(fault) => return Self::failed(code_of(fault), &fault.to_string(), None),
        };
        match answer.status {
            _ if answer.is_late => Self::failed("push_timeout", "the answer did not end within the time", Some(answer)),
            200..=299 => Self::told(answer),
            429 if retry_429 => {
                let pause = answer.retry_after.map_or(1_000, |pause| u64::try_from(pause.as_millis()).unwrap_or(u64::MAX));
                let note =
                    Note { sign: Sign::Busy(answer.retry_after), status: 429, reason: "the endpoint answered 429".to_owned() };
                Self { outcome: Outcome::Release(pause.clamp(1_000, 60_000)), note }
            }
            400..=499 => Self::refused(answer),
            300..=399 => {
                let told = format!("the endpoint answered {}: redirects are not followed", answer.status);
                Self::failed("push_redirected", &told, Some(answer))
            }
            status => Self::failed("push_unavailable", &format!("the endpoint answered {status}"), Some(answer)),
        }
    }

    /// A function has answered.
    fn told(answer: &Answer) -> Self {
        if !answer.is_whole {
            let is_long = answer.body.len() >= ANSWER_BYTES;
            let why =
                if is_long { format!("it has more than {ANSWER_BYTES} bytes") } else { "its end did not arrive".to_owned() };
            return Self::unreadable(answer, &why);
        }
        let told: Told<'_> = match serde_json::from_str(&answer.body) {
            Ok(told) => told,
            Err(error) => return Self::unreadable(answer, &error.to_string()),
        };
        let outcome = match told.status {
            "completed" => completed(told.result),
            "failed" if told.requeue => Outcome::Release(told.delay_ms.min(MAX_DELAY_MS)),
            "failed" => Outcome::Nack(Box::new(failure(told.error.as_ref()))),
            other => return Self::unreadable(answer, &format!("its status is '{other}', not 'completed' or 'failed'")),
        };
        Self { outcome, note: Note { sign: Sign::Answered, status: answer.status, reason: String::new() } }
    }

    /// 4xx: the job is not tried again.
    fn refused(answer: &Answer) -> Self {
        let reason = format!("the endpoint answered {}", answer.status);
        let told: Option<Told<'_>> = serde_json::from_str(&answer.body).ok();
        let told = told.and_then(|told| JobError::parse(&told.error?).ok());
        let error = told.unwrap_or_else(|| delivery_error("push_rejected", &reason, Some(answer)));
        let sign = if matches!(answer.status, 401 | 403 | 404 | 410) { Sign::Refused } else { Sign::Answered };
        let outcome = Outcome::Nack(Box::new(JobError { retryable: false, ..error }));
        Self { outcome, note: Note { sign, status: answer.status, reason } }
    }

    fn unreadable(answer: &Answer, why: &str) -> Self {
        Self::failed("push_unreadable", &format!("the answer cannot be read: {why}"), Some(answer))
    }

    /// No function has answered: the job is tried again, as its retry policy says.
    fn failed(code: &str, reason: &str, answer: Option<&Answer>) -> Self {
        let error = delivery_error(code, reason, answer);
        let status = answer.map_or(0, |answer| answer.status);
        Self { outcome: Outcome::Nack(Box::new(error)), note: Note { sign: Sign::Failed, status, reason: reason.to_owned() } }
    }
}

pub(super) fn code_of(fault: &Fault) -> &'static str {
    match fault {
        Fault::Refused(_) => "push_target_refused",
        Fault::Redirect(_) => "push_redirected",
        Fault::Timeout(_) => "push_timeout",
        Fault::Connection(_) | Fault::Unreachable(_) => "push_unreachable",
        Fault::Unsigned(_) => "push_unsigned",
    }
}

fn completed(result: Option<&RawValue>) -> Outcome {
    let Some(result) = result.map(RawValue::get) else { return Outcome::Ack(None) };
    if result.len() <= MAX_RESULT_BYTES {
        return Outcome::Ack(Some(Bytes::copy_from_slice(result.as_bytes())));
    }
    let told = format!("The result has {} bytes; the limit is {MAX_RESULT_BYTES}.", result.len());
    Outcome::Nack(Box::new(JobError { retryable: false, ..delivery_error("result_too_large", &told, None) }))
}

/// The error of a function. One without a readable error has failed all the same.
fn failure(error: Option<&Value>) -> JobError {
    let parsed = error.map(JobError::parse).unwrap_or_else(|| Err(OjsError::invalid_field("error", "error is missing.")));
    parsed.unwrap_or_else(|wrong| {
        let told = format!("The function failed, and its error cannot be read: {}", wrong.message);
        new_error("handler_error", &told, json!({"source": "function"}))
    })
}

/// An error of the delivery, as opposed to one of the function.
pub(super) fn delivery_error(code: &str, message: &str, answer: Option<&Answer>) -> JobError {
    let mut details = json!({"source": "delivery"});
    if let (Some(answer), Some(details)) = (answer, details.as_object_mut()) {
        details.insert("status_code".to_owned(), answer.status.into());
        details.insert("answer".to_owned(), answer.body.chars().take(SHOWN).collect::<String>().into());
    }
    new_error(code, message, details)
}

fn new_error(code: &str, message: &str, details: Value) -> JobError {
    JobError {
        code: code.to_owned(),
        message: message.to_owned(),
        kind: code.to_owned(),
        retryable: true,
        details: Some(details),
        backtrace: Vec::new(),
        timeout_kind: None,
        timeout_ms: None,
        rate_limit_until: None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn verdict(status: u16, body: &str) -> Verdict {
        let answer = Answer { status, retry_after: None, body: body.to_owned(), is_whole: true, is_late: false };
        Verdict::of(&Ok(answer), false)
    }

    /// Code and `retryable` of a failure.
    fn nack(verdict: &Verdict) -> (&str, bool) {
        match &verdict.outcome {
            Outcome::Nack(error) => (&error.code, error.retryable),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn answers_mean_what_the_document_prints() {
        let done = verdict(200, r#"{"status":"completed","result":{"message_id":"msg_123"}}"#);
        assert!(matches!(&done.outcome, Outcome::Ack(Some(result)) if result == r#"{"message_id":"msg_123"}"#));
        let failed =
            r#"{"status":"failed","error":{"code":"handler_error","message":"SMTP connection refused","retryable":true}}"#;
        assert_eq!(nack(&verdict(200, failed)), ("handler_error", true));
        assert_eq!(nack(&verdict(200, &failed.replace("true", "false"))), ("handler_error", false));
        assert_eq!(nack(&verdict(200, r#"{"status":"failed"}"#)), ("handler_error", true));
        let given_back = verdict(200, r#"{"status":"failed","requeue":true,"delay_ms":5000}"#);
        assert!(matches!(given_back.outcome, Outcome::Release(5_000)), "{given_back:?}");
        assert_eq!([400, 404, 422, 429].map(|status| nack(&verdict(status, "")).1), [false; 4]);
        assert_eq!([500, 503].map(|status| nack(&verdict(status, "")).1), [true; 2]);
        let timeout = Verdict::of(&Err(Fault::Timeout(Duration::from_secs(1))), false);
        assert_eq!(nack(&timeout), ("push_timeout", true));
        assert_eq!(timeout.note.sign, Sign::Failed);
        for unreadable in ["", "{}", "[1]", "<html>", r#"{"status":"done"}"#, r#"{"status":7}"#] {
            assert_eq!(nack(&verdict(200, unreadable)), ("push_unreadable", true), "{unreadable}");
        }
        assert_eq!(nack(&verdict(302, "")), ("push_redirected", true));
    }

    #[test]
    fn an_endpoint_is_judged_apart_from_the_job() {
        let sign = |status, body| verdict(status, body).note.sign;
        assert_eq!([400, 422, 429].map(|status| sign(status, "")), [Sign::Answered, Sign::Answered, Sign::Answered]);
        assert_eq!(
            [401, 403, 404, 410].map(|status| sign(status, "")),
            [Sign::Refused, Sign::Refused, Sign::Refused, Sign::Refused]
        );
        assert_eq!([500, 307].map(|status| sign(status, "")), [Sign::Failed, Sign::Failed]);
        assert_eq!(sign(200, r#"{"status":"failed"}"#), Sign::Answered);
        let told = Answer {
            status: 429,
            retry_after: Some(Duration::from_secs(7)),
            body: String::new(),
            is_whole: true,
            is_late: false,
        };
        let busy = Verdict::of(&Ok(told), true);
        assert!(matches!(busy.outcome, Outcome::Release(7_000)));
        assert_eq!(busy.note.sign, Sign::Busy(Some(Duration::from_secs(7))));
    }
}
