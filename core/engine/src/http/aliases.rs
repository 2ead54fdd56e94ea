//! Calls under the names that some clients have for them: the job's id in the path instead of the body (dialects, section E.4).
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use ojs_model::json::{push_member, push_text};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use crate::engine::Engine;
use crate::http::reply::{Failure, Json};
use crate::http::request::{job_id, parse, read_body};
use crate::http::workers;

/// `POST /jobs/{id}/ack`
pub async fn ack(state: State<Engine>, Path(id): Path<String>, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    let body = named(&id, &headers, body).await?;
    workers::ack(state, headers, body).await
}

/// `POST /jobs/{id}/nack`
pub async fn nack(state: State<Engine>, Path(id): Path<String>, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    let body = named(&id, &headers, body).await?;
    workers::nack(state, headers, body).await
}

/// The body with the id of the path in it.
async fn named(id: &str, headers: &HeaderMap, body: Body) -> Result<Body, Failure> {
    let id = job_id("job", id)?;
    let body = read_body(headers, body).await?;
    // The values stay as they were sent: a result may hold numbers that no float can.
    let raw: BTreeMap<String, &RawValue> = parse(&body)?;
    let mut out = String::from("{");
    push_text(&mut out, "job_id", &id.to_string());
    for (name, value) in raw.iter().filter(|(name, _)| *name != "job_id") {
        push_member(&mut out, name, value.get());
    }
    out.push('}');
    Ok(Body::from(out))
}
