//! `/push/endpoints`: endpoints of push delivery (extensions section 17).
use std::time::Instant;

use axum::extract::{Path, RawQuery, State};
use ojs_model::JobId;
use serde_json::{Map, Value, json};

use super::commands::{ChangeEndpoint, CreateEndpoint, DeleteEndpoint, GetEndpoint, ListEndpoints, rotation};
use super::delivery::{body, delivery_id, post};
use super::health::Sign;
use super::records::EndpointRow;
use super::register::{Reach, apply, blank, described, endpoint_id, secret};
use super::sqs::{Judgement, QueueAddress};
use super::trial::{Trial, trial_job};
use crate::engine::Engine;
use crate::http::call::Call;
use crate::http::page::pagination;
use crate::http::reply::{Failure, Json};
use crate::http::request::Params;
use crate::outgoing::Secret;
use crate::outgoing::input::{check_build, not_null, required, secret_is_rotated};

/// Largest page.
const MAX_PAGE: usize = 200;

type Members = Map<String, Value>;

/// `POST /push/endpoints`.
pub async fn create(State(engine): State<Engine>, call: Call) -> Result<Json, Failure> {
    check_build("push delivery")?;
    let members: Members = call.parse()?;
    required(&members, &[("endpoint", "https://example.com/path"), ("job_types", "a list")])?;
    let mut row = blank(secret(&members)?, engine.now());
    apply(&mut row, &members, &Reach::of(engine.outgoing()))?;
    let row = engine.execute(CreateEndpoint(row)).await?;
    let shown = wrapped(&engine, &row, true);
    let location = format!("/ojs/v1/push/endpoints/{}", super::register::wire_id(row.id));
    Ok(Json::created(shown, Some(location)))
}

/// `GET /push/endpoints`.
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let (limit, offset) = Params::parse(query.as_deref())?.page(MAX_PAGE)?;
    let (rows, total) = engine.query(ListEndpoints { skip: offset, limit }).await?;
    let now = engine.now().as_millis();
    let page: Vec<Value> = rows.iter().map(|row| described(row, now, false)).collect();
    Ok(Json::ok(json!({"endpoints": page, "pagination": pagination(total, limit, offset)}).to_string()))
}

/// `GET /push/endpoints/{id}`.
pub async fn get(State(engine): State<Engine>, Path(text): Path<String>) -> Result<Json, Failure> {
    let row = engine.query(GetEndpoint(endpoint_id(&text)?)).await?;
    Ok(Json::ok(wrapped(&engine, &row, false)))
}

/// `PATCH /push/endpoints/{id}`. An endpoint that failures have disabled is sent jobs again.
pub async fn change(State(engine): State<Engine>, Path(text): Path<String>, call: Call) -> Result<Json, Failure> {
    let members: Members = call.parse()?;
    let id = endpoint_id(&text)?;
    if members.get("config").and_then(|config| config.get("signing_secret")).is_some() {
        return Err(secret_is_rotated("config.signing_secret").into());
    }
    not_null(&members, &["endpoint", "job_types", "active"])?;
    let reach = Reach::of(engine.outgoing());
    let change = move |row: &mut EndpointRow, _: i64| apply(row, &members, &reach);
    let row = engine.execute(ChangeEndpoint { id, change }).await?;
    Ok(Json::ok(wrapped(&engine, &row, false)))
}

/// `DELETE /push/endpoints/{id}`.
pub async fn delete(State(engine): State<Engine>, Path(text): Path<String>) -> Result<Json, Failure> {
    engine.execute(DeleteEndpoint(endpoint_id(&text)?)).await?;
    Ok(Json::ok(json!({"deleted": true, "id": text}).to_string()))
}

/// `POST /push/endpoints/{id}/rotate-secret`.
pub async fn rotate(State(engine): State<Engine>, Path(text): Path<String>, call: Call) -> Result<Json, Failure> {
    let members: Members = call.parse()?;
    let secret = Secret::given_or_new("signing_secret", members.get("signing_secret"))?;
    let row = engine.execute(rotation(endpoint_id(&text)?, secret)).await?;
    Ok(Json::ok(wrapped(&engine, &row, true)))
}

/// `POST /push/endpoints/{id}/test`. A job of the type `push.test` is sent once, by this node; it is stored nowhere.
pub async fn test(State(engine): State<Engine>, Path(text): Path<String>) -> Result<Json, Failure> {
    let row = engine.query(GetEndpoint(endpoint_id(&text)?)).await?;
    let (now, job) = (engine.now(), JobId::now_v7());
    let id = delivery_id(now, 0);
    let (trial, queue) = (trial_job(job, &row), QueueAddress::stored(&row.endpoint));
    let post = match &queue {
        Some(queue) => super::sqs::trial(queue, &job.to_string(), &id, trial),
        None => {
            let text = body(&row, &id, trial.len(), |text| text.push_str(&trial));
            post(&row, &id, job, text, now)
        }
    };
    let began = Instant::now();
    let came = engine.outgoing().post(post).await;
    let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let Trial { outcome, explanation, sign } = match queue {
        Some(_) => Trial::queued(Judgement::of(&came, 1)),
        None => Trial::of(&came, row.retry_429),
    };
    let (status, answer, error) = match came {
        Ok(answer) => (Some(answer.status), Some(answer.body.chars().take(1_024).collect::<String>()), None),
        Err(fault) => (None, None, Some(fault.to_string())),
    };
    let body = json!({
        "success": sign == Sign::Answered && status.is_some_and(|status| (200..300).contains(&status)), "outcome": outcome,
        "explanation": explanation, "status_code": status, "response_time_ms": took, "response_body": answer, "error": error,
        "delivery_id": id,
    });
    Ok(Json::ok(body.to_string()))
}

/// The endpoint in a member, and its members beside it: the document prints them at the top.
fn wrapped(engine: &Engine, row: &EndpointRow, with_secret: bool) -> String {
    let mut shown = described(row, engine.now().as_millis(), with_secret);
    let copy = shown.clone();
    if let Some(members) = shown.as_object_mut() {
        members.insert("push_endpoint".to_owned(), copy);
    }
    shown.to_string()
}
