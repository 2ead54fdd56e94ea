//! `/admin/dead-letter`: the pages and answers that admin tools expect, over the same rules as `/dead-letter`.
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use ojs_model::json::push_member;
use serde_json::json;

use crate::engine::Engine;
use crate::features::dead_letters::commands::{DeleteDeadLetter, ListDead};
use crate::features::dead_letters::routes::{filter, has_more};
use crate::http::operator::Paging;
use crate::http::page::cursor;
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, job_id};
use crate::kernel::render;
use crate::store::listing::LOOK;
use crate::store::rows::DeadFilter;

/// `GET /admin/dead-letter?queue&type&error_type&since&until&page&per_page`: newest first.
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let paging = Paging::of(&params)?;
    let behind = params.get("cursor").map(cursor).transpose()?;
    let offset = if behind.is_some() { 0 } else { paging.offset() };
    let filter = DeadFilter { look: LOOK, limit: paging.per_page, offset, behind, ..filter(&params)? };
    let page = engine.query(ListDead(filter)).await?;
    let mut out = String::from("{\"items\":");
    render::list(&mut out, &page.jobs, render::job);
    let mut pagination = paging.object(page.total);
    if let Some(object) = pagination.as_object_mut() {
        let (more, next) = (has_more(&page, offset), page.next.map(|place| place.to_string()));
        object.extend([("has_more".to_owned(), json!(more)), ("next_cursor".to_owned(), json!(next))]);
        object.extend(page.relation());
    }
    push_member(&mut out, "pagination", &pagination.to_string());
    out.push('}');
    Ok(Json::ok(out))
}

/// `DELETE /admin/dead-letter/{id}`: 204.
pub async fn delete(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    engine.execute(DeleteDeadLetter(job_id("dead letter", &id)?)).await?;
    Ok(Json::with_status(StatusCode::NO_CONTENT, String::new()))
}
