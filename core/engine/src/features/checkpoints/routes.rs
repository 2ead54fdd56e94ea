//! `/jobs/{id}/checkpoint`: save, read, delete (extensions section 21).
use std::borrow::Cow;

use axum::extract::{Path, State};
use ojs_model::limits::MAX_CHECKPOINT_BYTES;
use ojs_model::{ErrorCode, JobId, OjsError, envelope};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::engine::Engine;
use crate::features::checkpoints::answer;
use crate::features::checkpoints::commands::{DeleteCheckpoint, GetCheckpoint, SaveCheckpoint};
use crate::http::call::Call;
use crate::http::caller::Asker;
use crate::http::reply::{Failure, Json};
use crate::http::request::job_id;

#[derive(Deserialize)]
struct SaveBody<'a> {
    #[serde(borrow)]
    state: Option<&'a RawValue>,
    #[serde(borrow)]
    worker_id: Option<Cow<'a, str>>,
    lease_token: Option<i64>,
    sequence: Option<i64>,
}

/// `PUT` and `POST /jobs/{id}/checkpoint`.
pub async fn save(State(engine): State<Engine>, Path(id): Path<String>, call: Call) -> Result<Json, Failure> {
    let id = job_id("job", &id)?;
    let body: SaveBody<'_> = call.parse()?;
    let missing = || OjsError::invalid_field("state", "state is required: any JSON value but null.");
    let worker = body.worker_id.filter(|id| !id.is_empty());
    worker.as_deref().map_or(Ok(()), |id| envelope::check_name("worker_id", id))?;
    if body.sequence.is_some_and(|sequence| sequence < 1) {
        return Err(OjsError::invalid_field("sequence", "sequence must be at least 1.").into());
    }
    let save = SaveCheckpoint {
        job: id,
        state: state_text("state", body.state.ok_or_else(missing)?)?,
        lease: body.lease_token,
        worker: worker.map(Cow::into_owned),
        sequence: body.sequence,
        strict: engine.options().strict_checkpoints,
        by_report: false,
    };
    let row = engine.execute(save).await?;
    engine.metrics().checkpointed(row.state.len());
    Ok(Json::ok(answer::saved(&row)))
}

/// The text of a document that is to be saved.
///
/// # Errors
/// 413 above 1 MiB.
pub(crate) fn state_text(field: &str, state: &RawValue) -> Result<String, OjsError> {
    let bytes = state.get().len();
    if bytes > MAX_CHECKPOINT_BYTES {
        let message = format!("{field} has {bytes} bytes; the limit is {MAX_CHECKPOINT_BYTES}. The checkpoint before is kept.");
        let details = json!({"field": field, "actual_bytes": bytes, "max_bytes": MAX_CHECKPOINT_BYTES});
        let hint = "Save what the next attempt needs, such as a cursor, and keep large data elsewhere.";
        return Err(OjsError::new(ErrorCode::PayloadTooLarge, message).with_details(details).with_hint(hint));
    }
    Ok(state.get().to_owned())
}

/// `GET /jobs/{id}/checkpoint`.
pub async fn get(State(engine): State<Engine>, asker: Asker, Path(id): Path<String>) -> Result<Json, Failure> {
    let id: JobId = job_id("job", &id)?;
    asker.check_sees(&engine, id).await?;
    Ok(Json::ok(answer::found(&engine.query(GetCheckpoint(id)).await?)))
}

/// `DELETE /jobs/{id}/checkpoint`.
pub async fn delete(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    let id = job_id("job", &id)?;
    engine.execute(DeleteCheckpoint(id)).await?;
    Ok(Json::ok(answer::deleted(&id.to_string())))
}
