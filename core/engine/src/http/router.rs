//! The HTTP binding (protocol section 3) as an axum router.
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use ojs_model::error::beginning;
use ojs_model::{ErrorCode, OjsError};
use tracing::{Instrument, Span};

use crate::engine::Engine;
use crate::http::access::{Access, Permission};
use crate::http::guard::{self, Fence, Gate};
use crate::http::header::{OJS_VERSION, TRACEPARENT};
use crate::http::hosts::Hosts;
use crate::http::reply::{Failure, Json, finish};
use crate::http::request::Incoming;
use crate::http::route::Route;
use crate::http::routes;
use crate::http::tenancy::of_caller;
use crate::http::{dialects, health, manifest, metrics};
use crate::kernel::command::Reset;
use crate::spans;

impl Engine {
    /// The HTTP binding: `/ojs/manifest` and everything under `/ojs/v1`.
    pub fn router(&self) -> axum::Router {
        router(self.clone(), None, None)
    }

    /// The same, for those who have a key.
    pub fn guarded_router(&self, access: Arc<Access>) -> axum::Router {
        router(self.clone(), Some(access), None)
    }
}

/// All routes, with uniform headers and error bodies; with `access`, only for those who have a key; with `hosts`, not
/// for pages of browsers that come from elsewhere.
pub fn router(engine: Engine, access: Option<Arc<Access>>, hosts: Option<Arc<Hosts>>) -> Router {
    let gate = access.map(|access| Gate { access, engine: engine.clone(), hosts: hosts.clone().unwrap_or_default() });
    let fence = hosts.map(|hosts| Fence { hosts, gate: gate.clone() });
    // Where keys are asked for, who has none gets nothing but open routes; and the health of a server may be asked
    // under any name.
    let open = |route: MethodRouter<Engine>, path: &str| match fence.clone().filter(|_| gate.is_some() && path != "/health") {
        Some(fence) => route.layer(from_fn_with_state(fence, guard::fence)),
        None => route,
    };
    let mut all = Router::new();
    for Route { path, needs, is_of_tenants, handler, .. } in routes::table() {
        let handler = of_caller(&engine, is_of_tenants, handler);
        let handler = if needs == Permission::Open { open(handler, path) } else { handler };
        all = all.route(&format!("{V1}{path}"), guarded(handler, gate.as_ref(), needs));
    }
    if engine.options().test_mode {
        let reset = of_caller(&engine, false, post(reset));
        all = all.route(&format!("{V1}/admin/reset"), guarded(reset, gate.as_ref(), Permission::Administer));
    }
    let metrics = of_caller(&engine, false, get(metrics::metrics));
    let all = all
        .route("/ojs/manifest", open(get(manifest::manifest), "/ojs/manifest"))
        // The SDK for Java asks for it so, and its HTTP client does not resolve the path.
        .route("/ojs/v1/../manifest", open(get(manifest::manifest), "/ojs/manifest"))
        .route("/health", get(health::health))
        .route("/ready", get(health::ready))
        .route("/metrics", guarded(metrics, gate.as_ref(), Permission::Inspect))
        .method_not_allowed_fallback(wrong_method)
        .fallback(unknown_path);
    let hosts = fence.filter(|_| gate.is_none()).map(|fence| fence.hosts);
    all.layer(from_fn_with_state(Frame { engine: engine.clone(), hosts }, frame)).with_state(engine)
}

/// Answers requests whose method a route outside of the API does not take, in the form of all refusals.
pub fn wrong_methods(engine: Engine, hosts: Option<Arc<Hosts>>) -> Router {
    Router::new()
        .fallback(wrong_method)
        .layer(from_fn_with_state(Frame { engine: engine.clone(), hosts }, frame))
        .with_state(engine)
}

/// Where the paths of the protocol begin.
const V1: &str = "/ojs/v1";

/// The checks in front of all routes.
#[derive(Debug, Clone)]
struct Frame {
    engine: Engine,
    /// The host names of a server that asks for no keys: with them it refuses requests of foreign pages on every route.
    hosts: Option<Arc<Hosts>>,
}

impl Frame {
    /// Refuses a request before it does anything: what this server does not speak, pages of browsers that come from
    /// elsewhere, all requests when the server stops.
    fn check(&self, incoming: &Incoming, request: &Request) -> Result<(), OjsError> {
        incoming.check()?;
        refuse_when_stopping(&self.engine, request.uri().path())?;
        self.hosts.as_deref().map_or(Ok(()), |hosts| guard::check_page(hosts, request))
    }
}

