//! Calls under the names that some clients have for them: the job's id in the path instead of the body (dialects, section E.4).
use axum::extract::{Path, State};
use ojs_model::OjsError;
use ojs_model::json::{push_member, push_text};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use crate::engine::Engine;
use crate::features::checkpoints;
use crate::features::checkpoints::commands::GetCheckpoint;
use crate::features::progress::routes;
use crate::http::call::Call;
use crate::http::caller::Asker;
use crate::http::reply::{Failure, Json};
use crate::http::request::job_id;
use crate::http::workers;

/// `POST /jobs/{id}/ack`
pub async fn ack(state: State<Engine>, Path(id): Path<String>, call: Call) -> Result<Json, Failure> {
    workers::ack(state, named(&id, call)?).await
}

/// `POST /jobs/{id}/nack`
pub async fn nack(state: State<Engine>, Path(id): Path<String>, call: Call) -> Result<Json, Failure> {
    workers::nack(state, named(&id, call)?).await
}

/// `POST /workers/progress`, the form of the published SDKs: the job's id in the body, per cent instead of a fraction.
pub async fn progress(state: State<Engine>, call: Call) -> Result<Json, Failure> {
    let raw: BTreeMap<String, &RawValue> = call.parse()?;
    let id = raw.get("job_id").and_then(|id| serde_json::from_str::<String>(id.get()).ok());
    let id = id.ok_or_else(|| OjsError::invalid_field("job_id", "job_id is required: the id of a job."))?;
    let percentage = raw.get("percentage").map(|number| serde_json::from_str::<f64>(number.get())).transpose();
    let wrong = |_| OjsError::invalid_field("percentage", "percentage must be a number from 0 to 100.");
    let percentage = percentage.map_err(wrong)?.filter(|_| !raw.contains_key("progress"));
    let mut body = String::from("{");
    for (name, value) in raw.iter().filter(|(name, _)| *name != "job_id" && *name != "percentage") {
        push_member(&mut body, name, value.get());
    }
    if let Some(percentage) = percentage {
        push_member(&mut body, "progress", &(percentage / 100.0).to_string());
    }
    body.push('}');
    routes::put(state, Path(id), Call { body: body.into(), ..call }).await
}

/// `PUT` and `POST /checkpoints/{id}`, the form of the published SDKs for Go and Python: beside `state` the number of
/// the step, and in `metadata` the log that the SDK replays. All of it is the checkpoint, which newer versions of the
/// SDK for Go read in this form at `/jobs/{id}/checkpoint`.
pub async fn save_checkpoint(state: State<Engine>, id: Path<String>, call: Call) -> Result<Json, Failure> {
    let raw: BTreeMap<String, &RawValue> = call.parse()?;
    if !raw.contains_key("state") {
        return Err(OjsError::invalid_field("state", "state is required: any JSON value.").into());
    }
    let (mut body, mut document) = (String::from("{"), String::from("{"));
    for (name, value) in &raw {
        let is_of_request = matches!(name.as_str(), "worker_id" | "lease_token" | "sequence");
        push_member(if is_of_request { &mut body } else { &mut document }, name, value.get());
    }
    document.push('}');
    push_member(&mut body, "state", &document);
    body.push('}');
    checkpoints::routes::save(state, id, Call { body: body.into(), ..call }).await
}

/// `GET /checkpoints/{id}/resume`: what [`save_checkpoint`] has saved.
pub async fn resume(State(engine): State<Engine>, asker: Asker, Path(id): Path<String>) -> Result<Json, Failure> {
    let id = job_id("job", &id)?;
    asker.check_sees(&engine, id).await?;
    Ok(Json::ok(checkpoints::answer::resumed(&engine.query(GetCheckpoint(id)).await?)))
}

/// The call with the id of the path in its body.
fn named(id: &str, call: Call) -> Result<Call, Failure> {
    let id = job_id("job", id)?;
    // The values stay as they were sent: a result may hold numbers that no float can.
    let raw: BTreeMap<String, &RawValue> = call.parse()?;
    let mut out = String::from("{");
    push_text(&mut out, "job_id", &id.to_string());
    for (name, value) in raw.iter().filter(|(name, _)| *name != "job_id") {
        // Functions of the published SDK for JavaScript send the message alone as the error.
        if name == "error" && value.get().starts_with('"') {
            push_member(&mut out, name, &format!(r#"{{"code":"handler_error","message":{}}}"#, value.get()));
        } else {
            push_member(&mut out, name, value.get());
        }
    }
    out.push('}');
    Ok(Call { body: out.into(), ..call })
}
