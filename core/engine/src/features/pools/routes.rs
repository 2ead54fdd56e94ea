//! `/admin/pools` and `/admin/scheduling/stats` (extensions section 22).
use std::collections::BTreeMap;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use ojs_model::{JobState, OjsError, duration, envelope};
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::features::pools::commands::{DeletePool, ListPools, PoolView, PutPool};
use crate::features::pools::records::{MAX_QUEUES, MAX_WEIGHT, Pool, PoolQueue, PoolRow, Strategy};
use crate::features::pools::rules::are_different;
use crate::features::pools::shares::WHOLE;
use crate::features::statistics::records::{Pace, StatRow};
use crate::features::statistics::routes::{percentiles, recent};
use crate::http::call::Call;
use crate::http::page::stamp;
use crate::http::reply::{Failure, Json};
use crate::store::rows::Counts;

/// Period of the guaranteed share when the request names none (extensions section 22).
const ROTATION_MS: i64 = 30_000;
/// Guaranteed share of each queue when the request names none, in millionths: 0.05.
const LEAST_SHARE: i64 = 50_000;

type Members = Map<String, Value>;

/// `GET /admin/pools`.
pub async fn list(State(engine): State<Engine>) -> Result<Json, Failure> {
    let views = engine.query(ListPools).await?;
    let pools: Vec<Value> = views.iter().map(|view| described(&view.pool)).collect();
    Ok(Json::ok(json!({"pools": pools, "items": pools}).to_string()))
}

/// `PUT /admin/pools/{name}`.
pub async fn put(State(engine): State<Engine>, Path(name): Path<String>, call: Call) -> Result<Json, Failure> {
    let members: Members = call.parse()?;
    let pool = read(&name, &members, engine.now().as_millis())?;
    let (pool, known) = engine.execute(PutPool(pool)).await?;
    let body = json!({"pool": described(&pool)}).to_string();
    let location = format!("/ojs/v1/admin/pools/{name}");
    Ok(if known { Json::ok(body) } else { Json::created(body, Some(location)) })
}

/// `DELETE /admin/pools/{name}`.
pub async fn delete(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    engine.execute(DeletePool(name.clone())).await?;
    Ok(Json::with_status(StatusCode::OK, json!({"deleted": true, "name": name}).to_string()))
}

/// `GET /admin/scheduling/stats`: what the queues of each pool have handed out in the last minutes, on all nodes.
pub async fn stats(State(engine): State<Engine>) -> Result<Json, Failure> {
    let views = engine.query(ListPools).await?;
    let rows = recent(&engine).await?;
    let pools: Vec<Value> = views.iter().map(|view| usage(view, &rows)).collect();
    let queues: Vec<Value> = pools.iter().filter_map(|pool| pool.get("queues")?.as_array()).flatten().cloned().collect();
    let window = duration::format(std::time::Duration::from_millis(Pace::BACK.unsigned_abs()));
    let body = json!({
        "stats": {"window": window, "queues": queues, "pools": pools}, "window": window, "queues": queues,
    });
    Ok(Json::ok(body.to_string()))
}

