//! The HTTP binding (protocol section 3) as an axum router.
mod admin;
mod aliases;
mod crons;
mod dead_letters;
mod events;
mod frames;
mod health;
mod jobs;
mod manifest;
mod metrics;
mod queue_config;
mod queues;
mod reply;
mod request;
mod result_stream;
mod results;
mod sse;
mod streams;
mod workers;
mod workflows;

use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use ojs_model::{ErrorCode, OjsError};

use crate::command::Command;
use crate::engine::Engine;
use reply::{Failure, Json, finish};
use request::Incoming;

/// All routes, with uniform headers and error bodies.
pub fn router(engine: Engine) -> Router {
    let mut v1 = Router::new()
        .route("/health", get(health::health))
        .route("/jobs", post(jobs::enqueue))
        .route("/jobs/batch", post(jobs::enqueue_batch))
        .route("/jobs/{id}", get(jobs::get).patch(jobs::patch).delete(jobs::cancel))
        .route("/jobs/{id}/events", get(streams::job))
        .route("/jobs/{id}/activate", post(jobs::activate))
        .route("/jobs/{id}/result", get(results::get))
        .route("/jobs/{id}/result/stream", get(result_stream::open))
        .route("/jobs/{id}/ack", post(aliases::ack))
        .route("/jobs/{id}/nack", post(aliases::nack))
        .route("/jobs/{id}/cancel", post(jobs::cancel))
        .route("/jobs/fetch", post(workers::fetch))
        .route("/jobs/results", post(results::list))
        .route("/workers/fetch", post(workers::fetch))
        .route("/workers/ack", post(workers::ack))
        .route("/workers/nack", post(workers::nack))
        .route("/workers/heartbeat", post(workers::heartbeat))
        .route("/workers/beat", post(workers::heartbeat))
        .route("/workers/exchange", post(workers::exchange))
        .route("/workflows", post(workflows::create))
        .route("/workflows/{id}", get(workflows::get).delete(workflows::cancel))
        .route("/cron", get(crons::list).post(crons::put))
        .route("/cron/{name}", get(crons::get).patch(crons::switch).delete(crons::delete))
        .route("/queues", get(queues::list).post(queue_config::create))
        .route("/queues/{name}", get(queue_config::get).delete(queue_config::delete))
        .route("/queues/{name}/config", put(queue_config::configure))
        .route("/queues/{name}/drain", post(queues::drain))
        .route("/admin/queues/{name}/config", put(queue_config::configure))
        .route("/admin/queues/{name}/rate-limit", put(queue_config::rate_limit))
        .route("/queues/{name}/stats", get(queues::stats))
        .route("/queues/{name}/events", get(streams::queue))
        .route("/queues/{name}/pause", post(queues::pause))
        .route("/queues/{name}/resume", post(queues::resume))
        .route("/events", get(events::poll))
        .route("/events/stream", get(streams::all))
        .route("/dead-letter", get(dead_letters::list).delete(dead_letters::delete_many))
        .route("/dead-letter/stats", get(dead_letters::stats))
        .route("/dead-letter/retry", post(dead_letters::retry_many))
        .route("/dead-letter/{id}", get(dead_letters::get).delete(dead_letters::delete))
        .route("/dead-letter/{id}/retry", post(dead_letters::retry))
        .route("/workers/{id}/health", get(admin::workers::health))
        .route("/admin/queues", get(admin::queues::list))
        .route("/admin/queues/{name}", get(admin::queues::get))
        .route("/admin/queues/{name}/pause", post(admin::queues::pause))
        .route("/admin/queues/{name}/resume", post(admin::queues::resume))
        .route("/admin/jobs", get(admin::jobs::list))
        .route("/admin/jobs/{id}", get(admin::jobs::get))
        .route("/admin/jobs/{id}/cancel", post(admin::jobs::cancel))
        .route("/admin/jobs/{id}/retry", post(admin::jobs::retry))
        .route("/admin/workers", get(admin::workers::list))
        .route("/admin/workers/{id}", get(admin::workers::get).delete(admin::workers::delete))
        .route("/admin/workers/{id}/{directive}", post(admin::workers::direct))
        .route("/admin/dead-letter", get(admin::dead_letters::list).delete(dead_letters::delete_many))
        .route("/admin/dead-letter/stats", get(dead_letters::stats))
        .route("/admin/dead-letter/retry", post(dead_letters::retry_many))
        .route("/admin/dead-letter/{id}", get(dead_letters::get).delete(admin::dead_letters::delete))
        .route("/admin/dead-letter/{id}/retry", post(dead_letters::retry))
        .route("/admin/stats", get(admin::stats::now))
        .route("/admin/stats/history", get(admin::stats::history))
        .route("/admin/system/maintenance", get(admin::system::maintenance).post(admin::system::set_maintenance))
        .route("/admin/system/config", get(admin::system::config));
    if engine.options().test_mode {
        v1 = v1.route("/admin/reset", post(reset));
    }
    Router::new()
        .route("/ojs/manifest", get(manifest::manifest))
        .route("/health", get(health::health))
        .route("/ready", get(health::ready))
        .route("/metrics", get(metrics::metrics))
        .nest("/ojs/v1", v1)
        .method_not_allowed_fallback(wrong_method)
        .fallback(unknown_path)
        .layer(from_fn_with_state(engine.clone(), frame))
        .with_state(engine)
}

