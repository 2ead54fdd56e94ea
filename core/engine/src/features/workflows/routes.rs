//! `/workflows`: create, read, cancel.
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use ojs_model::json::{push_bare, push_member, push_text, push_time};
use ojs_model::workflow::{Callback, NewWorkflow, Shape, Work};
use ojs_model::{JobState, NewJob, Timestamp, envelope};
use serde_json::value::RawValue;

use crate::engine::Engine;
use crate::features::workflows::commands::{CancelWorkflow, CreateWorkflow, GetWorkflow};
use crate::features::workflows::records::{StepState, StepView, WorkflowRow, WorkflowState, WorkflowView};
use crate::http::caller::Asker;
use crate::http::reply::{Failure, Json};
use crate::http::request::{job_id, read_body};

pub async fn create(State(engine): State<Engine>, asker: Asker, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    let body = read_body(&headers, body).await?;
    let mut new = NewWorkflow::parse(envelope::check_body(&body)?, engine.now())?;
    engine.check_has_tenant(|| names_tenant(&new, engine.now()))?;
    asker.sign_workflow(&mut new);
    let location = format!("/ojs/v1/workflows/{}", new.id);
    Ok(Json::created(wrapped(&engine.execute(CreateWorkflow(new)).await?), Some(location)))
}

/// Whether a job of a workflow names a tenant, to which all of them belong then.
fn names_tenant(new: &NewWorkflow, now: Timestamp) -> bool {
    let named = |request: &str| NewJob::parse(request, now).is_ok_and(|job| job.tenant.is_some());
    new.callbacks.iter().any(|(_, request)| named(request))
        || new.steps.iter().any(|step| match &step.work {
            Work::Job(request) => named(request),
            Work::Workflow(inner) => names_tenant(inner, now),
        })
}

pub async fn get(State(engine): State<Engine>, asker: Asker, Path(id): Path<String>) -> Result<Json, Failure> {
    let view = engine.query(GetWorkflow(job_id("workflow", &id)?)).await?;
    Ok(Json::ok(if asker.is_stranger_to_workflow(&view) { outline(&view) } else { wrapped(&view) }))
}

pub async fn cancel(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    Ok(Json::ok(wrapped(&engine.execute(CancelWorkflow(job_id("workflow", &id)?)).await?)))
}

/// What everybody who knows the id may see.
fn outline(view: &WorkflowView) -> String {
    let mut out = String::from("{\"workflow\":{");
    push_text(&mut out, "id", &view.row.id.to_string());
    push_text(&mut out, "type", view.row.shape.as_str());
    push_text(&mut out, "state", view.row.state.as_str());
    out.push('}');
    push_head(&mut out, &view.row);
    out.push('}');
    out
}

/// What a workflow is and how it stands, at the top of an answer: the SDKs for JavaScript and Ruby read it there.
fn push_head(out: &mut String, row: &WorkflowRow) {
    push_text(out, "id", &row.id.to_string());
    push_text(out, "type", row.shape.as_str());
    if let Some(name) = &row.name {
        push_text(out, "name", name);
    }
    push_text(out, "state", row.state.as_str());
}

