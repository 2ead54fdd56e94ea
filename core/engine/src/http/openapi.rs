//! The OpenAPI document, which is made from xtask/operations.
use ojs_model::{ErrorCode, JobState, SPEC_VERSION};
use serde_json::json;

use crate::http::reply::Json;

/// The document as `make gen` writes it.
const DOCUMENT: &str = include_str!("openapi.json");

/// `GET /openapi.json`
pub async fn document() -> Json {
    let codes: Vec<&str> = ErrorCode::CATALOGUE.iter().map(|entry| entry.wire).collect();
    let states = JobState::ALL.map(JobState::as_str);
    let text = DOCUMENT
        // With its quotes: paths have a parameter of the same name.
        .replace("\"{version}\"", &json!(env!("CARGO_PKG_VERSION")).to_string())
        .replace("{specification}", SPEC_VERSION)
        .replace("\"{codes}\"", &json!(codes).to_string())
        .replace("\"{states}\"", &json!(states).to_string());
    Json::ok(text)
}
