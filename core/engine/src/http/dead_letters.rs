//! `/dead-letter`: list, read, retry, delete.
use axum::extract::{Path, RawQuery, State};
use ojs_model::json::push_member;
use ojs_model::{ErrorCode, OjsError, Timestamp};
use serde_json::json;

use super::jobs::{changed, unexpected, wrapped};
use super::queues::pagination;
use super::reply::{Failure, Json};
use super::request::{Params, job_id};
use crate::command::{Command, Query, Reply};
use crate::engine::Engine;
use crate::render;
use crate::tables::DeadFilter;

/// Largest page (protocol section 3.10).
const MAX_PAGE: usize = 100;

pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let limit = params.number("limit", 50, MAX_PAGE)?.max(1);
    let cursor = params.number("cursor", 0, usize::MAX)?;
    let offset = params.number("offset", cursor, usize::MAX)?;
    let filter = DeadFilter {
        queue: params.get("queue").map(str::to_owned),
        job_type: params.get("type").map(str::to_owned),
        since: time(&params, "since")?,
        until: time(&params, "until")?,
        limit,
        offset,
    };
    let (jobs, total) = match engine.query(Query::Dead(filter)).await? {
        Reply::Page(jobs, total) => (jobs, total),
        other => return Err(unexpected(&other).into()),
    };
    let mut out = String::from("{\"jobs\":");
    render::list(&mut out, &jobs, render::job);
    push_member(&mut out, "pagination", &pagination(total, limit, offset).to_string());
    out.push('}');
    Ok(Json::ok(out))
}

fn time(params: &Params, name: &str) -> Result<Option<i64>, OjsError> {
    let Some(text) = params.get(name) else { return Ok(None) };
    let at = Timestamp::parse(text).map_err(|error| {
        OjsError::new(ErrorCode::InvalidRequest, format!("{name} is {error}.")).with_details(json!({"field": name}))
    })?;
    Ok(Some(at.as_millis()))
}

pub async fn get(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    match engine.query(Query::DeadLetter(job_id("dead letter", &id)?)).await? {
        Reply::Job(view) => Ok(Json::ok(wrapped(&view, |_| {}))),
        other => Err(unexpected(&other).into()),
    }
}

pub async fn retry(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    changed(&engine, Command::Replay(job_id("dead letter", &id)?), Some("re_enqueued_at")).await
}

pub async fn delete(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    let job = job_id("dead letter", &id)?;
    engine.execute(Command::Bury(job)).await?;
    Ok(Json::ok(json!({"deleted": true, "job_id": job}).to_string()))
}