/// Asks for a key in front of a route, when keys are on.
fn guarded(route: MethodRouter<Engine>, gate: Option<&Gate>, needs: Permission) -> MethodRouter<Engine> {
    match gate.filter(|_| needs != Permission::Open) {
        Some(gate) => route.layer(from_fn_with_state((gate.clone(), needs), guard::guard)),
        None => route,
    }
}

/// What every exchange has in common: version check, request id, media type, error body, and the form that a known
/// client reads.
async fn frame(State(frame): State<Frame>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let incoming = Incoming::of(&request);
    let dialect = dialects::of(request.headers());
    let version = dialect.and_then(|_| request.headers().get(&OJS_VERSION).cloned());
    let method = request.method().clone();
    // The pattern, not the path: a label must not contain ids.
    let route = request.extensions().get::<MatchedPath>().cloned();
    let span = span_of(&request, &method, route.as_ref());
    let response = match frame.check(&incoming, &request) {
        Ok(()) => next.run(request).instrument(span.clone()).await,
        Err(error) => Failure::from(error).into_response(),
    };
    let route = route.as_ref().map_or("other", MatchedPath::as_str);
    let response = match dialect {
        Some(dialect) => dialect.reword(&method, route, version.as_ref(), response).await,
        None => response,
    };
    let mut response = finish(response, &incoming.request_id);
    if let Some(dialect) = dialect {
        dialect.label(&mut response);
    }
    let (status, took) = (response.status().as_u16(), started.elapsed());
    span.record("http.response.status_code", status);
    if status >= 500 {
        span.record("otel.status_code", "error");
    }
    frame.engine.metrics().answered(known(&method), route, status, took);
    tracing::debug!(method = %method, route, status, micros = took.as_micros(), request_id = ?incoming.request_id, "request");
    response
}

/// The span of a request, by method and route. It continues the trace that the client names in its headers.
fn span_of(request: &Request, method: &Method, route: Option<&MatchedPath>) -> Span {
    let route = route.map_or("other", MatchedPath::as_str);
    let span = tracing::info_span!(
        target: spans::TARGET, "request",
        otel.name = format!("{} {route}", known(method)), otel.kind = "server", otel.status_code = tracing::field::Empty,
        http.request.method = known(method), http.route = route, http.response.status_code = tracing::field::Empty,
    );
    spans::continued(&span, || request.headers().get(&TRACEPARENT)?.to_str().ok().map(str::to_owned));
    span
}

/// A request that comes over an open connection when the engine is about to end (protocol section 5.8): it is refused
/// before it does anything, so that sending it elsewhere is safe. Probes have an answer of their own.
fn refuse_when_stopping(engine: &Engine, path: &str) -> Result<(), OjsError> {
    if !engine.is_stopping() || !path.starts_with("/ojs/v1/") || path == "/ojs/v1/health" {
        return Ok(());
    }
    let error = OjsError::new(ErrorCode::BackendUnavailable, "The server is shutting down; the request was not carried out.");
    Err(error.with_hint("Send it again: to another server, or to this one when it is back."))
}

/// Methods of the protocol; all other methods are counted together as `other`.
fn known(method: &Method) -> &'static str {
    [&Method::GET, &Method::POST, &Method::PUT, &Method::PATCH, &Method::DELETE]
        .into_iter()
        .zip(["GET", "POST", "PUT", "PATCH", "DELETE"])
        .find(|(known, _)| *known == method)
        .map_or("other", |(_, name)| name)
}

async fn reset(State(engine): State<Engine>) -> Result<Json, Failure> {
    engine.execute(Reset).await?;
    Ok(Json::ok("{\"reset\":true}".to_owned()))
}

async fn wrong_method(method: Method, uri: Uri) -> Failure {
    OjsError::new(ErrorCode::MethodNotAllowed, format!("{method} is not allowed on {}.", uri.path())).into()
}

async fn unknown_path(uri: Uri) -> Failure {
    let path = uri.path();
    let shown = beginning(path);
    let error = OjsError::new(ErrorCode::NotFound, format!("There is no {shown}."))
        .with_details(serde_json::json!({"resource_type": "path", "resource_id": shown}));
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
