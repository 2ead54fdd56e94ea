//! `/jobs/bulk`: many jobs in one request, by id or by filter (protocol section 8.6).
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use ojs_model::json::{push_bare, push_member, push_text};
use ojs_model::limits::MAX_BATCH_JOBS;
use ojs_model::{ErrorCode, OjsError};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::engine::Engine;
use crate::features::bulk::answer::{enqueue_answer, status};
use crate::features::bulk::filter::{Plane, Wanted, ids};
use crate::features::bulk::metrics::Bulk;
use crate::features::bulk::records::{Action, Batch, Stored};
use crate::features::bulk::run::{Done, Picked, Run, known_answer};
use crate::features::idempotency::records::{IdempotencyKey, MAX_KEY_CHARS, Remembered};
use crate::http::caller::Asker;
use crate::http::guard::Caller;
use crate::http::reply::{Failure, Json};
use crate::http::request::{client_request_id, parse, read_body};
use crate::kernel::placed::Placed;
use crate::kernel::render;

#[derive(Deserialize)]
struct Enqueue<'a> {
    #[serde(borrow)]
    jobs: Option<Vec<&'a RawValue>>,
    atomicity: Option<String>,
    idempotency_key: Option<String>,
}

/// Whose request it is, where keys are asked for.
type From = Option<Extension<Caller>>;

/// `POST /jobs/bulk {"jobs":[…],"atomicity":"partial"|"atomic","idempotency_key":…}`
pub async fn enqueue(
    State(engine): State<Engine>,
    asker: Asker,
    from: From,
    headers: HeaderMap,
    body: Body,
) -> Result<Json, Failure> {
    let began = Instant::now();
    let body = read_body(&headers, body).await?;
    let request: Enqueue<'_> = parse(&body)?;
    let atomic = is_atomic(request.atomicity.as_deref())?;
    let key = key_of(&engine, "enqueue", &from, &headers, request.idempotency_key, &body)?;
    let raw = request.jobs.filter(|jobs| !jobs.is_empty());
    let raw = raw.ok_or_else(|| OjsError::invalid_field("jobs", "jobs is required: an array of at least one job."))?;
    let now = engine.now();
    check_size("jobs", raw.len())?;
    let request_id = client_request_id(&headers);
    let jobs = raw.iter().map(|raw| {
        engine.parse_job(raw.get(), now, request_id).map(|mut job| {
            asker.sign(&mut job);
            Arc::new(job)
        })
    });
    let jobs = jobs.collect();
    let total = raw.len();
    let stored = engine.execute(Batch { jobs, atomic, key }).await?;
    let items = match &stored {
        Stored::Placed(results) => placed(results),
        Stored::Known(_) => Vec::new(),
    };
    engine.metrics().bulk(&Bulk { operation: "enqueue", atomic, size: total, items, took: began.elapsed() });
    Ok(match stored {
        Stored::Placed(results) => {
            let (status, body) = enqueue_answer(&results, atomic);
            answer(status, body, total)
        }
        Stored::Known(known) => again(known),
    })
}

/// How many jobs came out how.
fn placed(results: &[Result<Placed, OjsError>]) -> Vec<(&'static str, usize)> {
    let failed = results.iter().filter(|result| result.is_err()).count();
    let known = results.iter().flatten().filter(|placed| placed.deduplicated).count();
    vec![("created", results.len() - failed - known), ("duplicate", known), ("failed", failed)]
}

/// A change of many jobs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    job_ids: Option<Vec<String>>,
    filter: Option<Wanted>,
    atomicity: Option<String>,
    idempotency_key: Option<String>,
    #[serde(default)]
    dry_run: bool,
    limit: Option<usize>,
}

/// `POST /jobs/bulk/cancel`
pub async fn cancel(State(engine): State<Engine>, from: From, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    change(&engine, Action::Cancel, &from, &headers, body).await
}

/// `POST /jobs/bulk/retry`
pub async fn retry(State(engine): State<Engine>, from: From, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    change(&engine, Action::Retry, &from, &headers, body).await
}

/// `POST /jobs/bulk/delete`
pub async fn delete(State(engine): State<Engine>, from: From, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    change(&engine, Action::Delete, &from, &headers, body).await
}

