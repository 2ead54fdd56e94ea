//! `/admin/workflows`: look for workflows.
use axum::extract::{RawQuery, State};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::features::workflows::commands::ListWorkflows;
use crate::features::workflows::records::{WorkflowFilter, WorkflowRow, WorkflowState};
use crate::http::operator::Paging;
use crate::http::page::{cursor, stamp};
use crate::http::reply::{Failure, Json};
use crate::http::request::Params;
use crate::http::terms::invalid;
use crate::store::listing::ListPlace;

/// `GET /admin/workflows?state&page&per_page&cursor`: newest first. A workflow inside another one is a step of it,
/// and not listed.
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let paging = Paging::of(&params)?;
    let known = |word: &str| {
        let fault =
            || invalid("state", format!("state cannot be '{word}': use pending, running, completed, failed or cancelled."));
        WorkflowState::from_word(word).ok_or_else(fault)
    };
    let state = params.get("state").map(known).transpose()?;
    let behind = params.get("cursor").map(cursor).transpose()?.map(|place| place.seq);
    let offset = if behind.is_some() { 0 } else { paging.offset() };
    let filter = WorkflowFilter { tenant: None, state, limit: paging.per_page, offset, behind };
    let (workflows, has_more) = engine.query(ListWorkflows(filter)).await?;
    let items: Vec<Value> = workflows.iter().map(item).collect();
    let next = workflows.last().filter(|_| has_more).map(|last| ListPlace { key: 0, seq: last.num }.to_string());
    let mut pagination = json!({"per_page": paging.per_page, "has_more": has_more, "next_cursor": next});
    if let (None, Some(object)) = (behind, pagination.as_object_mut()) {
        object.insert("page".into(), json!(paging.page));
    }
    Ok(Json::ok(json!({"items": items, "pagination": pagination}).to_string()))
}

/// A workflow without its steps.
fn item(row: &WorkflowRow) -> Value {
    json!({
        "id": row.id.to_string(), "type": row.shape.as_str(), "name": row.name, "state": row.state.as_str(),
        "steps_total": row.total, "steps_completed": row.completed, "created_at": stamp(row.created_at),
        "started_at": stamp(row.started_at), "completed_at": stamp(row.finished_at),
    })
}