fn usage(view: &PoolView, rows: &[StatRow]) -> Value {
    let Pool { row, queues } = &view.pool;
    let state = |counts: &Counts, state: JobState| counts.get(state as usize).copied().unwrap_or(0);
    let mut started: BTreeMap<i64, (u64, Pace)> = BTreeMap::new();
    for (num, _) in &view.counts {
        let own = rows.iter().filter(|row| row.queue == *num && *num != 0);
        let mut pace = Pace::default();
        own.for_each(|row| pace.wait.merge(&row.wait));
        started.insert(*num, (pace.wait.count(), pace));
    }
    let all: u64 = view.counts.iter().filter_map(|(num, _)| started.get(num)).map(|(count, _)| count).sum();
    let active: i64 = view.counts.iter().map(|(_, counts)| state(counts, JobState::Active)).sum();
    let queue = |(entry, (num, counts)): (&PoolQueue, &(i64, Counts))| {
        let (dispatched, pace) = started.get(num).map_or((0, None), |(count, pace)| (*count, Some(pace)));
        let ratio = if all == 0 { 0.0 } else { dispatched as f64 / all as f64 };
        json!({
            "queue": entry.queue, "name": entry.queue, "pool": entry.pool, "weight": entry.weight,
            "dispatched": dispatched, "dispatch_total": dispatched, "dispatch_ratio": (ratio * 10_000.0).round() / 10_000.0,
            "available": state(counts, JobState::Available), "active": state(counts, JobState::Active),
            "wait_ms": pace.map_or(Value::Null, |pace| percentiles(&pace.wait)),
        })
    };
    let listed: Vec<Value> = queues.iter().zip(&view.counts).map(queue).collect();
    let utilization = if row.concurrency == 0 { Value::Null } else { json!(active as f64 / row.concurrency as f64) };
    json!({
        "pool": row.name, "name": row.name, "strategy": row.strategy.as_str(), "active": active,
        "concurrency": limit(row), "utilization": utilization, "dispatched": all, "queues": listed,
    })
}

fn limit(row: &PoolRow) -> Value {
    if row.concurrency == 0 { Value::Null } else { json!(row.concurrency) }
}

fn described(pool: &Pool) -> Value {
    let row = &pool.row;
    let names: Vec<&str> = pool.queues.iter().map(|entry| entry.queue.as_str()).collect();
    let weights: Members = pool.queues.iter().map(|entry| (entry.queue.clone(), json!(entry.weight))).collect();
    let starvation = json!({
        "enabled": row.rotation_ms > 0,
        "rotation_interval": duration::format(std::time::Duration::from_millis(row.rotation_ms.unsigned_abs())),
        "min_dispatch_ratio": row.least_share as f64 / WHOLE as f64,
    });
    json!({
        "name": row.name, "strategy": row.strategy.as_str(), "queues": names, "weights": weights,
        "concurrency": limit(row), "isolated": row.isolated, "starvation_prevention": starvation,
        "created_at": stamp(row.created_at), "updated_at": stamp(row.updated_at),
    })
}

/// Reads a pool.
fn read(name: &str, members: &Members, now: i64) -> Result<Pool, OjsError> {
    envelope::check_queue(name).map_err(|error| error.with_details(json!({"field": "name"})))?;
    let given = |member: &str| members.get(member).filter(|value| !value.is_null());
    if given("name").is_some_and(|given| given.as_str() != Some(name)) {
        return Err(OjsError::invalid_field("name", format!("name must be that of the path, '{name}', or be left out.")));
    }
    let strategy = match given("strategy") {
        Some(word) => word.as_str().and_then(Strategy::parse).ok_or_else(|| {
            OjsError::invalid_field("strategy", "strategy must be round-robin, weighted, least-loaded or strict.")
        })?,
        None => Strategy::default(),
    };
    let queues = queues(name, given("queues"), given("weights"))?;
    let concurrency = match given("concurrency") {
        Some(value) => value.as_i64().filter(|most| (1..=i64::from(i32::MAX)).contains(most)).ok_or_else(|| {
            OjsError::invalid_field("concurrency", "concurrency must be a whole number of at least 1, or be left out.")
        })?,
        None => 0,
    };
    let isolated = match given("isolated") {
        Some(value) => value.as_bool().ok_or_else(|| OjsError::invalid_field("isolated", "isolated must be true or false."))?,
        None => false,
    };
    let (rotation_ms, least_share) = starvation(given("starvation_prevention"), queues.len())?;
    let row = PoolRow {
        name: name.to_owned(),
        strategy,
        concurrency,
        isolated,
        rotation_ms,
        least_share,
        created_at: now,
        updated_at: now,
    };
    Ok(Pool { row, queues })
}

