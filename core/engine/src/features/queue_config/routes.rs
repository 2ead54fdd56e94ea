//! `/queues`: create, read, configure, delete (protocol section 8.7), and the same settings under `/admin/queues` (extensions section 5).
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use ojs_model::{ErrorCode, OjsError, Timestamp, envelope};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::error::{Refusal, StoreError};
use crate::features::queue_config::commands::{CloseQueue, Configure, CreateQueue, DeleteQueue, EmptyQueue, GetQueue};
use crate::features::queue_config::records::{QueueConfig, TEMPLATE, WARNING_THRESHOLD, canonical};
use crate::features::queue_config::rules::phase_word;
use crate::http::page::by_state;
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, parse, read_body};
use crate::store::rows::{Counts, QueuePhase, QueueRow};

#[derive(Deserialize)]
struct Create {
    name: Option<String>,
    config: Option<Map<String, Value>>,
}

/// `POST /queues`.
pub async fn create(State(engine): State<Engine>, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    let body = read_body(&headers, body).await?;
    let request: Create = parse(&body)?;
    let queue = request.name.ok_or_else(|| OjsError::invalid_field("name", "name is required: the name of the queue."))?;
    check_name(&queue, "name")?;
    let settings = located(canonical(&request.config.unwrap_or_default()))?;
    let location = format!("/ojs/v1/queues/{queue}");
    let (queue, counts) = engine.execute(CreateQueue { queue, settings }).await?;
    Ok(Json::created(describe(&queue, &counts)?, Some(location)))
}

/// `GET /queues/{name}`.
pub async fn get(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    check_name(&name, "queue")?;
    let (queue, counts) = engine.query(GetQueue(name)).await?;
    let known = queue.num != 0 && queue.phase != QueuePhase::Deleted || matches!(&*queue.name, "default" | TEMPLATE);
    if known { Ok(Json::ok(describe(&queue, &counts)?)) } else { Err(OjsError::not_found("queue", &queue.name).into()) }
}

