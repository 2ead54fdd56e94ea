//! What the answer of SQS means for each message of a batch, and for the endpoint.
use ojs_model::JobError;
use serde::Deserialize;

use crate::features::push::answer::{code_of, delivery_error};
use crate::features::push::health::{Note, Sign};
use crate::kernel::command::Outcome;
use crate::outgoing::{Answer, Fault};

/// Milliseconds after which a job is available again that SQS has not taken, for a reason that is not the job's.
const PAUSE_MS: u64 = 1_000;

/// Characters of an answer in another form that a reason repeats.
const SHOWN: usize = 400;

/// What becomes of the job of a message.
#[derive(Debug, Clone)]
pub(crate) enum Fate {
    /// The queue has it. The function that reads the queue settles it, or its lease ends.
    Queued,
    /// It is not known whether the queue has it. Its lease decides: to send it again would run it twice.
    Unknown,
    /// The queue does not have it.
    Settled(Outcome),
}

/// What follows from a request.
#[derive(Debug)]
pub(crate) struct Judgement {
    /// By message.
    pub(crate) fates: Vec<Fate>,
    /// For the endpoint.
    pub(crate) note: Note,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Sent {
    #[serde(default)]
    successful: Vec<Entry>,
    #[serde(default)]
    failed: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    id: String,
    #[serde(default)]
    sender_fault: bool,
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

/// An error of the whole request.
#[derive(Debug, Default, Deserialize)]
struct Wrong {
    #[serde(rename = "__type", default)]
    code: String,
    #[serde(alias = "Message", default)]
    message: String,
}

impl Judgement {
    /// Judges what came of a request with so many messages.
    pub(crate) fn of(came: &Result<Answer, Fault>, messages: usize) -> Self {
        let all = |fate: Fate, sign: Sign, status: u16, reason: String| {
            let reason = if sign == Sign::Answered { String::new() } else { reason };
            Self { fates: vec![fate; messages], note: Note { sign, status, reason } }
        };
        let later = || Fate::Settled(Outcome::Release(PAUSE_MS));
        let again = |code: &str, reason: &str| Fate::Settled(nack(code, reason, true));
        let answer = match came {
            Ok(answer) => answer,
            Err(fault) => {
                let reason = fault.to_string();
                let fate = match fault {
                    Fault::Timeout(_) | Fault::Connection(_) => Fate::Unknown,
                    Fault::Unsigned(_) => later(),
                    Fault::Refused(_) | Fault::Redirect(_) | Fault::Unreachable(_) => again(code_of(fault), &reason),
                };
                return all(fate, Sign::Failed, 0, reason);
            }
        };
        let status = answer.status;
        let readable: Option<Sent> = serde_json::from_str(&answer.body).ok().filter(|_| answer.is_whole);
        match (status, readable) {
            (200..=299, Some(sent)) => Self::taken(status, &sent, messages),
            (200..=299, None) => all(Fate::Unknown, Sign::Failed, status, "the answer of SQS cannot be read".to_owned()),
            (400..=499, _) => {
                let wrong: Wrong = serde_json::from_str(&answer.body).unwrap_or_default();
                let error = match wrong.code.rsplit('#').next().filter(|code| !code.is_empty()) {
                    Some(code) => format!("{code}: {}", wrong.message),
                    // Proxies and older servers answer in another form.
                    None => answer.body.chars().take(SHOWN).collect(),
                };
                let reason = format!("SQS answered {status} {error}");
                all(later(), sign_of(status, &error, answer), status, reason)
            }
            (300..=399, _) => {
                let reason = format!("SQS answered {status}: redirects are not followed");
                all(again("push_redirected", &reason), Sign::Failed, status, reason)
            }
            _ => {
                let reason = format!("SQS answered {status}");
                all(again("push_unavailable", &reason), Sign::Failed, status, reason)
            }
        }
    }

    /// SQS has looked at each message.
    fn taken(status: u16, sent: &Sent, messages: usize) -> Self {
        let mut fates = vec![Fate::Unknown; messages];
        let mut fate_of = |entry: &Entry, fate: Fate| {
            if let Some(place) = entry.id.parse().ok().and_then(|place: usize| fates.get_mut(place)) {
                *place = fate;
            }
        };
        sent.successful.iter().for_each(|entry| fate_of(entry, Fate::Queued));
        let mut note = Note { sign: Sign::Answered, status, reason: String::new() };
        for entry in &sent.failed {
            let reason = format!("SQS did not take the message: {} {}", entry.code, entry.message);
            let is_busy = !entry.sender_fault && is_throttled(&entry.code);
            let (outcome, sign) = match entry.sender_fault {
                true => (nack("push_rejected", &reason, false), Sign::Answered),
                false if is_busy => (Outcome::Release(PAUSE_MS), Sign::Busy(None)),
                false => (nack("push_unavailable", &reason, true), Sign::Failed),
            };
            // A queue that took some of the messages works.
            if is_busy || (sign == Sign::Failed && sent.successful.is_empty() && note.sign == Sign::Answered) {
                note = Note { sign, status, reason };
            }
            fate_of(entry, Fate::Settled(outcome));
        }
        Self { fates, note }
    }
}

/// What an error of the whole request says about the endpoint. No job is the reason: those that SQS cannot take are
/// named one by one.
fn sign_of(status: u16, told: &str, answer: &Answer) -> Sign {
    if status == 429 || is_throttled(told) {
        return Sign::Busy(answer.retry_after);
    }
    // Credentials that have ended are replaced by themselves, and clocks are set right: the breaker is enough.
    let passes = ["Expired", "RequestTimeTooSkewed", "RequestTimeout"].iter().any(|name| told.contains(name));
    if passes { Sign::Failed } else { Sign::Refused }
}

fn is_throttled(told: &str) -> bool {
    ["Throttl", "OverLimit", "TooManyRequests", "SlowDown"].iter().any(|name| told.contains(name))
}

fn nack(code: &str, reason: &str, retryable: bool) -> Outcome {
    Outcome::Nack(Box::new(JobError { retryable, ..delivery_error(code, reason, None) }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn judged(status: u16, body: &str) -> Judgement {
        let answer = Answer { status, retry_after: None, body: body.to_owned(), is_whole: true, is_late: false };
        Judgement::of(&Ok(answer), 3)
    }

    fn shown(fate: &Fate) -> String {
        match fate {
            Fate::Queued => "queued".to_owned(),
            Fate::Unknown => "unknown".to_owned(),
            Fate::Settled(Outcome::Release(pause)) => format!("later {pause}"),
            Fate::Settled(Outcome::Nack(error)) => format!("{} {}", error.code, error.retryable),
            other @ Fate::Settled(_) => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_message_has_a_fate_of_its_own() {
        let body = r#"{"Successful":[{"Id":"0","MessageId":"m","MD5OfMessageBody":"d"}],"Failed":[
            {"Id":"1","SenderFault":true,"Code":"InvalidMessageContents","Message":"no"},
            {"Id":"2","SenderFault":false,"Code":"InternalError"}]}"#;
        let judged = judged(200, body);
        let fates: Vec<String> = judged.fates.iter().map(shown).collect();
        assert_eq!(fates, ["queued", "push_rejected false", "push_unavailable true"]);
        assert_eq!(judged.note.sign, Sign::Answered, "the queue works");
    }

    #[test]
    fn what_sqs_does_not_name_is_left_to_its_lease() {
        let some = judged(200, r#"{"Successful":[{"Id":"1"},{"Id":"7"},{"Id":"x"}]}"#);
        assert_eq!(some.fates.iter().map(shown).collect::<Vec<_>>(), ["unknown", "queued", "unknown"]);
        for came in [Err(Fault::Timeout(Duration::from_secs(1))), Err(Fault::Connection("reset".to_owned()))] {
            let judged = Judgement::of(&came, 1);
            assert_eq!((shown(&judged.fates[0]), judged.note.sign), ("unknown".to_owned(), Sign::Failed));
        }
        assert_eq!(shown(&judged(200, "<html>").fates[0]), "unknown");
    }

    #[test]
    fn errors_of_the_request_judge_the_endpoint_and_charge_no_job() {
        let of = |status, code: &str| {
            let judged = judged(status, &format!(r#"{{"__type":"com.amazonaws.sqs#{code}","message":"m"}}"#));
            (shown(&judged.fates[2]), judged.note.sign)
        };
        let later = || "later 1000".to_owned();
        for code in ["QueueDoesNotExist", "AccessDeniedException", "InvalidClientTokenId", "SignatureDoesNotMatch"] {
            assert_eq!(of(400, code), (later(), Sign::Refused), "{code}");
        }
        assert_eq!(of(403, "ExpiredTokenException"), (later(), Sign::Failed));
        assert_eq!(of(400, "RequestThrottled"), (later(), Sign::Busy(None)));
        let xml = judged(403, "<Error><Code>SignatureDoesNotMatch</Code></Error>");
        assert!(xml.note.sign == Sign::Refused && xml.note.reason.contains("SignatureDoesNotMatch"), "{xml:?}");
        assert_eq!(of(503, ""), ("push_unavailable true".to_owned(), Sign::Failed));
        let unsigned = Judgement::of(&Err(Fault::Unsigned("no credentials".to_owned())), 1);
        assert_eq!((shown(&unsigned.fates[0]), unsigned.note.sign), (later(), Sign::Failed));
    }

    #[test]
    fn a_busy_queue_gets_a_pause() {
        let judged = judged(200, r#"{"Failed":[{"Id":"0","SenderFault":false,"Code":"ThrottlingException"}]}"#);
        assert_eq!((shown(&judged.fates[0]), judged.note.sign), ("later 1000".to_owned(), Sign::Busy(None)));
    }
}