/// What every exchange has in common: version check, request id, media type, error body.
async fn frame(State(engine): State<Engine>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let incoming = Incoming::of(&request);
    let method = request.method().clone();
    // The pattern, not the path: ids are no label.
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = match incoming.check() {
        Ok(()) => next.run(request).await,
        Err(error) => Failure::from(error).into_response(),
    };
    let response = finish(response, &incoming.request_id);
    let (status, took) = (response.status().as_u16(), started.elapsed());
    let route = route.as_ref().map_or("other", MatchedPath::as_str);
    engine.metrics().answered(known(&method), route, status, took);
    tracing::debug!(method = %method, route, status, micros = took.as_micros(), request_id = ?incoming.request_id, "request");
    response
}

/// Methods of the protocol; whatever else somebody may invent is one.
fn known(method: &Method) -> &'static str {
    [&Method::GET, &Method::POST, &Method::PUT, &Method::PATCH, &Method::DELETE]
        .into_iter()
        .zip(["GET", "POST", "PUT", "PATCH", "DELETE"])
        .find(|(known, _)| *known == method)
        .map_or("other", |(_, name)| name)
}

async fn reset(State(engine): State<Engine>) -> Result<Json, Failure> {
    engine.execute(Command::Reset).await?;
    Ok(Json::ok("{\"reset\":true}".to_owned()))
}

async fn wrong_method(method: Method, uri: Uri) -> Failure {
    OjsError::new(ErrorCode::MethodNotAllowed, format!("{method} is not allowed on {}.", uri.path())).into()
}

async fn unknown_path(uri: Uri) -> Failure {
    let path = uri.path();
    let error = OjsError::new(ErrorCode::NotFound, format!("There is no {path}."))
        .with_details(serde_json::json!({"resource_type": "path", "resource_id": path}));
    match likely_route(path) {
        Some(route) => error.with_hint(format!("Use {route}.")).into(),
        None => error.with_hint("See /ojs/manifest for the endpoints of this server.").into(),
    }
}

/// Routes that clients are known to look for in the wrong place (dialects, section E.4).
fn likely_route(path: &str) -> Option<&'static str> {
    if path.starts_with("/ojs/v1/ojs/v1/") {
        return Some("the path with one /ojs/v1: the client has put it before a path that had it already");
    }
    const ROUTES: &[(&str, &str)] = &[
        ("/ack", "POST /ojs/v1/workers/ack with {\"job_id\": …}"),
        ("/nack", "POST /ojs/v1/workers/nack with {\"job_id\": …, \"error\": {…}}"),
        ("/fetch", "POST /ojs/v1/workers/fetch"),
        ("/cancel", "DELETE /ojs/v1/jobs/{id}"),
        ("/manifest", "GET /ojs/manifest"),
        ("/health", "GET /ojs/v1/health"),
        ("/jobs", "/ojs/v1/jobs"),
    ];
    ROUTES.iter().find(|(end, _)| path.ends_with(end)).map(|(_, route)| *route)
}

/// The status of a refusal, whatever an unknown code says.
fn status_of(error: &OjsError) -> StatusCode {
    StatusCode::from_u16(error.status)
        .ok()
        .filter(|s| s.is_client_error() || s.is_server_error())
        .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
