//! `/admin`: what an operator needs beside the protocol's own calls (extensions section 19).
use axum::extract::{Path, RawQuery, State};
use ojs_model::json::push_member;
use ojs_model::{ErrorCode, JobState, OjsError};
use serde_json::json;

use super::jobs::unexpected;
use super::reply::{Failure, Json};
use super::request::Params;
use crate::command::{Command, Query, Reply};
use crate::engine::Engine;
use crate::render;
use crate::tables::JobFilter;

/// Largest page.
const MAX_PAGE: usize = 200;

/// `GET /admin/jobs?queue&state&type&page&per_page`: newest first. `type` may end in `*`.
pub async fn jobs(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let per_page = params.number("per_page", 50, MAX_PAGE)?.max(1);
    let page = params.number("page", 1, usize::MAX / MAX_PAGE)?.max(1);
    let filter = JobFilter {
        queue: params.get("queue").map(str::to_owned),
        state: params.get("state").map(state).transpose()?,
        job_type: params.get("type").map(job_type).transpose()?,
        limit: per_page,
        offset: (page - 1) * per_page,
    };
    let (jobs, has_more) = match engine.query(Query::Jobs(filter)).await? {
        Reply::Slice(jobs, has_more) => (jobs, has_more),
        other => return Err(unexpected(&other).into()),
    };
    let mut out = String::from("{\"items\":");
    render::list(&mut out, &jobs, render::job);
    push_member(&mut out, "pagination", &json!({"page": page, "per_page": per_page, "has_more": has_more}).to_string());
    out.push('}');
    Ok(Json::ok(out))
}

fn state(word: &str) -> Result<JobState, OjsError> {
    word.parse().map_err(|error: ojs_model::state::UnknownState| {
        let words = JobState::ALL.map(JobState::as_str).join(", ");
        OjsError::new(ErrorCode::InvalidRequest, format!("{error}: use one of {words}.")).with_details(json!({"field": "state"}))
    })
}

fn job_type(pattern: &str) -> Result<String, OjsError> {
    let plain = pattern.strip_suffix('*').unwrap_or(pattern);
    let valid = plain.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-' | b'.'));
    let fault = || {
        OjsError::new(ErrorCode::InvalidRequest, "type must be a job type, or the start of one followed by *.")
            .with_details(json!({"field": "type"}))
    };
    if valid { Ok(pattern.to_owned()) } else { Err(fault()) }
}

/// `POST /admin/workers/{id}/quiet|terminate`: told to the worker at its next heartbeat.
pub async fn direct(State(engine): State<Engine>, Path((worker, word)): Path<(String, String)>) -> Result<Json, Failure> {
    let directive = match word.as_str() {
        "quiet" => 1,
        "terminate" => 2,
        _ => return Err(OjsError::not_found("directive", &word).with_hint("Use quiet or terminate.").into()),
    };
    engine.execute(Command::Direct { worker: worker.clone(), directive }).await?;
    Ok(Json::ok(json!({"worker_id": worker, "directive": word}).to_string()))
}
