//! `/queues`: list, stats, pause, resume.
use axum::extract::{Path, RawQuery, State};
use ojs_model::{Timestamp, envelope};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::features::queue_config::commands::{GetQueue, ListQueues, SetDraining, SetPaused};
use crate::features::queue_config::rules::phase_word;
use crate::features::statistics::records::{HOUR, MINUTE, Pace, StatFilter, StatRow};
use crate::features::statistics::routes::read as figures;
use crate::http::page::{by_state, pagination, pressure};
use crate::http::reply::{Failure, Json};
use crate::http::request::Params;
use crate::store::rows::{QueueRow, depth};

/// Largest page (protocol section 3.10).
const MAX_PAGE: usize = 200;

pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let (limit, offset) = params.page(MAX_PAGE)?;
    let mut queues = engine.query(ListQueues).await?;
    if engine.tenant().is_none() && !queues.iter().any(|queue| &*queue.name == "default") {
        // It always exists: before its first job, since the engine was opened.
        queues.push(QueueRow::fresh(0, "default", engine.opened_at().as_millis()));
        queues.sort_by(|a, b| a.name.cmp(&b.name));
    }
    let page: Vec<Value> = queues.iter().skip(offset).take(limit).map(describe).collect();
    Ok(Json::ok(json!({"queues": page, "pagination": pagination(queues.len(), limit, offset)}).to_string()))
}

fn describe(queue: &QueueRow) -> Value {
    let created = (queue.created_at > 0).then(|| Timestamp::from_millis(queue.created_at).to_string());
    json!({"name": &*queue.name, "status": status(queue), "paused": queue.paused, "created_at": created})
}

/// The word for its state.
pub fn status(queue: &QueueRow) -> &'static str {
    phase_word(queue)
}

pub async fn stats(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    envelope::check_queue(&name)?;
    let (queue, counts) = engine.query(GetQueue(name)).await?;
    let states = by_state(&counts);
    let mut object =
        json!({"name": &*queue.name, "status": status(&queue), "paused": queue.paused, "total": counts.iter().sum::<i64>()});
    let depth = depth(&counts);
    let mut stats = json!({"queue": &*queue.name, "depth": depth});
    if let (Some(settings), Some(members)) = (queue.settings()?, stats.as_object_mut()) {
        let config = &settings.config;
        if let Some(bound) = config.bound() {
            members.insert("max_depth".into(), json!(bound));
            members.insert("pressure".into(), json!(pressure(depth, bound)));
        }
        if config.is_bounded() {
            members.insert("strategy".into(), json!(config.overflow_policy.unwrap_or_default().as_str()));
        }
        if let Some(bytes) = config.byte_bound() {
            members.insert("max_size_bytes".into(), json!(bytes));
        }
    }
    // The figures of the last hour are those of all tenants together.
    if let (None, Some(members)) = (engine.tenant(), stats.as_object_mut()) {
        members.extend(last_hour(&engine, queue.num).await?);
    }
    for target in [&mut object, &mut stats] {
        if let Some(target) = target.as_object_mut() {
            target.extend(states.clone());
        }
    }
    let mut body = json!({"status": status(&queue), "stats": stats, "computed_at": engine.now().to_string()});
    if let (Some(members), Some(figures)) = (body.as_object_mut(), object.as_object()) {
        // The SDKs for JavaScript and Ruby read them at the top.
        members.extend(figures.clone());
        members.insert("depth".into(), json!(depth));
        members.insert("queue".into(), object);
    }
    Ok(Json::ok(body.to_string()))
}

/// What went on in one queue: sums and averages of the last 60 minutes, jobs a second of the last one. 0 where nothing happened.
async fn last_hour(engine: &Engine, queue: i64) -> Result<serde_json::Map<String, Value>, Failure> {
    let now = engine.now().as_millis();
    let filter = StatFilter { since: now.saturating_sub(HOUR), until: now.saturating_add(1), queue: Some(queue) };
    let rows = figures(engine, filter).await?;
    let mut hour = StatRow::new(filter.since, HOUR, queue, 0);
    rows.iter().filter(|row| row.span == MINUTE).for_each(|row| hour.merge(row));
    let rounded = |n: f64| json!((n * 100.0).round() / 100.0);
    Ok(serde_json::Map::from_iter([
        ("completed_last_hour".to_owned(), json!(hour.completed)),
        ("failed_last_hour".to_owned(), json!(hour.failed)),
        ("avg_duration_ms".to_owned(), rounded(hour.run.mean().unwrap_or(0.0))),
        ("avg_wait_ms".to_owned(), rounded(hour.wait.mean().unwrap_or(0.0))),
        ("throughput_per_second".to_owned(), rounded(Pace::of(&rows, now).completed / 60.0)),
    ]))
}

pub async fn pause(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    set_paused(&engine, name, true).await
}

/// `POST /queues/{name}/drain`: hands out what it has, takes nothing new; `resume` ends it.
pub async fn drain(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    envelope::check_queue(&name)?;
    let (queue, _) = engine.execute(SetDraining { queue: name, draining: true }).await?;
    let body = json!({
        "queue": {"name": &*queue.name, "paused": queue.paused, "status": status(&queue)},
        "name": &*queue.name, "status": status(&queue), "draining_at": engine.now().to_string(),
    });
    Ok(Json::ok(body.to_string()))
}

pub async fn resume(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    set_paused(&engine, name, false).await
}

async fn set_paused(engine: &Engine, name: String, paused: bool) -> Result<Json, Failure> {
    envelope::check_queue(&name)?;
    let (queue, _) = engine.execute(SetPaused { queue: name, paused }).await?;
    let at = if paused { "paused_at" } else { "resumed_at" };
    let body = json!({
        "queue": {"name": &*queue.name, "paused": queue.paused, "status": status(&queue)},
        "name": &*queue.name, "paused": queue.paused, "status": status(&queue), at: engine.now().to_string(),
    });
    Ok(Json::ok(body.to_string()))
}
