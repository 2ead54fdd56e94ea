//! How the server is: `/health` for people and monitors, `/ready` for load balancers.
use std::time::Instant;

use axum::extract::State;
use axum::http::StatusCode;
use ojs_model::SPEC_VERSION;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::features::admin::commands::ReadGauges;
use crate::features::admin::records::Gauges;
use crate::http::reply::Json;
use crate::kernel::query::Ping;
use crate::store::seam::Finding;

/// `GET /ojs/v1/health`, `GET /health`: 503 when the store does not answer.
pub async fn health(State(engine): State<Engine>) -> Json {
    let started = Instant::now();
    let now = engine.now().as_millis();
    let answered = engine.query(ReadGauges { now }).await;
    let answered = match engine.probe().await {
        Ok(()) => answered,
        Err(fault) => Err(fault.into()),
    };
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
            let error = refusal.clone().into_error().map_or_else(|fault| fault.to_string(), |error| error.message);
            let backend = json!({"type": engine.store_name(), "status": "unhealthy", "error": error});
            (StatusCode::SERVICE_UNAVAILABLE, "degraded", backend)
        }
    };
    let mut backend = backend;
    if let (Some(object), Some(finding)) = (backend.as_object_mut(), engine.finding()) {
        object.insert("check".into(), check(&finding));
    }
    if let Some(object) = body.as_object_mut() {
        object.insert("status".into(), json!(word));
        object.insert("backend".into(), backend);
        object.extend(figures(answered.ok()));
    }
    Json::with_status(status, body.to_string())
}

/// What the look through the file has found that began after an unclean end.
fn check(finding: &Finding) -> Value {
    match finding {
        Finding::Running => json!({"status": "running"}),
        Finding::Sound => json!({"status": "ok"}),
        Finding::Damaged(what) => json!({"status": "damaged", "error": what}),
        Finding::Unfinished(why) => json!({"status": "unfinished", "error": why}),
    }
}

/// Queues and workers, when the store has answered.
fn figures(gauges: Option<Gauges>) -> Vec<(String, Value)> {
    let Some(gauges) = gauges else { return Vec::new() };
    let paused = gauges.queues.iter().filter(|(queue, _)| queue.paused).count();
    vec![
        ("queues".to_owned(), json!({"active": gauges.queues.len() - paused, "paused": paused})),
        ("workers".to_owned(), json!({"connected": gauges.workers.saturating_sub(gauges.stale), "stale": gauges.stale})),
    ]
}

/// `GET /ready`: 503 while the server drains, its store does not answer, or nothing can be confirmed; then with the reason.
pub async fn ready(State(engine): State<Engine>) -> Json {
    if engine.is_stopping() {
        return Json::with_status(StatusCode::SERVICE_UNAVAILABLE, json!({"status": "draining"}).to_string());
    }
    let reason = match (engine.query(Ping).await, engine.probe().await) {
        (Ok(_), Ok(())) => return Json::ok(json!({"status": "ready"}).to_string()),
        (_, Err(fault)) => fault.to_string(),
        (Err(refusal), _) => refusal.into_error().map_or_else(|fault| fault.to_string(), |error| error.message),
    };
    Json::with_status(StatusCode::SERVICE_UNAVAILABLE, json!({"status": "unavailable", "reason": reason}).to_string())
}