/// The queues: an array of names or of objects, or an object by name. Weights stand there or in `weights`.
fn queues(pool: &str, given: Option<&Value>, weights: Option<&Value>) -> Result<Vec<PoolQueue>, OjsError> {
    let fault = |message: &str| OjsError::invalid_field("queues", message);
    let none = Members::new();
    let weights = match weights {
        Some(value) => {
            value.as_object().ok_or_else(|| OjsError::invalid_field("weights", "weights must be an object by queue."))?
        }
        None => &none,
    };
    let mut named: Vec<(String, Option<&Value>)> = Vec::new();
    match given {
        Some(Value::Object(object)) => {
            named.extend(object.iter().map(|(name, own)| (name.clone(), own.get("weight").or(own.as_i64().map(|_| own)))));
        }
        Some(Value::Array(list)) => {
            for entry in list {
                let name = entry.as_str().or_else(|| entry.get("name")?.as_str());
                let name = name.ok_or_else(|| fault("Each of queues must be a name, or an object with name and weight."))?;
                named.push((name.to_owned(), entry.get("weight")));
            }
        }
        _ => return Err(fault("queues is required: an array of names, or an object with a weight for each name.")),
    }
    if named.is_empty() || named.len() > MAX_QUEUES {
        return Err(fault(&format!("queues must have 1 to {MAX_QUEUES} elements.")));
    }
    if !are_different(named.iter().map(|(name, _)| name.as_str())) {
        return Err(fault("queues names a queue twice."));
    }
    if let Some(stray) = weights.keys().find(|name| !named.iter().any(|(known, _)| known == *name)) {
        return Err(OjsError::invalid_field("weights", format!("weights names '{stray}', which is none of queues.")));
    }
    let mut queues = Vec::with_capacity(named.len());
    for (place, (queue, own)) in (0_i64..).zip(named) {
        envelope::check_queue(&queue).map_err(|error| error.with_details(json!({"field": "queues"})))?;
        let weight = match own.or_else(|| weights.get(&queue)) {
            Some(value) => value.as_i64().filter(|weight| (1..=MAX_WEIGHT).contains(weight)).ok_or_else(|| {
                OjsError::invalid_field(
                    "weights",
                    format!("The weight of '{queue}' must be a whole number from 1 to {MAX_WEIGHT}."),
                )
            })?,
            None => 1,
        };
        queues.push(PoolQueue { queue, pool: pool.to_owned(), place, weight });
    }
    Ok(queues)
}

/// Period and share that are guaranteed to each queue; zeros for none.
fn starvation(given: Option<&Value>, queues: usize) -> Result<(i64, i64), OjsError> {
    let fault = |member: &str, rule: &str| {
        let field = format!("starvation_prevention.{member}");
        OjsError::invalid_field(&field, format!("{field} must be {rule}."))
    };
    let Some(given) = given else { return Ok((0, 0)) };
    let members = given.as_object();
    let members =
        members.ok_or_else(|| OjsError::invalid_field("starvation_prevention", "starvation_prevention must be an object."))?;
    match members.get("enabled") {
        None | Some(Value::Bool(true)) => {}
        Some(Value::Bool(false)) => return Ok((0, 0)),
        Some(_) => return Err(fault("enabled", "true or false")),
    }
    let rotation_ms = match members.get("rotation_interval") {
        None => ROTATION_MS,
        Some(value) => {
            let read = value.as_str().and_then(|text| duration::parse(text).ok());
            let ms = read.and_then(|length| i64::try_from(length.as_millis()).ok()).filter(|ms| *ms >= 1_000);
            ms.ok_or_else(|| fault("rotation_interval", "an ISO 8601 duration of at least PT1S"))?
        }
    };
    let least_share = match members.get("min_dispatch_ratio") {
        None => LEAST_SHARE.min(WHOLE / i64::try_from(queues.max(1)).unwrap_or(i64::MAX)),
        Some(value) => {
            let ratio = value.as_f64().filter(|ratio| *ratio > 0.0 && *ratio * queues as f64 <= 1.0);
            let ratio = ratio.ok_or_else(|| fault("min_dispatch_ratio", "above 0, and at most 1 for all queues together"))?;
            (ratio * WHOLE as f64) as i64
        }
    };
    Ok((rotation_ms, least_share))
}