/// `PUT /queues/{name}/config` and `PUT /admin/queues/{name}/config`: sets what is named, leaves the rest; null gives a setting back to the template.
pub async fn configure(
    State(engine): State<Engine>,
    Path(queue): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json, Failure> {
    let request = settings_of(&queue, &headers, body).await?;
    // The settings themselves, or under the name that POST gives them.
    let request = match request.get("config") {
        Some(Value::Object(config)) if request.len() == 1 => config.clone(),
        _ => request,
    };
    change(&engine, queue, located(canonical(&request))?).await
}

/// `PUT /admin/queues/{name}/rate-limit`: `{concurrency, rate}`.
pub async fn rate_limit(
    State(engine): State<Engine>,
    Path(queue): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json, Failure> {
    let request = settings_of(&queue, &headers, body).await?;
    if let Some(name) = request.keys().find(|name| !matches!(name.as_str(), "concurrency" | "rate" | "rate_limit")) {
        let message = format!("{name} is not known here: use concurrency and rate.");
        return Err(OjsError::invalid_field(name, message).into());
    }
    change(&engine, queue, canonical(&request)?).await
}

/// The body of a change to a queue.
async fn settings_of(queue: &str, headers: &HeaderMap, body: Body) -> Result<Map<String, Value>, Failure> {
    check_name(queue, "queue")?;
    Ok(parse(&read_body(headers, body).await?)?)
}

async fn change(engine: &Engine, queue: String, settings: Map<String, Value>) -> Result<Json, Failure> {
    let (queue, counts) = engine.execute(Configure { queue, settings }).await?;
    Ok(Json::ok(describe(&queue, &counts)?))
}

#[derive(Deserialize, Default)]
struct Delete {
    strategy: Option<String>,
    target_queue: Option<String>,
}

/// `DELETE /queues/{name}`: strategy and target in the query or in the body.
pub async fn delete(
    State(engine): State<Engine>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Json, Failure> {
    check_name(&name, "queue")?;
    let params = Params::parse(query.as_deref())?;
    let body = read_body(&headers, body).await?;
    let request: Delete = parse(&body)?;
    let strategy = request.strategy.or_else(|| params.get("strategy").map(str::to_owned)).unwrap_or_else(|| "reject".to_owned());
    let target = request.target_queue.or_else(|| params.get("target_queue").map(str::to_owned));
    if matches!(name.as_str(), "default" | TEMPLATE) {
        return Err(OjsError::new(ErrorCode::Conflict, format!("Queue '{name}' always exists."))
            .with_details(json!({"queue": name, "reason": "queue_permanent"}))
            .with_hint("Empty it job by job, or give its settings back with null.")
            .into());
    }
    let target = match strategy.as_str() {
        "reject" => None,
        "discard" => Some(None),
        "move" => Some(Some(check_target(&name, target)?)),
        _ => {
            let message = format!("strategy must be reject, discard or move, got '{strategy}'.");
            return Err(OjsError::invalid_field("strategy", message).into());
        }
    };
    let (queue, _) = engine.query(GetQueue(name.clone())).await?;
    if queue.num == 0 || queue.phase == QueuePhase::Deleted {
        return Err(OjsError::not_found("queue", &name).into());
    }
    let emptied = match target {
        Some(target) => empty(&engine, &name, target).await?,
        None => 0,
    };
    let moved = if strategy == "move" { "jobs_moved" } else { "jobs_discarded" };
    engine.execute(DeleteQueue(name.clone())).await.map_err(|refusal| after_emptying(refusal, moved, emptied))?;
    Ok(Json::ok(json!({"deleted": true, "name": name, "strategy": strategy, moved: emptied}).to_string()))
}

/// Takes out all that waits, in slices, so that a large queue does not delay other requests. The queue is closed first:
/// a job that starts meanwhile would keep the emptied queue from being deleted.
async fn empty(engine: &Engine, name: &str, target: Option<String>) -> Result<usize, Failure> {
    engine.execute(CloseQueue(name.to_owned())).await?;
    let mut emptied = 0;
    loop {
        let slice = engine.execute(EmptyQueue { queue: name.to_owned(), target: target.clone() }).await?;
        emptied += slice.jobs;
        if !slice.has_more {
            return Ok(emptied);
        }
    }
}

/// A refusal that says what has been done before it: another node may have handed out a job as the queue was closed.
fn after_emptying(refusal: Refusal, done: &str, jobs: usize) -> Refusal {
    let Refusal::Ojs(mut error) = refusal else { return refusal };
    if let Some(details) = error.details.as_mut().and_then(Value::as_object_mut).filter(|_| jobs > 0) {
        details.insert(done.to_owned(), json!(jobs));
        let hint = "The queue is paused and takes no jobs: delete it again when its active jobs have ended.";
        error.hint = Some(hint.to_owned());
    }
    Refusal::Ojs(error)
}

fn check_target(name: &str, target: Option<String>) -> Result<String, OjsError> {
    let target = target.ok_or_else(|| OjsError::invalid_field("target_queue", "target_queue is required with strategy move."))?;
    check_name(&target, "target_queue")?;
    if target == name || target == TEMPLATE {
        return Err(OjsError::invalid_field("target_queue", "target_queue must be another queue."));
    }
    Ok(target)
}

/// A queue's name, or the template's.
fn check_name(name: &str, field: &str) -> Result<(), OjsError> {
    if name == TEMPLATE {
        return Ok(());
    }
    envelope::check_queue(name).map_err(|mut error| {
        error.details = Some(json!({"field": field}));
        error
    })
}

/// Says that a fault lies in the configuration.
fn located(settings: Result<Map<String, Value>, OjsError>) -> Result<Map<String, Value>, OjsError> {
    settings.map_err(|mut error| {
        error.message = format!("config: {}", error.message);
        error
    })
}

/// The bounds of a queue under the names of the backpressure document; `null` without any.
pub fn backpressure(config: &QueueConfig) -> Value {
    if !config.is_bounded() {
        return Value::Null;
    }
    json!({
        "max_depth": config.bound(), "max_size_bytes": config.byte_bound(),
        "strategy": config.overflow_policy.unwrap_or_default().as_str(),
        "warning_threshold": config.warning_threshold.unwrap_or(WARNING_THRESHOLD),
    })
}

/// A queue in the forms of both documents: `queue` as an object, the same members beside it.
fn describe(queue: &QueueRow, counts: &Counts) -> Result<String, StoreError> {
    let created = (queue.created_at > 0).then(|| Timestamp::from_millis(queue.created_at).to_string());
    let settings = queue.settings()?;
    let (own, effective) = match &settings {
        Some(settings) => (settings.own.to_value(), settings.config.to_value()),
        None => Default::default(),
    };
    let bounds = settings.map_or(Value::Null, |settings| backpressure(&settings.config));
    let mut inner = by_state(counts);
    inner.insert("name".into(), json!(&*queue.name));
    inner.insert("status".into(), json!(phase_word(queue)));
    inner.insert("paused".into(), json!(queue.paused));
    Ok(json!({
        "queue": inner, "name": &*queue.name, "state": phase_word(queue), "status": phase_word(queue), "paused": queue.paused,
        "config": own, "effective_config": effective, "backpressure": bounds, "counts": by_state(counts), "created_at": created,
    })
    .to_string())
}
