//! How explanations are printed.
use ojs_model::JobState;
use serde_json::{Value, json};

use crate::http::page::stamp;
use crate::kernel::explanation::{Explanation, Reason};

/// An explanation as JSON.
pub(super) fn described(found: &Explanation) -> Value {
    let row = &found.job.row;
    let reasons: Vec<Value> = found.reasons.iter().map(reason).collect();
    json!({
        "job_id": row.id.to_string(), "state": row.state.as_str(), "queue": &*found.job.queue,
        "running": row.state == JobState::Active, "ended": row.state.is_terminal(),
        "summary": summary(found), "reasons": reasons, "at": found.at.to_string(),
    })
}

/// One sentence.
fn summary(found: &Explanation) -> String {
    let row = &found.job.row;
    match (row.state, found.reasons.first()) {
        (JobState::Active, _) => match &found.job.worker {
            Some(worker) if !found.for_tenant => format!("It is running: attempt {}, on worker {worker}.", row.attempt),
            _ => format!("It is running: attempt {}.", row.attempt),
        },
        (state, _) if state.is_terminal() => format!("It has ended: {}.", state.as_str()),
        (_, Some(first)) => first.message.clone(),
        (_, None) => format!("Nothing holds it: the next fetch of queue '{}' gets it.", found.job.queue),
    }
}

/// A reason. What is not known is left out.
pub(crate) fn reason(reason: &Reason) -> Value {
    let text = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
    let mut object = json!({
        "code": reason.code, "message": reason.message, "since": stamp(reason.since), "until": stamp(reason.until),
        "link": text(&reason.link), "command": text(&reason.command),
    });
    if let Value::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
        if !reason.details.is_empty() {
            members.insert("details".to_owned(), Value::Object(reason.details.clone()));
        }
    }
    object
}
