//! `/admin/queues`: all queues with their counts, one with its configuration, and the brake.
use axum::extract::{Path, RawQuery, State};
use ojs_model::envelope;
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::error::StoreError;
use crate::features::queue_config::commands::{CountQueues, FindQueue, SetPaused};
use crate::features::queue_config::records::QueueConfig;
use crate::features::queue_config::routes::backpressure;
use crate::features::statistics::records::{Pace, StatRow};
use crate::features::statistics::routes::{percentiles, recent, throughput};
use crate::http::operator::Paging;
use crate::http::page::{by_state, stamp};
use crate::http::reply::{Failure, Json};
use crate::http::request::Params;
use crate::store::rows::{Counts, QueueRow};

/// `GET /admin/queues?page&per_page&cursor`
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let paging = Paging::of(&params)?;
    let (queues, pagination) = paging.of_all(&params, engine.query(CountQueues).await?, |(queue, _)| &queue.name)?;
    let now = engine.now().as_millis();
    let rows = recent(&engine).await?;
    let described = |(queue, counts): &(QueueRow, Counts)| Value::from(item(queue, counts, &pace(&rows, queue.num, now)));
    let items: Vec<Value> = queues.iter().map(described).collect();
    Ok(Json::ok(json!({"items": items, "pagination": pagination}).to_string()))
}

/// `GET /admin/queues/{name}`
pub async fn get(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    envelope::check_queue(&name)?;
    let (queue, counts, oldest) = engine.query(FindQueue(name)).await?;
    let rows = recent(&engine).await?;
    let mut object = item(&queue, &counts, &pace(&rows, queue.num, engine.now().as_millis()));
    object.insert("oldest_available_at".into(), stamp(oldest.unwrap_or(0)));
    object.insert("configuration".into(), configuration(&queue)?);
    Ok(Json::ok(Value::from(object).to_string()))
}

/// The settings in force. Those that the admin document names are always there, `null` when they are not set.
fn configuration(queue: &QueueRow) -> Result<Value, StoreError> {
    let settings = queue.settings()?;
    let config = settings.as_ref().map(|settings| &settings.config);
    let mut members = config.map(QueueConfig::to_value).unwrap_or_default();
    for name in ["concurrency", "rate_limit", "retention"] {
        members.entry(name).or_insert(Value::Null);
    }
    members.insert("backpressure".into(), config.map_or(Value::Null, backpressure));
    Ok(members.into())
}

fn pace(rows: &[StatRow], queue: i64, now: i64) -> Pace {
    Pace::of(rows.iter().filter(|row| row.queue == queue), now)
}

fn item(queue: &QueueRow, counts: &Counts, pace: &Pace) -> Map<String, Value> {
    let counts: Map<String, Value> = by_state(counts);
    Map::from_iter([
        ("name".to_owned(), json!(&*queue.name)),
        ("state".to_owned(), json!(crate::http::queues::status(queue))),
        ("paused".to_owned(), json!(queue.paused)),
        ("counts".to_owned(), Value::from(counts)),
        ("throughput".to_owned(), throughput(pace)),
        ("latency_ms".to_owned(), percentiles(&pace.run)),
        ("wait_ms".to_owned(), percentiles(&pace.wait)),
        ("created_at".to_owned(), stamp(queue.created_at)),
    ])
}

/// Counts under the names of their states.
pub async fn pause(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    switch(&engine, name, true).await
}

/// `POST /admin/queues/{name}/resume`
pub async fn resume(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    switch(&engine, name, false).await
}

async fn switch(engine: &Engine, name: String, paused: bool) -> Result<Json, Failure> {
    envelope::check_queue(&name)?;
    let (queue, _) = engine.execute(SetPaused { queue: name, paused }).await?;
    let at = if paused { "paused_at" } else { "resumed_at" };
    Ok(Json::ok(json!({"name": &*queue.name, "paused": queue.paused, at: engine.now().to_string()}).to_string()))
}
