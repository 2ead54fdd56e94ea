//! `/jobs/{id}/progress` and `/workflows/{id}/progress` (extensions section 20).
use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::{Path, State};
use ojs_model::limits::{MAX_PROGRESS_DATA_BYTES, MAX_PROGRESS_MESSAGE_BYTES};
use ojs_model::{ErrorCode, JobId, OjsError, Timestamp, envelope};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::engine::Engine;
use crate::features::checkpoints::commands::SaveCheckpoint;
use crate::features::checkpoints::routes::state_text;
use crate::features::progress::answer;
use crate::features::progress::commands::{GetProgress, GetWorkflowProgress, Proof};
use crate::features::progress::records::Report;
use crate::features::workflows::commands::GetWorkflow;
use crate::http::call::Call;
use crate::http::caller::Asker;
use crate::http::reply::{Failure, Json};
use crate::http::request::job_id;

#[derive(Deserialize)]
struct ReportBody<'a> {
    progress: Option<f64>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
    #[serde(borrow)]
    checkpoint: Option<&'a RawValue>,
    #[serde(borrow)]
    worker_id: Option<Cow<'a, str>>,
    lease_token: Option<i64>,
}

impl ReportBody<'_> {
    fn report(&self, now: Timestamp) -> Result<Report, OjsError> {
        if self.progress.is_none() && self.data.is_none() && self.message.is_none() && self.checkpoint.is_none() {
            let message = "progress is required, a number from 0 to 1, unless data, message or checkpoint is there.";
            return Err(OjsError::invalid_field("progress", message));
        }
        let data = self.data.map(RawValue::get);
        let within = |field, bytes: usize, most: usize| {
            if bytes <= most {
                return Ok(());
            }
            let message = format!("{field} has {bytes} bytes; the limit is {most}.");
            let details = json!({"field": field, "actual_bytes": bytes, "max_bytes": most});
            Err(OjsError::new(ErrorCode::PayloadTooLarge, message).with_details(details))
        };
        within("data", data.map_or(0, str::len), MAX_PROGRESS_DATA_BYTES)?;
        within("message", self.message.as_deref().map_or(0, str::len), MAX_PROGRESS_MESSAGE_BYTES)?;
        let report = Report {
            fraction: self.progress.map(|fraction| fraction.clamp(0.0, 1.0)),
            data: data.map(str::to_owned),
            message: self.message.as_deref().map(str::to_owned),
            ..Report::default()
        };
        Ok(report.received(now.as_millis()))
    }

    fn proof(&self, engine: &Engine) -> Result<Proof, OjsError> {
        let worker = self.worker_id.as_deref().filter(|id| !id.is_empty());
        worker.map_or(Ok(()), |id| envelope::check_name("worker_id", id))?;
        Ok(Proof { lease: self.lease_token, worker: worker.map(str::to_owned), tenant: engine.tenant().cloned() })
    }

    /// The checkpoint that it carries, which is the job's checkpoint like any other.
    fn checkpoint(&self, engine: &Engine, job: JobId, proof: &Proof) -> Result<Option<SaveCheckpoint>, OjsError> {
        let Some(state) = self.checkpoint else { return Ok(None) };
        Ok(Some(SaveCheckpoint {
            job,
            state: state_text("checkpoint", state)?,
            lease: proof.lease,
            worker: proof.worker.clone(),
            sequence: None,
            strict: engine.options().strict_checkpoints,
            by_report: true,
        }))
    }
}

/// `PUT /jobs/{id}/progress`.
pub async fn put(State(engine): State<Engine>, Path(id): Path<String>, call: Call) -> Result<Json, Failure> {
    let id = job_id("job", &id)?;
    let body: ReportBody<'_> = call.parse()?;
    let (report, proof) = (body.report(engine.now())?, body.proof(&engine)?);
    let checkpoint = body.checkpoint(&engine, id, &proof)?;
    let saved = checkpoint.as_ref().map(|save| save.state.len());
    let (state, progress) = engine.report_progress(id, proof, report, checkpoint).await?;
    if let (Some(bytes), Some(_)) = (saved, &progress) {
        engine.metrics().checkpointed(bytes);
    }
    Ok(answer::json(id, state, progress.as_ref()))
}

/// `GET /jobs/{id}/progress`.
pub async fn get(State(engine): State<Engine>, asker: Asker, Path(id): Path<String>) -> Result<Json, Failure> {
    let id = job_id("job", &id)?;
    asker.check_sees(&engine, id).await?;
    let found = engine.query(GetProgress { job: id, board: Arc::clone(engine.progress()) }).await?;
    Ok(answer::json(id, found.state(), found.progress.as_ref()))
}

/// `GET /workflows/{id}/progress`.
pub async fn workflow(State(engine): State<Engine>, asker: Asker, Path(id): Path<String>) -> Result<Json, Failure> {
    let id = job_id("workflow", &id)?;
    if asker.own_only && asker.is_stranger_to_workflow(&engine.query(GetWorkflow(id)).await?) {
        let message = format!("Workflow '{id}' was created with another key; this key does not see its progress.");
        let details = json!({"workflow_id": id.to_string()});
        return Err(OjsError::new(ErrorCode::PermissionDenied, message).with_details(details).into());
    }
    let found = engine.query(GetWorkflowProgress { workflow: id, board: Arc::clone(engine.progress()) }).await?;
    Ok(Json::ok(answer::workflow(id, &found)).with_header("cache-control", "no-cache"))
}
