//! `/jobs/{id}/result` and `/jobs/results`: what came out of jobs, at once or as soon as they end.
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use ojs_model::json::push_bare;
use ojs_model::{ErrorCode, JobId, OjsError};
use serde::Deserialize;
use serde_json::json;

use crate::engine::{Engine, MAX_WAIT};
use crate::features::results::answer::push_outcome;
use crate::features::results::commands::GetResults;
use crate::http::caller::Asker;
use crate::http::client_limit::Guest;
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, job_id, parse, read_body};
use crate::kernel::job::{History, JobRow};
use crate::kernel::render;

/// How long a request waits when it does not say.
const DEFAULT_WAIT_S: usize = 30;
/// Most ids in one request.
const MAX_IDS: usize = 1_000;

/// `GET /jobs/{id}/result[?wait=true&timeout=seconds]`
pub async fn get(
    State(engine): State<Engine>,
    guest: Guest,
    asker: Asker,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json, Failure> {
    let id = job_id("job", &id)?;
    asker.check_sees(&engine, id).await?;
    let (row, history) = match patience(&Params::parse(query.as_deref())?)? {
        None => read(&engine, id).await?,
        Some(patience) => {
            let _slot = engine.slot(&guest, patience)?;
            wait(&engine, id, patience).await?
        }
    };
    let mut out = String::new();
    push_outcome(&mut out, &row, &history, engine.now())?;
    Ok(Json::ok(out))
}

/// How long to wait; `None` is not at all.
fn patience(params: &Params) -> Result<Option<Duration>, OjsError> {
    let wants = match params.get("wait") {
        None | Some("false" | "0") => false,
        Some("true" | "1") => true,
        Some(other) => {
            let message = format!("wait must be true or false, got '{other}'.");
            return Err(OjsError::new(ErrorCode::InvalidRequest, message).with_details(json!({"field": "wait"})));
        }
    };
    let most = usize::try_from(MAX_WAIT.as_secs()).unwrap_or(usize::MAX);
    let seconds = params.number("timeout", DEFAULT_WAIT_S, most)?;
    Ok(wants.then_some(Duration::from_secs(seconds as u64)))
}

/// Waits for the end of a job. Dropped with the connection of a client that hangs up.
async fn wait(engine: &Engine, id: JobId, patience: Duration) -> Result<(JobRow, History), Failure> {
    // Registered before the first look: an end in between is not missed.
    let mut end = engine.watch_end(id);
    let deadline = tokio::time::Instant::now() + patience;
    loop {
        let found = read(engine, id).await?;
        if found.0.state.is_terminal() {
            return Ok(found);
        }
        tokio::select! {
            () = end.told() => {}
            () = tokio::time::sleep_until(deadline) => return Ok(found),
            () = engine.closed() => return Ok(found),
        }
    }
}

async fn read(engine: &Engine, id: JobId) -> Result<(JobRow, History), Failure> {
    let job = engine.query(GetResults(vec![id])).await?.pop().flatten();
    Ok(job.ok_or_else(|| OjsError::not_found("job", &id.to_string()))?)
}

#[derive(Deserialize)]
struct Wanted {
    ids: Option<Vec<String>>,
}

/// `POST /jobs/results {"ids":[…]}`: one element per id, in order; null for what is not there, not done or no longer kept.
pub async fn list(State(engine): State<Engine>, asker: Asker, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    let body = read_body(&headers, body).await?;
    let wanted: Wanted = parse(&body)?;
    let ids = wanted.ids.ok_or_else(|| OjsError::invalid_field("ids", "ids is required: an array of job ids."))?;
    if ids.len() > MAX_IDS {
        let message = format!("ids has {} elements; the limit is {MAX_IDS}.", ids.len());
        return Err(OjsError::new(ErrorCode::BatchSizeExceeded, message).with_details(json!({"max_batch_size": MAX_IDS})).into());
    }
    // What is no id of ours names no job.
    let mut parsed: Vec<Option<JobId>> = ids.iter().map(|id| id.parse().ok()).collect();
    if asker.own_only {
        for place in &mut parsed {
            // As a job that is not there, so that one of them does not keep the others from being answered.
            if let Some(id) = *place
                && asker.check_sees(&engine, id).await.is_err()
            {
                *place = None;
            }
        }
    }
    let mut found = engine.query(GetResults(parsed.iter().flatten().copied().collect())).await?.into_iter();
    let now = engine.now();
    let mut out = String::from("{\"results\":");
    render::list(&mut out, &parsed, |out, id| {
        let job = id.and_then(|_| found.next().flatten());
        // Refused before anything is written.
        let written = job.is_some_and(|(row, history)| push_outcome(out, &row, &history, now).is_ok());
        if !written {
            out.push_str("null");
        }
    });
    push_bare(&mut out, "count", parsed.len());
    out.push('}');
    Ok(Json::ok(out))
}
