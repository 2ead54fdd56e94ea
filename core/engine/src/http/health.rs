//! How the server is: `/health` for people and monitors, `/ready` for load balancers.
use std::time::Instant;

use axum::extract::State;
use axum::http::StatusCode;
use ojs_model::SPEC_VERSION;
use serde_json::{Value, json};

use super::reply::Json;
use crate::admin::{AdminQuery, AdminReply};
use crate::command::{Query, Reply};
use crate::engine::Engine;

/// `GET /ojs/v1/health`, `GET /health`: 503 when the store does not answer.
pub async fn health(State(engine): State<Engine>) -> Json {
    let started = Instant::now();
    let now = engine.now().as_millis();
    let answered = engine.query(Query::Admin(AdminQuery::Gauges { now })).await;
    let latency = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut body = json!({"version": SPEC_VERSION, "uptime_seconds": engine.uptime().as_secs()});
    let (status, word, backend) = match &answered {
        Ok(_) => {
            let mut backend = json!({"type": engine.store_name(), "status": "ok", "latency_ms": latency});
            if let (Some(object), Some(identity)) = (backend.as_object_mut(), engine.store_identity()) {
                // An adapter whose own database answers the same inserts jobs in the application's transaction.
                object.insert("id".into(), json!(identity));
            }
            (StatusCode::OK, "ok", backend)
        }
        Err(refusal) => {
            tracing::error!(?refusal, "health");
            let error = "the store does not answer; see the server's log";
            let backend = json!({"type": engine.store_name(), "status": "unhealthy", "error": error});
            (StatusCode::SERVICE_UNAVAILABLE, "degraded", backend)
        }
    };
    if let Some(object) = body.as_object_mut() {
        object.insert("status".into(), json!(word));
        object.insert("backend".into(), backend);
        object.extend(figures(answered.ok()));
    }
    Json::with_status(status, body.to_string())
}

/// Queues and workers, when the store has told.
fn figures(reply: Option<Reply>) -> Vec<(String, Value)> {
    let Some(Reply::Admin(reply)) = reply else { return Vec::new() };
    let AdminReply::Gauges(gauges) = *reply else { return Vec::new() };
    let paused = gauges.queues.iter().filter(|(queue, _)| queue.paused).count();
    vec![
        ("queues".to_owned(), json!({"active": gauges.queues.len() - paused, "paused": paused})),
        ("workers".to_owned(), json!({"connected": gauges.workers.saturating_sub(gauges.stale), "stale": gauges.stale})),
    ]
}

/// `GET /ready`: 503 while the server drains or its store does not answer.
pub async fn ready(State(engine): State<Engine>) -> Json {
    let (status, word) = if engine.is_stopping() {
        (StatusCode::SERVICE_UNAVAILABLE, "draining")
    } else if engine.query(Query::Ping).await.is_err() {
        (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
    } else {
        (StatusCode::OK, "ready")
    };
    Json::with_status(status, json!({"status": word}).to_string())
}
