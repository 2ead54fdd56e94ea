//! `/admin/stats`: the whole in figures, now and over time.
use std::collections::BTreeMap;

use axum::extract::{RawQuery, State};
use ojs_model::OjsError;
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::features::admin::commands::ReadGauges;
use crate::features::queue_config::commands::FindQueue;
use crate::features::statistics::commands::ReadStats;
use crate::features::statistics::records::{HOUR, MINUTE, Pace, Spread, StatFilter, StatRow};
use crate::features::statistics::types::ReadTypes;
use crate::http::operator::time;
use crate::http::page::stamp;
use crate::http::reply::{Failure, Json};
use crate::http::request::Params;
use crate::http::terms::invalid;
use crate::store::rows::Counts;

/// Most points of a history.
const MAX_POINTS: i64 = 1_440;

/// `GET /admin/stats`
pub async fn now(State(engine): State<Engine>) -> Result<Json, Failure> {
    let now = engine.now().as_millis();
    let gauges = engine.query(ReadGauges { now }).await?;
    let mut total = Counts::default();
    for (_, counts) in &gauges.queues {
        total.iter_mut().zip(counts).for_each(|(sum, jobs)| *sum += jobs);
    }
    let rows = recent(&engine).await?;
    let pace = Pace::of(&rows, now);
    let body = json!({
        "queues": gauges.queues.len(), "workers": gauges.workers, "jobs": crate::http::page::by_state(&total),
        "dead_letters": gauges.dead, "throughput": throughput(&pace), "latency_ms": percentiles(&pace.run),
        "wait_ms": percentiles(&pace.wait), "uptime_seconds": engine.uptime().as_secs(),
    });
    Ok(Json::ok(body.to_string()))
}

/// `GET /admin/stats/history?period=1m|5m|1h|1d&queue&since&until`: oldest first, empty periods left out.
pub async fn history(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let now = engine.now().as_millis();
    let (period, length, back) = period(params.get("period").unwrap_or("1m"))?;
    let until = time(&params, "until")?.unwrap_or(now.saturating_add(1));
    let since = time(&params, "since")?.unwrap_or(until.saturating_sub(back));
    let since = since - since.rem_euclid(length);
    if until.saturating_sub(since) / length > MAX_POINTS {
        let message = format!("since and until are more than {MAX_POINTS} periods of {period} apart: choose a longer period.");
        return Err(invalid("since", message).into());
    }
    let queue = match params.get("queue") {
        Some(name) => Some(engine.query(FindQueue(name.to_owned())).await?.0.num),
        None => None,
    };
    let rows = read(&engine, StatFilter { since, until, queue }).await?;
    let mut points: BTreeMap<i64, StatRow> = BTreeMap::new();
    for row in &rows {
        let at = row.at - row.at.rem_euclid(length);
        points.entry(at).or_insert_with(|| StatRow::new(at, length, 0, 0)).merge(row);
    }
    let items: Vec<Value> = points.values().map(point).collect();
    Ok(Json::ok(json!({"period": period, "since": stamp(since), "until": stamp(until), "items": items}).to_string()))
}

/// Longest time that figures of types are summed up over.
const MAX_TYPE_SPAN: i64 = 7 * 24 * HOUR;
/// Most types in an answer.
const MAX_LISTED: usize = 200;

/// `GET /admin/stats/types?since&until&sort&limit`: what happened to the jobs of each type.
pub async fn types(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let until = time(&params, "until")?.unwrap_or_else(|| engine.now().as_millis().saturating_add(1));
    let since = time(&params, "since")?.unwrap_or_else(|| until.saturating_sub(HOUR));
    let since = since - since.rem_euclid(MINUTE);
    if until.saturating_sub(since) > MAX_TYPE_SPAN {
        return Err(invalid("since", "since and until are more than 7 days apart: ask for a shorter time.").into());
    }
    let sort = params.get("sort").unwrap_or("processed");
    let rank = rank(sort)?;
    let limit = params.number("limit", 50, MAX_LISTED)?.max(1);
    let unwritten = engine.metrics().unwritten_types();
    let mut found = engine.query(ReadTypes { since, until, unwritten }).await?;
    let total = found.len();
    found.sort_by(|(name, row), (other_name, other)| rank(other).total_cmp(&rank(row)).then_with(|| name.cmp(other_name)));
    let items: Vec<Value> = found.iter().take(limit).map(|(name, row)| of_type(name, row)).collect();
    let body = json!({
        "since": stamp(since), "until": stamp(until), "sort": sort, "total": total, "has_more": total > limit, "items": items,
    });
    Ok(Json::ok(body.to_string()))
}

