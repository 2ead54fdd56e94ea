//! A trial delivery: the job that is sent, and what the answer says to the person who sent it.
use ojs_model::JobId;
use serde_json::json;

use super::answer::Verdict;
use super::health::Sign;
use super::records::EndpointRow;
use super::sqs::{Fate, Judgement};
use crate::kernel::command::Outcome;
use crate::outgoing::{Answer, Fault};

/// The type of the job: handlers of real jobs do not run.
pub(crate) const TYPE: &str = "push.test";

/// The job of a trial as JSON.
pub(crate) fn trial_job(id: JobId, row: &EndpointRow) -> String {
    let queue = EndpointRow::entries(&row.queues).find(|queue| !queue.contains('*')).unwrap_or("default");
    let meta = json!({"ojs.test": true});
    let job = json!({
        "specversion": ojs_model::SPEC_VERSION, "id": id, "type": TYPE, "queue": queue, "args": [], "meta": meta, "attempt": 1,
        "max_attempts": 1, "state": "active",
    });
    job.to_string()
}

/// What a trial has shown.
pub(crate) struct Trial {
    /// What would become of a job.
    pub(crate) outcome: &'static str,
    /// The same in a sentence, with what to do.
    pub(crate) explanation: String,
    /// What it says about the endpoint.
    pub(crate) sign: Sign,
}

impl Trial {
    /// Explains what came of the request.
    pub(crate) fn of(came: &Result<Answer, Fault>, retry_429: bool) -> Self {
        let Verdict { outcome, note } = Verdict::of(came, retry_429);
        let status = note.status;
        let (outcome, explanation) = match (outcome, &note.sign) {
            (Outcome::Ack(_), _) => ("completed", "The endpoint took the delivery and completed the job.".to_owned()),
            (Outcome::Nack(error), Sign::Answered) if (200..300).contains(&status) => {
                let told = "The endpoint took the delivery and answered that the job failed";
                ("failed", format!("{told}: {}. For a job of the type {TYPE} that is expected.", error.message))
            }
            (_, Sign::Refused) if matches!(status, 401 | 403) => {
                let todo = "It may not know the signing secret, or its clock may differ by more than five minutes";
                ("refused", format!("The endpoint answered {status}. {todo}. A real delivery would disable the endpoint."))
            }
            (_, Sign::Refused) => {
                let todo = "Check its address. A real delivery would disable the endpoint";
                ("refused", format!("The endpoint answered {status}: nothing is there. {todo}."))
            }
            (Outcome::Nack(_), Sign::Answered) => {
                ("refused", format!("The endpoint answered {status}. A real job would end without another attempt."))
            }
            (_, Sign::Busy(_)) => ("busy", "The endpoint answered 429. A real job would be sent again after a pause.".to_owned()),
            (_, _) => {
                let told = "No function answered";
                ("undelivered", format!("{told}: {}. A real job would be tried again, as its retry policy says.", note.reason))
            }
        };
        Self { outcome, explanation, sign: note.sign }
    }

    /// Explains what came of a message to a queue.
    pub(crate) fn queued(judgement: Judgement) -> Self {
        let Judgement { fates, note } = judgement;
        let (outcome, explanation) = match (fates.first(), &note.sign) {
            (Some(Fate::Queued), _) => {
                let gets = "The queue took the message. The function that reads the queue gets a job of type";
                ("queued", format!("{gets} {TYPE}. The server does not know this job, so its end has no effect."))
            }
            (_, Sign::Refused) => {
                let todo = "Check its address, and that the server's credentials allow sqs:SendMessage";
                ("refused", format!("{}. {todo}. A real delivery would disable the endpoint.", note.reason))
            }
            (_, Sign::Busy(_)) => ("busy", format!("{}. A real job would be sent again after a pause.", note.reason)),
            (Some(Fate::Settled(Outcome::Nack(error))), _) => ("refused", format!("{}.", error.message)),
            (_, _) => ("undelivered", format!("{}. Five failures in a row open the breaker for a minute.", note.reason)),
        };
        let sign = if outcome == "queued" { Sign::Answered } else { note.sign };
        Self { outcome, explanation, sign }
    }
}
