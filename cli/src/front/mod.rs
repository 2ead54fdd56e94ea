//! `ojs server --ui-server URL`: the page in front of another Open Job Spec server. The page sends its requests to this
//! process, which sends them on.
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use ojs_engine::{Hosts, Listener};
use ojs_model::redact::SecretUrl;
use ojs_model::{ErrorCode, OjsError};
use tokio::sync::watch;

use crate::args::ServerArgs;
use crate::failure::Failure;
use crate::log;
use crate::remote::RemoteArgs;
use crate::server::{Signals, announce, cannot_listen};

mod forward;
mod headers;
mod session_routes;
mod sessions;
mod upstream;

use sessions::Sessions;
use upstream::Upstream;

/// What all requests share.
#[derive(Debug)]
struct Front {
    upstream: Upstream,
    sessions: Sessions,
    hosts: Hosts,
    /// Turns true when this process is about to end: streams end then.
    stopping: watch::Receiver<bool>,
}

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
/// A URL that cannot be used, a server that does not answer or is no OJS server, an address that cannot be listened on.
pub async fn run(args: ServerArgs, url: SecretUrl, remote: RemoteArgs) -> Result<(), Failure> {
    log::start(&args.log_level, args.log_format, false)?;
    // Before the first line is printed: who reads it may send a signal at once.
    let signals = Signals::install()?;
    let upstream = Upstream::new(&url, remote.token(), remote.timeout())?;
    let listener = Listener::bind(&args.listen).await.map_err(|error| cannot_listen(&args.listen, &error))?;
    let listener = listener.with_limits((&args.limits).into());
    let address = listener.local_addr();
    refuse_exposure(address, &args)?;
    let codec = upstream.introduce().await?;
    let (stop, stopping) = watch::channel(false);
    let hosts = Hosts::new(&args.hosts);
    let pages = ojs_dashboard::router(hosts.clone(), codec.as_deref());
    let pages = pages.map_err(|error| Failure::foreign(format!("codec_server_url in the manifest of {url}: {error}")))?;
    let front = Front { upstream, sessions: Sessions::default(), hosts, stopping };
    announce(address, true);
    tracing::info!(%address, server = %url, version = env!("CARGO_PKG_VERSION"), "serving the page of another server");
    let stopping = || {
        stop.send_replace(true);
    };
    listener.run(router(Arc::new(front)).merge(pages.method_not_allowed_fallback(not_sent_on)), signals.first(), stopping).await;
    tracing::info!("stopped");
    Ok(())
}

fn refuse_exposure(address: SocketAddr, args: &ServerArgs) -> Result<(), Failure> {
    if address.ip().is_loopback() || args.insecure {
        return Ok(());
    }
    Err(Failure::usage(
        format!("{address} can be reached from other machines, and this process has no TLS and asks for no keys of its own"),
        "listen on 127.0.0.1, or say --insecure if a proxy with TLS guards it",
    ))
}

fn router(front: Arc<Front>) -> Router {
    let all: fn() -> MethodRouter<Arc<Front>> = || {
        let reading = get(forward::forward).post(forward::forward);
        reading.put(forward::forward).patch(forward::forward).delete(forward::forward)
    };
    let session = post(session_routes::begin).get(session_routes::get).delete(session_routes::end);
    Router::new()
        .route("/ojs/v1/session", session)
        .route("/ojs/manifest", all())
        .route("/ojs/v1/{*path}", all())
        .method_not_allowed_fallback(not_sent_on)
        .fallback(async || {
            refusal(&OjsError::new(ErrorCode::NotFound, "Only /ui/, /ojs/manifest and paths below /ojs/v1/ are served."))
        })
        .layer(from_fn_with_state(Arc::clone(&front), fence))
        // After the layer: a probe may ask under any name.
        .route("/health", get(async || axum::Json(serde_json::json!({"status": "ok"}))))
        .with_state(front)
}

async fn not_sent_on() -> Response {
    refusal(&OjsError::new(ErrorCode::MethodNotAllowed, "This is not sent on."))
}

/// Refuses what a page from elsewhere has a browser send: this process would add a key to it.
async fn fence(State(front): State<Arc<Front>>, request: Request, next: Next) -> Response {
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    let mut allowed = front.hosts.check(method, uri, headers);
    if !headers.contains_key(AUTHORIZATION) && sessions::shown(headers).is_some() {
        allowed = allowed.and_then(|()| front.hosts.check_own_page(method, uri, headers));
    }
    match allowed {
        Ok(()) => next.run(request).await,
        Err(error) => {
            tracing::warn!(%method, reason = %error.message, "a page of a browser was refused");
            refusal(&error)
        }
    }
}

/// An error of the protocol as an answer.
fn refusal(error: &OjsError) -> Response {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::BAD_GATEWAY);
    if status.is_server_error() {
        tracing::warn!(status = status.as_u16(), reason = %error.message, "a request was not sent on");
    }
    let mut response = (status, error.to_body()).into_response();
    headers::guard(response.headers_mut());
    headers::set_json(response.headers_mut());
    response
}
