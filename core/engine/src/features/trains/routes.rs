//! `/trains`: which trains there are, and the hold of one (extensions section 30.4).
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use ojs_model::{ErrorCode, JobId, OjsError, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::features::trains::commands::{AdvanceTrain, GetTrain, HoldTrain, ListTrains};
use crate::features::trains::records::{TrainRow, TrainState, TrainView};
use crate::http::caller::Asker;
use crate::http::page::pagination;
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, parse, read_body};

/// Largest page of trains (protocol section 3.10).
const MAX_PAGE: usize = 200;
/// Largest page of the jobs of a train.
const MAX_CARS: usize = 1000;
/// Who holds or advances a train on a server without keys.
const ANYONE: &str = "operator";

#[derive(Deserialize)]
struct Advance {
    job_id: Option<String>,
    confirm: Option<bool>,
}

/// `GET /trains?state&limit&offset`
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let (limit, offset) = params.page(MAX_PAGE)?;
    let state = state(&params)?;
    let (trains, total) = engine.query(ListTrains { state, limit, offset, behind: None }).await?;
    let trains: Vec<Value> = trains.iter().map(|(row, cars)| outline(row, *cars)).collect();
    let page = pagination(total, limit, offset);
    Ok(Json::ok(json!({"trains": trains, "count": total, "pagination": page}).to_string()))
}

/// `GET /trains/{id}?limit&after`
pub async fn get(State(engine): State<Engine>, Path(id): Path<String>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let limit = params.number("limit", 100, MAX_CARS)?.max(1);
    let after = i64::try_from(params.number("after", 0, usize::MAX)?).unwrap_or(i64::MAX);
    let view = engine.query(GetTrain { id, after, limit }).await?;
    Ok(Json::ok(describe(&view).to_string()))
}

/// `POST /trains/{id}/advance`
pub async fn advance(
    State(engine): State<Engine>,
    asker: Asker,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json, Failure> {
    let body = read_body(&headers, body).await?;
    let asked: Advance = parse(&body)?;
    if asked.confirm != Some(true) {
        let message = "confirm must be true: the job that holds the train leaves it, and the next one runs.";
        return Err(invalid("confirm", message).into());
    }
    let job: Option<Result<JobId, _>> = asked.job_id.as_deref().map(str::parse);
    let job = job.transpose().map_err(|_| invalid("job_id", "job_id must be the id of a job, a lowercase UUIDv7."))?;
    let advance = AdvanceTrain { id, job, by: named(asker) };
    Ok(Json::ok(describe(&engine.execute(advance).await?).to_string()))
}

/// `POST /trains/{id}/hold`
pub async fn hold(State(engine): State<Engine>, asker: Asker, Path(id): Path<String>) -> Result<Json, Failure> {
    let hold = HoldTrain { id, by: named(asker) };
    Ok(Json::ok(describe(&engine.execute(hold).await?).to_string()))
}

/// `state` of a list.
pub(super) fn state(params: &Params) -> Result<Option<TrainState>, OjsError> {
    let Some(word) = params.get("state") else { return Ok(None) };
    let fault = || invalid("state", "state must be running, draining or held.");
    TrainState::from_word(word).map(Some).ok_or_else(fault)
}

fn named(asker: Asker) -> String {
    asker.key.unwrap_or_else(|| ANYONE.to_owned())
}

fn invalid(field: &str, message: &str) -> OjsError {
    OjsError::new(ErrorCode::InvalidRequest, message).with_details(json!({"field": field}))
}

/// A train without its jobs.
pub(super) fn outline(row: &TrainRow, cars: usize) -> Value {
    let mut object = json!({
        "id": &*row.id, "state": row.state.as_str(), "locomotive": row.locomotive.map(|job| job.to_string()), "length": cars,
    });
    if let (TrainState::Held, Some(members)) = (row.state, object.as_object_mut()) {
        members.insert("held_since".into(), json!(Timestamp::from_millis(row.held_at).to_string()));
        members.insert("held_by".into(), json!(row.held_by));
    }
    object
}

fn describe(view: &TrainView) -> Value {
    let mut object = outline(&view.row, view.total);
    let cars: Vec<Value> = view
        .cars
        .iter()
        .map(|(car, state)| json!({"job_id": car.job.to_string(), "position": car.position, "state": state.map(|s| s.as_str())}))
        .collect();
    if let Some(members) = object.as_object_mut() {
        members.insert("cars".into(), cars.into());
    }
    object
}
