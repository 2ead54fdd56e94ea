//! How progress is printed (extensions section 20).
use ojs_model::json::{push_bare, push_member, push_text, push_time};
use ojs_model::{JobId, JobState, Timestamp};

use crate::features::progress::commands::WorkflowProgress;
use crate::features::progress::records::ProgressRow;
use crate::http::reply::Json;
use crate::kernel::render;

/// `{"job_id","state","progress","data","message","updated_at"}`; members that are not known are null.
pub(super) fn text(id: JobId, state: JobState, progress: Option<&ProgressRow>) -> String {
    let mut out = String::from("{");
    push_text(&mut out, "job_id", &id.to_string());
    push_text(&mut out, "state", state.as_str());
    push_fraction(&mut out, progress.and_then(|row| row.fraction));
    push_member(&mut out, "data", progress.and_then(|row| row.data.as_deref()).unwrap_or("null"));
    match progress.and_then(|row| row.message.as_deref()) {
        Some(message) => push_text(&mut out, "message", message),
        None => push_member(&mut out, "message", "null"),
    }
    match progress.map(|row| row.updated_at) {
        Some(at) => push_time(&mut out, "updated_at", Timestamp::from_millis(at)),
        None => push_member(&mut out, "updated_at", "null"),
    }
    out.push('}');
    out
}

/// The same as an answer, with the headers that the document asks for.
pub(super) fn json(id: JobId, state: JobState, progress: Option<&ProgressRow>) -> Json {
    let answer = Json::ok(text(id, state, progress)).with_header("cache-control", "no-cache");
    match progress.and_then(|row| row.fraction) {
        Some(fraction) => answer.with_header("x-ojs-progress", fraction),
        None => answer,
    }
}

/// `{"workflow_id","type","state","progress","steps"}`.
pub(super) fn workflow(id: JobId, found: &WorkflowProgress) -> String {
    let mut out = String::from("{");
    push_text(&mut out, "workflow_id", &id.to_string());
    push_text(&mut out, "type", found.shape.as_str());
    push_text(&mut out, "state", found.state.as_str());
    push_fraction(&mut out, Some(found.fraction));
    push_member(&mut out, "steps", "");
    render::list(&mut out, &found.steps, |out, step| {
        out.push('{');
        push_bare(out, "index", step.index);
        if let Some(name) = &step.name {
            push_text(out, "name", name);
        }
        push_member(out, "job_id", &step.job.map_or("null".to_owned(), |id| format!("\"{id}\"")));
        push_text(out, "state", step.state);
        push_fraction(out, step.fraction);
        out.push('}');
    });
    out.push('}');
    out
}

fn push_fraction(out: &mut String, fraction: Option<f64>) {
    match fraction {
        // 1 as 1.0, as a number with a fraction.
        Some(fraction) => push_member(out, "progress", &serde_json::json!(fraction).to_string()),
        None => push_member(out, "progress", "null"),
    }
}
