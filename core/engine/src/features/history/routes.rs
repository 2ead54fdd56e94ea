//! `/jobs/{id}/history` and `/jobs/{id}/lineage` (extensions section 23).
use axum::extract::{Path, RawQuery, State};
use ojs_model::{ErrorCode, OjsError};
use serde_json::json;

use super::answer::Cursor;
use super::commands::{GetHistory, GetLineage};
use crate::engine::Engine;
use crate::http::caller::Asker;
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, job_id};

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
    let limit = params.number("limit", 50, MAX_PAGE)?.max(1);
    let after = params.get("cursor").map(|text| {
        let message = format!("cursor must be the next_cursor of the page before, got '{text}'.");
        let wrong = || OjsError::new(ErrorCode::InvalidRequest, message).with_details(json!({"field": "cursor"}));
        Cursor::parse(text).ok_or_else(wrong)
    });
    let after = after.transpose()?;
    asker.check_sees(&engine, id).await?;
    Ok(Json::ok(engine.query(GetHistory(id)).await?.page(after, limit)))
}

/// `GET /jobs/{id}/lineage`.
pub async fn lineage(State(engine): State<Engine>, asker: Asker, Path(id): Path<String>) -> Result<Json, Failure> {
    let id = job_id("job", &id)?;
    asker.check_sees(&engine, id).await?;
    Ok(Json::ok(engine.query(GetLineage(id)).await?.text()))
}
