//! `/admin/trains`: the list as the admin plane pages it. The other paths there are answered by `routes`.
use axum::extract::{RawQuery, State};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::features::trains::commands::ListTrains;
use crate::features::trains::records::TrainState;
use crate::features::trains::routes::{outline, state};
use crate::http::operator::Paging;
use crate::http::reply::{Failure, Json};
use crate::http::request::Params;
use crate::http::terms::invalid;

/// `GET /admin/trains?state&page&per_page&cursor`
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let paging = Paging::of(&params)?;
    let state = state(&params)?;
    let (behind, offset) = paging.start(&params)?;
    if behind.is_some() && state == Some(TrainState::Held) {
        return Err(invalid("cursor", "held trains are in the order in which they were held: ask for them by page.").into());
    }
    let (trains, total) = engine.query(ListTrains { state, limit: paging.per_page + 1, offset, behind }).await?;
    let (trains, mut pagination) = paging.of_names(trains, total, |(row, _)| &row.id);
    if state == Some(TrainState::Held) {
        pagination = paging.object(total);
    }
    let items: Vec<Value> = trains.iter().map(|(row, cars)| outline(row, *cars)).collect();
    Ok(Json::ok(json!({"items": items, "pagination": pagination}).to_string()))
}
