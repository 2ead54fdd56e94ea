//! `/jobs/{id}/history`, `/jobs/{id}/lineage` and `/history` (extensions section 23).
use std::collections::{BTreeMap, HashSet};

use axum::extract::{Path, RawQuery, State};
use ojs_model::{ErrorCode, OjsError};
use serde_json::{Value, json};

use super::answer::Cursor;
use super::commands::{DeleteHistory, GetHistory, GetLineage, SearchHistory, Shown};
use super::search::Wanted;
use crate::engine::Engine;
use crate::features::queue_config::commands::FindQueue;
use crate::features::statistics::records::{HOUR, MINUTE, StatFilter, StatRow};
use crate::features::statistics::routes::read as figures;
use crate::http::caller::Asker;
use crate::http::operator::time;
use crate::http::page::stamp;
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, job_id};
use crate::http::terms::invalid;
use crate::kernel::event::{EventFilter, Place};
use crate::options::HistoryOptions;

/// Largest page of events.
const MAX_PAGE: usize = 1000;
/// Most buckets of figures.
const MAX_BUCKETS: i64 = 1_440;

/// `GET /jobs/{id}/history?limit&cursor`.
pub async fn get(
    State(engine): State<Engine>,
    asker: Asker,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json, Failure> {
    let id = job_id("job", &id)?;
    let params = Params::parse(query.as_deref())?;
    let limit = params.limit(MAX_PAGE)?;
    let after = params.get("cursor").map(|text| {
        let message = format!("cursor must be the next_cursor of the page before, got '{text}'.");
        let wrong = || OjsError::new(ErrorCode::InvalidRequest, message).with_details(json!({"field": "cursor"}));
        Cursor::parse(text).ok_or_else(wrong)
    });
    let after = after.transpose()?;
    asker.check_sees(&engine, id).await?;
    Ok(Json::ok(engine.query(GetHistory(id, kept(&engine)?)).await?.page(after, limit)))
}

/// Which events the options of the server allow in a history.
fn kept(engine: &Engine) -> Result<Shown, OjsError> {
    let HistoryOptions { enabled, retention, max_events } = engine.options().history;
    if !enabled {
        let error = OjsError::new(ErrorCode::Unsupported, "Histories are switched off on this server.");
        return Err(error.with_hint("An operator switches them on: OJS_HISTORY_ENABLED=true."));
    }
    let back = i64::try_from(retention.as_millis()).unwrap_or(i64::MAX);
    Ok(Shown { since: engine.now().as_millis().saturating_sub(back), most: max_events })
}

/// `DELETE /jobs/{id}/history`: the job stays as it is.
pub async fn delete(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    let id = job_id("job", &id)?;
    let events = engine.execute(DeleteHistory(id, kept(&engine)?)).await?;
    Ok(Json::ok(json!({"deleted": true, "job_id": id.to_string(), "events_deleted": events}).to_string()))
}

/// `GET /history/stats?start&end&queues&group_by=minute|hour|day`: what happened, by periods, the oldest first.
pub async fn stats(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let since = kept(&engine)?.since;
    let params = Params::parse(query.as_deref())?;
    if params.get("job_types").is_some() {
        return Err(not_kept("job_types", "Figures are kept by queue, not by job type.", "Use queues.").into());
    }
    let group = params.get("group_by").unwrap_or("hour");
    let (length, back) = match group {
        "minute" => (MINUTE, HOUR),
        "hour" => (HOUR, 24 * HOUR),
        "day" => (24 * HOUR, 30 * 24 * HOUR),
        other => return Err(invalid("group_by", format!("group_by must be minute, hour or day, got '{other}'.")).into()),
    };
    let until = time(&params, "end")?.unwrap_or_else(|| engine.now().as_millis().saturating_add(1));
    let start = time(&params, "start")?.unwrap_or_else(|| until.saturating_sub(back)).max(since);
    let start = start - start.rem_euclid(length);
    if until.saturating_sub(start) / length > MAX_BUCKETS {
        let message = format!("start and end are more than {MAX_BUCKETS} times one {group} apart: choose a larger group_by.");
        return Err(invalid("start", message).into());
    }
    let mut queues = HashSet::new();
    for name in params.list("queues") {
        queues.insert(engine.query(FindQueue(name)).await?.0.num);
    }
    let mut buckets: BTreeMap<i64, StatRow> = BTreeMap::new();
    for row in figures(&engine, StatFilter { since: start, until, queue: None }).await? {
        if queues.is_empty() || queues.contains(&row.queue) {
            let at = row.at - row.at.rem_euclid(length);
            buckets.entry(at).or_insert_with(|| StatRow::new(at, length, 0, 0)).merge(&row);
        }
    }
    let buckets: Vec<Value> = buckets.values().map(bucket).collect();
    Ok(Json::ok(json!({"group_by": group, "start": stamp(start), "end": stamp(until), "buckets": buckets}).to_string()))
}

fn bucket(row: &StatRow) -> Value {
    json!({
        "timestamp": stamp(row.at),
        "events": {
            "job.created": row.enqueued, "job.attempt_completed": row.completed, "job.attempt_failed": row.failed,
            "job.discarded": row.discarded,
        },
        "avg_duration_ms": row.run.mean(),
        "p95_duration_ms": row.run.percentile(0.95),
    })
}

/// 501 for what the specification calls optional and this server does not keep.
fn not_kept(field: &str, message: &str, hint: &str) -> OjsError {
    let mut error = OjsError::new(ErrorCode::Unsupported, message).with_details(json!({"field": field})).with_hint(hint);
    error.status = 501;
    error
}

/// Commits that one request looks at: a narrow search over a long log goes on with the next page.
const SCAN: usize = 2048;

/// `GET /history?start&end&event_types&queues&job_types&actor_type&limit&cursor`: the newest first.
pub async fn search(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let since = kept(&engine)?.since;
    let params = Params::parse(query.as_deref())?;
    if params.get("query").is_some() {
        let message = "This server does not search the texts of histories.";
        return Err(not_kept("query", message, "Search by event_types, queues and job_types.").into());
    }
    let asked = params.number("limit", 50, usize::MAX)?;
    let actor = params.get("actor_type").map(str::to_owned);
    if actor.as_deref().is_some_and(|actor| !matches!(actor, "worker" | "client" | "system" | "user")) {
        return Err(invalid("actor_type", "actor_type must be worker, client, system or user.".to_owned()).into());
    }
    let before = params.get("cursor").map(|text| {
        let message = format!("cursor must be the next_cursor of the page before, got '{text}'.");
        Place::parse(text).ok_or_else(|| invalid("cursor", message))
    });
    let filter = EventFilter {
        queues: params.list("queues"),
        job_types: params.list("job_types"),
        limit: asked.clamp(1, MAX_PAGE),
        scan: SCAN,
        ..EventFilter::default()
    };
    let (start, end) = (time(&params, "start")?.unwrap_or(0).max(since), time(&params, "end")?.unwrap_or(i64::MAX));
    let wanted = Wanted { types: params.list("event_types"), actor, start, end };
    let (events, next) = engine.query(SearchHistory { filter, wanted, before: before.transpose()? }).await?;
    // Nothing is counted: the number is known when this is all.
    let total = (next.is_none() && params.get("cursor").is_none()).then_some(events.len());
    let body = json!({"events": events, "next_cursor": next.map(Place::cursor), "total_estimate": total});
    let answer = Json::ok(body.to_string());
    Ok(if asked > MAX_PAGE { answer.with_header("x-ojs-limit-clamped", "true") } else { answer })
}

/// `GET /jobs/{id}/lineage`.
pub async fn lineage(State(engine): State<Engine>, asker: Asker, Path(id): Path<String>) -> Result<Json, Failure> {
    let id = job_id("job", &id)?;
    asker.check_sees(&engine, id).await?;
    Ok(Json::ok(engine.query(GetLineage(id)).await?.text()))
}