/// `{"workflow": {…}}` in the union of the documented forms (protocol section 8.3).
fn wrapped(view: &WorkflowView) -> String {
    let row = &view.row;
    let mut out = String::from("{\"workflow\":{");
    push_head(&mut out, row);
    for (total, completed) in [("steps_total", "steps_completed"), ("jobs_total", "jobs_completed")] {
        push_bare(&mut out, total, row.total);
        push_bare(&mut out, completed, row.completed);
    }
    let steps: Vec<&StepView> = view.steps.iter().filter(|step| step.row.index >= 0).collect();
    let list = steps.iter().map(|step| step_text(step)).collect::<Vec<_>>().join(",");
    push_member(&mut out, "steps", &format!("[{list}]"));
    push_member(&mut out, "jobs", &format!("[{list}]"));
    if row.shape == Shape::Batch {
        push_member(&mut out, "callbacks", &callbacks(view));
    }
    push_times(&mut out, view);
    if row.state == WorkflowState::Cancelled {
        push_time(&mut out, "cancelled_at", Timestamp::from_millis(row.finished_at));
        let count = |state| steps.iter().filter(|step| step.row.state == state).count();
        push_bare(&mut out, "steps_cancelled", count(StepState::Cancelled));
        // What ran when the workflow was cancelled may finish later: that was not "already".
        let before = |step: &&&StepView| step.row.state == StepState::Completed && step.row.finished_at <= row.finished_at;
        push_bare(&mut out, "steps_already_completed", steps.iter().filter(before).count());
    }
    let mut metadata = String::from("{");
    push_times(&mut metadata, view);
    push_bare(&mut metadata, "job_count", row.total);
    push_bare(&mut metadata, "completed_count", row.completed);
    let failed: Vec<&&StepView> = steps.iter().filter(|step| step.row.state == StepState::Failed).collect();
    push_bare(&mut metadata, "failed_count", failed.len());
    metadata.push('}');
    push_member(&mut out, "metadata", &metadata);
    push_member(&mut out, "failed_step_index", &failed.first().map_or("null".to_owned(), |step| step.row.index.to_string()));
    let ids: Vec<String> = failed.iter().filter_map(|step| step.row.job).map(|id| format!("\"{id}\"")).collect();
    push_member(&mut out, "failed_job_ids", &format!("[{}]", ids.join(",")));
    let errors: Vec<&str> = failed.iter().map(|step| step.row.result.as_str()).filter(|text| !text.is_empty()).collect();
    push_member(&mut out, "errors", &format!("[{}]", errors.join(",")));
    out.push('}');
    push_head(&mut out, row);
    push_member(&mut out, "metadata", &metadata);
    out.push('}');
    out
}

fn push_times(out: &mut String, view: &WorkflowView) {
    for (name, at) in
        [("created_at", view.row.created_at), ("started_at", view.row.started_at), ("completed_at", view.row.finished_at)]
    {
        if at > 0 {
            push_time(out, name, Timestamp::from_millis(at));
        } else {
            push_member(out, name, "null");
        }
    }
}

fn step_text(step: &StepView) -> String {
    let mut out = String::from("{");
    push_bare(&mut out, "index", step.row.index);
    // A step without a name of its own is called by its place: SDKs cannot do without an id.
    let place = step.row.index.to_string();
    push_text(&mut out, "id", step.row.name.as_deref().unwrap_or(&place));
    if let Some(name) = &step.row.name {
        push_text(&mut out, "name", name);
    }
    if let Some(kind) = job_type(&step.row.request) {
        push_member(&mut out, "type", kind.get());
    }
    let state = match (step.row.state, step.job) {
        (StepState::Started, Some((JobState::Active, _))) => "active",
        (state, _) => state.as_str(),
    };
    push_text(&mut out, "state", state);
    let job = step.row.job.map_or("null".to_owned(), |id| format!("\"{id}\""));
    push_member(&mut out, "job_id", &job);
    push_member(&mut out, "result", if step.row.result.is_empty() { "null" } else { &step.row.result });
    for (name, at) in [("started_at", step.job.map_or(0, |(_, at)| at)), ("completed_at", step.row.finished_at)] {
        if at > 0 {
            push_time(&mut out, name, Timestamp::from_millis(at));
        } else {
            push_member(&mut out, name, "null");
        }
    }
    out.push('}');
    out
}

fn callbacks(view: &WorkflowView) -> String {
    let mut out = String::from("{");
    for step in &view.steps {
        let callback = Callback::ALL.into_iter().find(|callback| Some(callback.as_str()) == step.row.name.as_deref());
        if let Some(callback) = callback.filter(|_| step.row.index < 0) {
            push_member(&mut out, callback.as_str(), &step_text(step));
        }
    }
    out.push('}');
    out
}

fn job_type(request: &str) -> Option<&RawValue> {
    #[derive(serde::Deserialize)]
    struct Typed<'a> {
        #[serde(rename = "type", borrow)]
        kind: &'a RawValue,
    }
    serde_json::from_str::<Typed<'_>>(request).ok().map(|typed| typed.kind)
}