async fn change(engine: &Engine, action: Action, from: &From, headers: &HeaderMap, body: Body) -> Result<Json, Failure> {
    let began = Instant::now();
    let body = read_body(headers, body).await?;
    let request: Change = parse(&body)?;
    let atomic = is_atomic(request.atomicity.as_deref())?;
    let key = key_of(engine, action.verb(), from, headers, request.idempotency_key, &body)?;
    let picked = match (request.job_ids, request.filter) {
        (Some(given), None) => {
            check_size("job_ids", given.len())?;
            Picked::Ids(ids(given)?)
        }
        (None, Some(filter)) => Picked::Filter(Box::new(filter.filter(action, Plane::Data, engine.now())?)),
        _ => return Err(OjsError::invalid_field("job_ids", "Either job_ids or filter is required, and not both.").into()),
    };
    if let Some(key) = &key
        && let Some(known) = known_answer(engine, key).await?
    {
        engine.metrics().bulk(&Bulk { operation: action.verb(), atomic, size: 0, items: Vec::new(), took: began.elapsed() });
        return Ok(again(known));
    }
    let run = Run { action, picked, atomic, dry_run: request.dry_run, limit: request.limit.unwrap_or(usize::MAX).max(1) };
    let done = run.carry_out(engine).await?;
    engine.metrics().bulk(&done.figures(action, atomic, began));
    let (status, body) = change_answer(action, &done, request.dry_run);
    // Where nothing was changed the request may be sent again.
    done.conclude(engine, action, key.filter(|_| done.succeeded() > 0), status, &body).await?;
    Ok(answer(status, body, done.matched))
}

fn change_answer(action: Action, done: &Done, dry_run: bool) -> (u16, String) {
    let mut out = String::from("{");
    push_bare(&mut out, "total_matched", done.matched);
    push_bare(&mut out, action.done(), done.succeeded());
    push_bare(&mut out, "skipped", done.skipped);
    if dry_run {
        push_bare(&mut out, "dry_run", true);
    }
    push_bare(&mut out, "has_more", done.has_more);
    push_member(&mut out, "items", "");
    render::list(&mut out, done.items.iter().enumerate(), |out, (index, item)| {
        out.push('{');
        push_bare(out, "index", index);
        push_text(out, "job_id", &item.id);
        match &item.fault {
            None => push_text(out, "status", action.done()),
            Some(error) => {
                push_text(out, "status", "skipped");
                push_text(out, "reason", &error.message);
                push_member(out, "error", &error.to_object().to_string());
            }
        }
        out.push('}');
    });
    if done.items.len() < done.matched && !dry_run {
        push_bare(&mut out, "items_omitted", done.matched - done.items.len());
    }
    out.push('}');
    (status(done.matched, done.skipped, 200), out)
}

fn is_atomic(word: Option<&str>) -> Result<bool, OjsError> {
    match word {
        None | Some("partial") => Ok(false),
        Some("atomic") => Ok(true),
        Some(other) => Err(OjsError::invalid_field("atomicity", format!("atomicity must be partial or atomic, got '{other}'."))),
    }
}

/// The key of a request: the header's, or the body's. It stands for this operation, this client and this body only.
fn key_of(
    engine: &Engine,
    operation: &str,
    from: &From,
    headers: &HeaderMap,
    member: Option<String>,
    body: &Bytes,
) -> Result<Option<IdempotencyKey>, OjsError> {
    let fault = |what: &str| {
        let message = format!("The idempotency key {what}; it is a text of 1 to {MAX_KEY_CHARS} characters.");
        OjsError::invalid_field("idempotency_key", message)
    };
    let header = headers.get("idempotency-key").map(|value| value.to_str().map(str::to_owned)).transpose();
    let given = header.map_err(|_| fault("has characters that a header cannot carry"))?.or(member);
    let Some(given) = given else { return Ok(None) };
    if given.is_empty() || given.chars().count() > MAX_KEY_CHARS {
        return Err(fault("is empty or too long"));
    }
    let caller = from.as_ref().map(|Extension(Caller(holder))| holder.name());
    // A key of one tenant is another key for the next.
    let of_tenant = engine.tenant().map(|tenant| format!("{tenant}/{}", caller.unwrap_or_default()));
    let caller = of_tenant.as_deref().or(caller);
    Ok(Some(IdempotencyKey::new(operation, caller, &given, Sha256::digest(body).into())))
}

pub(crate) fn check_size(field: &str, jobs: usize) -> Result<(), OjsError> {
    if jobs <= MAX_BATCH_JOBS {
        return Ok(());
    }
    let message = format!("{field} has {jobs} elements; the limit is {MAX_BATCH_JOBS}.");
    let error = OjsError::new(ErrorCode::BatchSizeExceeded, message);
    Err(error.with_details(json!({"field": field, "max_batch_size": MAX_BATCH_JOBS})))
}

fn answer(status: u16, body: String, size: usize) -> Json {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    Json::with_status(status, body).with_header("x-ojs-batch-size", size)
}

/// What was answered the first time.
fn again(known: Remembered) -> Json {
    let status = StatusCode::from_u16(known.status).unwrap_or(StatusCode::OK);
    Json::with_status(status, known.body).with_header("idempotent-replayed", true)
}
