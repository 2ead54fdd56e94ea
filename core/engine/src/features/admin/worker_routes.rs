//! `/admin/workers`: who works, and how to make them stop; `/workers/{id}/health` for their probes.
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use ojs_model::{OjsError, Timestamp};
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::features::admin::commands::{Direct, DropWorker, ListWorkers};
use crate::http::operator::Paging;
use crate::http::page::stamp;
use crate::http::reply::{Failure, Json};
use crate::http::request::Params;
use crate::kernel::worker::STALE_AFTER_MS;
use crate::store::rows::{Directive, WorkerRow};

type Held = (WorkerRow, usize);

/// `GET /admin/workers?state&page&per_page&cursor`
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let paging = Paging::of(&params)?;
    let (workers, now) = (engine.query(ListWorkers).await?, engine.now());
    let in_state = |word: &str| workers.iter().filter(|held| state(held, now) == word).count();
    let summary = json!({
        "total": workers.len(), "running": in_state("running"), "quiet": in_state("quiet"),
        "terminating": in_state("terminate") + in_state("drain"), "stale": in_state("stale"), "left": in_state("left"),
    });
    let wanted: Vec<&Held> =
        workers.iter().filter(|held| params.get("state").is_none_or(|word| word == state(held, now))).collect();
    let (wanted, pagination) = paging.of_all(&params, wanted, |(worker, _)| &worker.id)?;
    let items: Vec<Value> = wanted.into_iter().map(|held| describe(held, now)).collect();
    Ok(Json::ok(json!({"items": items, "summary": summary, "pagination": pagination}).to_string()))
}

/// `GET /admin/workers/{id}`
pub async fn get(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    let held = one(&engine, &id).await?;
    Ok(Json::ok(describe(&held, engine.now()).to_string()))
}

/// `POST /admin/workers/{id}/quiet|terminate|resume`: the worker gets it with the answer to its next heartbeat.
pub async fn direct(State(engine): State<Engine>, Path((worker, word)): Path<(String, String)>) -> Result<Json, Failure> {
    let directive = match word.as_str() {
        "resume" => Directive::Run,
        "quiet" => Directive::Quiet,
        "terminate" => Directive::Terminate,
        _ => return Err(OjsError::not_found("directive", &word).with_hint("Use quiet, terminate or resume.").into()),
    };
    engine.execute(Direct { worker: worker.clone(), directive }).await?;
    Ok(Json::ok(json!({"id": worker, "worker_id": worker, "directive": word}).to_string()))
}

/// `DELETE /admin/workers/{id}`: a silent worker; its jobs return at once.
pub async fn delete(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    let jobs = engine.execute(DropWorker(id.clone())).await?;
    Ok(Json::ok(json!({"deleted": true, "id": id, "jobs_requeued": jobs}).to_string()))
}

/// `GET /workers/{id}/health`: for probes. 503 as soon as the worker takes no more jobs. It needs no key, so it says
/// nothing of the worker's jobs.
pub async fn health(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    let state = state(&one(&engine, &id).await?, engine.now());
    let status = if state == "running" { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = json!({
        "worker_id": id, "state": if matches!(state, "drain" | "terminate") { "draining" } else { state },
        "status": if state == "running" { "ok" } else { "degraded" },
    });
    Ok(Json::with_status(status, body.to_string()))
}

async fn one(engine: &Engine, id: &str) -> Result<Held, Failure> {
    let found = engine.query(ListWorkers).await?.into_iter().find(|(worker, _)| *worker.id == *id);
    found.ok_or_else(|| OjsError::not_found("worker", id).into())
}

/// A worker that never beat is not stale: foreign clients need not beat. One that said it stops, and holds nothing, has left: its silence
/// is as it should be.
fn state((worker, held): &Held, now: Timestamp) -> &'static str {
    let silent = now.as_millis().saturating_sub(worker.beat_at) >= STALE_AFTER_MS;
    match worker.phase {
        phase if silent && *held == 0 && phase.is_leaving() => "left",
        _ if silent && worker.beat_at > 0 => "stale",
        phase => phase.as_str(),
    }
}

fn describe(found: &Held, now: Timestamp) -> Value {
    let (worker, held) = found;
    let info: Map<String, Value> = serde_json::from_str(&worker.info).unwrap_or_default();
    let told = |name: &str| info.get(name).cloned().unwrap_or(Value::Null);
    let started = if info.contains_key("started_at") { told("started_at") } else { stamp(worker.first_at) };
    let directive = match worker.directive {
        Directive::Run => Value::Null,
        directive => json!(directive.as_str()),
    };
    json!({
        "id": &*worker.id, "state": state(found, now), "active_jobs": held, "directive": directive,
        "hostname": told("hostname"), "pid": told("pid"), "queues": info.get("queues").cloned().unwrap_or_else(|| json!([])),
        "handlers": info.get("handlers").cloned().unwrap_or_else(|| json!([])),
        "concurrency": told("concurrency"), "version": told("version"), "started_at": started,
        "last_heartbeat_at": stamp(worker.beat_at), "metadata": info.get("metadata").cloned().unwrap_or_else(|| json!({})),
    })
}
