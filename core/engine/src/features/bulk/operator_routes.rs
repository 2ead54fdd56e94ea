//! `/admin/jobs/bulk` and the purge of a queue: what operators do to many jobs, once they have confirmed it.
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use ojs_model::envelope;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::features::bulk::filter::{Plane, Wanted, confirmed, ids};
use crate::features::bulk::purge::Purge;
use crate::features::bulk::records::{Action, BulkFilter};
use crate::features::bulk::routes::check_size;
use crate::features::bulk::run::{Done, Item, Picked, Run};
use crate::features::queue_config::commands::FindQueue;
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, parse, read_body};
use crate::http::terms::invalid;

/// Faults that are listed one by one.
const MAX_ERRORS: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Many {
    job_ids: Option<Vec<String>>,
    filter: Option<Wanted>,
    #[serde(default)]
    confirm: bool,
    #[serde(default)]
    dry_run: bool,
    limit: Option<usize>,
}

/// `POST /admin/jobs/bulk/retry`
pub async fn retry(State(engine): State<Engine>, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    change(&engine, Action::Retry, &headers, body).await
}

/// `POST /admin/jobs/bulk/cancel`
pub async fn cancel(State(engine): State<Engine>, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    change(&engine, Action::Cancel, &headers, body).await
}

/// `POST /admin/jobs/bulk/delete`
pub async fn delete(State(engine): State<Engine>, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    change(&engine, Action::Delete, &headers, body).await
}

async fn change(engine: &Engine, action: Action, headers: &HeaderMap, body: Body) -> Result<Json, Failure> {
    let request: Many = parse(&read_body(headers, body).await?)?;
    confirmed(request.confirm || request.dry_run)?;
    let picked = match (request.job_ids, request.filter) {
        (Some(_), Some(_)) => return Err(invalid("job_ids", "Use job_ids or filter, not both.").into()),
        (Some(given), None) => {
            check_size("job_ids", given.len())?;
            Picked::Ids(ids(given)?)
        }
        (None, filter) => Picked::Filter(Box::new(filter.unwrap_or_default().filter(action, Plane::Admin, engine.now())?)),
    };
    let done = run(engine, action, picked, request.dry_run, request.limit).await?;
    let body = json!({
        "action": action.verb(), "matched": done.matched, "succeeded": done.succeeded(), "failed": done.skipped,
        "errors": errors(&done.items), "has_more": done.has_more, "dry_run": request.dry_run,
    });
    Ok(Json::ok(body.to_string()))
}

/// `DELETE /admin/queues/{name}/jobs {"states":[…],"older_than":…,"confirm":true}`; without a body the same in the query, for proxies
/// that take the body off a DELETE.
pub async fn purge(
    State(engine): State<Engine>,
    Path(queue): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Json, Failure> {
    envelope::check_queue(&queue)?;
    let body = read_body(&headers, body).await?;
    let request = if body.is_empty() { Purge::of(&Params::parse(query.as_deref())?)? } else { parse::<Purge>(&body)? };
    let (dry_run, limit) = (request.dry_run, request.limit);
    confirmed(request.confirm || dry_run)?;
    let filter: BulkFilter = request.filter(queue.clone(), engine.now())?;
    // 404 for a queue that was never used: its name is probably misspelt.
    engine.query(FindQueue(queue.clone())).await?;
    let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
    let states = json!(states);
    let done = run(&engine, Action::Purge, Picked::Filter(Box::new(filter)), dry_run, limit).await?;
    let body = json!({
        "queue": queue, "purged_count": done.succeeded(), "matched": done.matched, "states": states,
        "has_more": done.has_more, "dry_run": dry_run,
    });
    Ok(Json::ok(body.to_string()))
}

async fn run(engine: &Engine, action: Action, picked: Picked, dry_run: bool, limit: Option<usize>) -> Result<Done, Failure> {
    let began = Instant::now();
    let run = Run { action, picked, atomic: false, dry_run, limit: limit.unwrap_or(usize::MAX).max(1) };
    let done = run.carry_out(engine).await?;
    engine.metrics().bulk(&done.figures(action, false, began));
    done.conclude(engine, action, None, 200, "").await?;
    Ok(done)
}

fn errors(items: &[Item]) -> Vec<Value> {
    let faults = items.iter().filter_map(|item| Some((item, item.fault.as_ref()?)));
    faults.take(MAX_ERRORS).map(|(item, fault)| json!({"job_id": item.id, "error": fault.message, "code": fault.code})).collect()
}
