//! `/jobs/{id}/history` and `/jobs/{id}/lineage` (extensions section 23).
use axum::extract::{Path, RawQuery, State};
use ojs_model::{ErrorCode, OjsError};
use serde_json::json;

use super::answer::Cursor;
use super::commands::{GetHistory, GetLineage, SearchHistory};
use super::search::Wanted;
use crate::engine::Engine;
use crate::http::caller::Asker;
use crate::http::operator::time;
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, job_id};
use crate::http::terms::invalid;
use crate::kernel::event::{EventFilter, Place};

/// Largest page of events.
const MAX_PAGE: usize = 1000;

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
    Ok(Json::ok(engine.query(GetHistory(id)).await?.page(after, limit)))
}

/// Commits that one request looks at: a narrow search over a long log goes on with the next page.
const SCAN: usize = 2048;

/// `GET /history?start&end&event_types&queues&job_types&actor_type&limit&cursor`: the newest first.
pub async fn search(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    if params.get("query").is_some() {
        let mut error = OjsError::new(ErrorCode::Unsupported, "This server does not search the texts of histories.");
        error.status = 501;
        return Err(error
            .with_details(json!({"field": "query"}))
            .with_hint("Search by event_types, queues and job_types.")
            .into());
    }
    let asked = params.number("limit", 50, usize::MAX)?;
    let actor = params.get("actor_type").map(str::to_owned);
    if actor.as_deref().is_some_and(|actor| !matches!(actor, "worker" | "client" | "system")) {
        return Err(invalid("actor_type", "actor_type must be worker, client or system.".to_owned()).into());
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
    let (start, end) = (time(&params, "start")?.unwrap_or(0), time(&params, "end")?.unwrap_or(i64::MAX));
    let wanted = Wanted { types: params.list("event_types"), actor, start, end };
    let (events, next) = engine.query(SearchHistory { filter, wanted, before: before.transpose()? }).await?;
    // Nothing is counted: the number is known when this is all.
    let total = (next.is_none() && params.get("cursor").is_none()).then_some(events.len());
    let body = json!({"events": events, "next_cursor": next.map(Place::cursor), "total_estimate": total});
    let answer = Json::ok(body.to_string());
    Ok(if asked > MAX_PAGE { answer.with_header("x-ojs-limit-clamped", MAX_PAGE) } else { answer })
}

/// `GET /jobs/{id}/lineage`.
pub async fn lineage(State(engine): State<Engine>, asker: Asker, Path(id): Path<String>) -> Result<Json, Failure> {
    let id = job_id("job", &id)?;
    asker.check_sees(&engine, id).await?;
    Ok(Json::ok(engine.query(GetLineage(id)).await?.text()))
}
