//! `/admin/trains`: the list as the admin plane pages it. The other paths there are answered by `routes`.
use axum::extract::{RawQuery, State};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::features::trains::commands::ListTrains;
use crate::features::trains::routes::{outline, state};
use crate::http::operator::Paging;
use crate::http::reply::{Failure, Json};
use crate::http::request::Params;

/// `GET /admin/trains?state&page&per_page`
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let paging = Paging::of(&params)?;
    let state = state(&params)?;
    let (limit, offset) = (paging.per_page, paging.offset());
    let (trains, total) = engine.query(ListTrains { state, limit, offset }).await?;
    let items: Vec<Value> = trains.iter().map(|(row, cars)| outline(row, *cars)).collect();
    Ok(Json::ok(json!({"items": items, "pagination": paging.object(total)}).to_string()))
}
