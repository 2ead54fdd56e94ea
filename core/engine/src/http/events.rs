//! `/events`: the log, page by page.
use axum::extract::{RawQuery, State};
use ojs_model::json::{push_bare, push_text};
use ojs_model::{ErrorCode, OjsError};
use serde_json::json;

use super::jobs::unexpected;
use super::reply::{Failure, Json};
use super::request::Params;
use crate::command::{Query, Reply};
use crate::engine::Engine;
use crate::event::{EventFilter, Place};
use crate::render;

pub async fn poll(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let after = match params.get("after") {
        None => Place::default(),
        Some(text) => Place::parse(text).ok_or_else(|| {
            OjsError::new(
                ErrorCode::InvalidRequest,
                format!("after must be a cursor or an event id of this server, got '{text}'."),
            )
            .with_details(json!({"field": "after"}))
        })?,
    };
    let filter = EventFilter {
        after,
        types: params.list("types"),
        queues: params.list("queues"),
        job_types: params.list("job_types"),
        limit: params.number("limit", 100, 1000)?.max(1),
        ..EventFilter::default()
    };
    let (events, cursor, has_more) = match engine.query(Query::Events(filter)).await? {
        Reply::Events { events, cursor, has_more } => (events, cursor, has_more),
        other => return Err(unexpected(&other).into()),
    };
    let mut out = String::from("{\"events\":");
    render::list(&mut out, &events, |out, event| out.push_str(&event.render()));
    push_text(&mut out, "cursor", &cursor);
    push_bare(&mut out, "has_more", has_more);
    out.push('}');
    Ok(Json::ok(out))
}