fn of_type(name: &str, row: &StatRow) -> Value {
    json!({
        "type": name, "enqueued": row.enqueued, "processed": row.completed, "failed": row.failed, "discarded": row.discarded,
        "busy_ms": busy(row), "latency_ms": percentiles(&row.run), "wait_ms": percentiles(&row.wait),
    })
}

/// Time that workers have spent on completed attempts, as exact as the spread is.
fn busy(row: &StatRow) -> f64 {
    row.run.mean().map_or(0.0, |mean| (mean * row.run.count() as f64).round())
}

/// What the list is ordered by, the largest first.
fn rank(word: &str) -> Result<fn(&StatRow) -> f64, OjsError> {
    match word {
        "enqueued" => Ok(|row| row.enqueued as f64),
        "processed" => Ok(|row| row.completed as f64),
        "failed" => Ok(|row| row.failed as f64),
        "discarded" => Ok(|row| row.discarded as f64),
        "busy" => Ok(busy),
        "latency" => Ok(|row| row.run.percentile(0.95).unwrap_or(-1.0)),
        "wait" => Ok(|row| row.wait.percentile(0.95).unwrap_or(-1.0)),
        other => {
            let words = "enqueued, processed, failed, discarded, busy, latency or wait";
            Err(invalid("sort", format!("sort cannot be '{other}': use {words}.")))
        }
    }
}

/// Name and length of a period, and how far a history of it goes back by itself.
fn period(word: &str) -> Result<(&str, i64, i64), OjsError> {
    match word {
        "1m" => Ok((word, MINUTE, HOUR)),
        "5m" => Ok((word, 5 * MINUTE, 6 * HOUR)),
        "1h" => Ok((word, HOUR, 24 * HOUR)),
        "1d" => Ok((word, 24 * HOUR, 30 * 24 * HOUR)),
        other => Err(invalid("period", format!("period cannot be '{other}': use 1m, 5m, 1h or 1d."))),
    }
}

fn point(row: &StatRow) -> Value {
    json!({
        "timestamp": stamp(row.at), "enqueued": row.enqueued, "processed": row.completed, "failed": row.failed,
        "discarded": row.discarded, "latency_ms": percentiles(&row.run), "wait_ms": percentiles(&row.wait),
    })
}

/// The rows that [`Pace`] needs.
pub(crate) async fn recent(engine: &Engine) -> Result<Vec<StatRow>, Failure> {
    let now = engine.now().as_millis();
    read(engine, StatFilter { since: now.saturating_sub(Pace::BACK + MINUTE), until: now.saturating_add(1), queue: None }).await
}

/// Figures of all nodes, those included that are not written yet.
pub(crate) async fn read(engine: &Engine, filter: StatFilter) -> Result<Vec<StatRow>, Failure> {
    let mut rows = engine.query(ReadStats(filter)).await?;
    engine.metrics().correct(&mut rows, &filter);
    Ok(rows)
}

/// Jobs a minute.
pub(crate) fn throughput(pace: &Pace) -> Value {
    let rounded = |n: f64| (n * 10.0).round() / 10.0;
    json!({
        "enqueued_per_minute": rounded(pace.enqueued), "processed_per_minute": rounded(pace.completed),
        "failed_per_minute": rounded(pace.failed),
    })
}

/// Half, nearly all, all but the worst, and the mean; `null` when there are none.
pub(crate) fn percentiles(spread: &Spread) -> Value {
    let shares = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)].map(|(name, share)| (name, spread.percentile(share)));
    shares
        .into_iter()
        .chain([("mean", spread.mean())])
        .map(|(name, ms)| (name.to_owned(), json!(ms)))
        .collect::<Map<_, _>>()
        .into()
}
