//! `/admin/dead-letter`: the pages and answers that admin tools expect, over the same rules as `/dead-letter`.
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use ojs_model::json::push_member;

use crate::engine::Engine;
use crate::features::dead_letters::commands::{DeleteDeadLetter, ListDead};
use crate::features::dead_letters::routes::filter;
use crate::http::operator::Paging;
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, job_id};
use crate::kernel::render;
use crate::store::rows::DeadFilter;

/// `GET /admin/dead-letter?queue&type&error_type&since&until&page&per_page`: newest first.
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let paging = Paging::of(&params)?;
    let filter = DeadFilter { limit: paging.per_page, offset: paging.offset(), ..filter(&params)? };
    let (jobs, total) = engine.query(ListDead(filter)).await?;
    let mut out = String::from("{\"items\":");
    render::list(&mut out, &jobs, render::job);
    push_member(&mut out, "pagination", &paging.object(total).to_string());
    out.push('}');
    Ok(Json::ok(out))
}

/// `DELETE /admin/dead-letter/{id}`: 204.
pub async fn delete(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    engine.execute(DeleteDeadLetter(job_id("dead letter", &id)?)).await?;
    Ok(Json::with_status(StatusCode::NO_CONTENT, String::new()))
}
