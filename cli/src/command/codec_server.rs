//! `ojs codec-server`: decrypts arguments for people who may see them, so that dashboards need no keys (extensions, section 9).
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_ORIGIN, AUTHORIZATION, ORIGIN, VARY};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use clap::Args;
use ojs::encryption::{Codec, Keys, Payload};
use ojs_engine::access::{Access, Holder, Permission};
use ojs_engine::{Hosts, Listener};
use ojs_model::OjsError;
use serde::Deserialize;
use serde_json::json;

use crate::args::{LimitArgs, LogFormat};
use crate::failure::Failure;
use crate::log;
use crate::server::{Signals, cannot_listen, watch_keys};

/// Largest request in bytes.
const MAX_BODY_BYTES: usize = 10 * 1024 * 1024;
/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Most payloads in one request.
const MAX_PAYLOADS: usize = 1000;

const EXAMPLES: &str = "\
POST /codec/decode and /codec/encode take {\"payloads\": [{\"data\": BASE64, \"metadata\": {…}}]}; GET /codec/keys names the keys; GET /health
says that it is there. Every other call wants a bearer token of an operator or admin, and is logged: who, what, under which keys,
never what was in it. SIGTERM or SIGINT ends it.

Examples:
  ojs keys --keys viewers.json add ada --role operator     prints the token, once
  OJS_ENCRYPTION_KEYS=\"k-1:$KEY\" ojs codec-server --keys viewers.json --origin https://dashboard.example.com";

/// `ojs codec-server`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CodecServer {
    /// Address and port to listen on; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS", env = "OJS_CODEC_LISTEN", default_value = "127.0.0.1:8089")]
    listen: String,
    /// Who may ask: a file of `ojs keys add`. Changes of the file take effect within two seconds.
    #[arg(long, value_name = "FILE", env = "OJS_CODEC_ACCESS", default_value = "ojs-keys.json")]
    keys: PathBuf,
    /// The keys of encryption, name:key,name:key; the first one encrypts.
    #[arg(long, value_name = "KEYS", env = "OJS_ENCRYPTION_KEYS", hide_env_values = true)]
    encryption_keys: String,
    /// A dashboard in a browser that may ask, by its origin; may be repeated.
    #[arg(long = "origin", value_name = "URL", env = "OJS_CODEC_ORIGINS", value_delimiter = ',')]
    origins: Vec<String>,
    /// A name that this server answers to, besides addresses and names of the local network; `*` for all. May be repeated.
    #[arg(long = "allow-host", value_name = "NAME", env = "OJS_ALLOW_HOSTS", value_delimiter = ',')]
    hosts: Vec<String>,
    /// error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", env = "OJS_LOG_LEVEL", default_value = "info")]
    log_level: String,
    /// How log lines are written.
    #[arg(long, value_name = "FORMAT", env = "OJS_LOG_FORMAT", default_value = "text")]
    log_format: LogFormat,
    #[command(flatten)]
    limits: LimitArgs,
}

struct Shared {
    codec: Codec,
    keys: Keys,
    access: Arc<Access>,
    origins: Vec<String>,
    hosts: Hosts,
}

/// Who asks, looked up once for each request.
#[derive(Clone)]
struct Shown(Result<Holder, OjsError>);

/// Who asks, and may.
#[derive(Clone)]
struct Caller(String);

#[derive(Deserialize)]
struct Payloads {
    payloads: Vec<Payload>,
}

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
/// Keys that are none, an address that cannot be listened on.
pub async fn run(args: CodecServer) -> Result<(), Failure> {
    log::start(&args.log_level, args.log_format, false)?;
    let keys: Keys = args.encryption_keys.parse()?;
    let access = Arc::new(Access::open(&args.keys)?);
    watch_keys(Arc::clone(&access))?;
    let signals = Signals::install()?;
    let hosts = Hosts::new(&args.hosts);
    let shared = Shared { codec: Codec::new(keys.clone()), keys, access, origins: args.origins, hosts };
    let listener = Listener::bind(&args.listen).await.map_err(|error| cannot_listen(&args.listen, &error))?;
    let listener = listener.with_limits((&args.limits).into());
    let address = listener.local_addr();
    let mut stdout = std::io::stdout();
    // Scripts wait for this line; a closed stdout is no reason not to serve.
    let _ = writeln!(stdout, "listening on http://{address}").and_then(|()| stdout.flush());
    listener.run(router(Arc::new(shared)), signals.first(), || {}).await;
    Ok(())
}

fn router(shared: Arc<Shared>) -> Router {
    let guarded = Router::new()
        .route("/codec/encode", post(encode))
        .route("/codec/decode", post(decode))
        .route("/codec/keys", get(names))
        .layer(from_fn(authenticate));
    guarded
        .route("/health", get(|| async { Json(json!({"status": "ok"})) }))
        .layer(from_fn_with_state(Arc::clone(&shared), browsers))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(shared)
}

fn refusal(status: StatusCode, why: impl std::fmt::Display) -> Response {
    (status, Json(json!({"error": why.to_string()}))).into_response()
}

/// Refuses who has no token, before the body is read.
async fn authenticate(Extension(Shown(shown)): Extension<Shown>, request: Request, next: Next) -> Response {
    match shown.and_then(|holder| holder.check(Permission::Operate).map(|()| holder.name().to_owned())) {
        Ok(name) => {
            let (mut parts, body) = request.into_parts();
            parts.extensions.insert(Caller(name));
            match tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, MAX_BODY_BYTES)).await {
                Ok(Ok(bytes)) => next.run(Request::from_parts(parts, bytes.into())).await,
                Ok(Err(error)) => refusal(StatusCode::PAYLOAD_TOO_LARGE, format!("the body could not be read: {error}")),
                Err(_) => refusal(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"),
            }
        }
        Err(error) => {
            tracing::warn!(path = request.uri().path(), reason = %error.message, "access refused");
            refusal(StatusCode::from_u16(error.status).unwrap_or(StatusCode::UNAUTHORIZED), error.message)
        }
    }
}

/// Whose token a request shows.
fn holder(shared: &Shared, headers: &HeaderMap) -> Result<Holder, OjsError> {
    let header = headers.get(AUTHORIZATION).and_then(|header| header.to_str().ok());
    let bearer = header.and_then(|header| header.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    shared.access.holder(bearer.map(|(_, token)| token.trim()))
}

/// Lets the named dashboards ask from a browser, which asks first whether it may, and refuses pages from elsewhere. As
/// with the server, a caller with a token is no such page, and the health may be asked under any name.
async fn browsers(State(shared): State<Arc<Shared>>, mut request: Request, next: Next) -> Response {
    let origin = request.headers().get(ORIGIN).and_then(|origin| origin.to_str().ok());
    let allowed =
        origin.filter(|origin| shared.origins.iter().any(|known| known == origin)).and_then(|o| HeaderValue::from_str(o).ok());
    let shown = holder(&shared, request.headers());
    if allowed.is_none()
        && shown.is_err()
        && request.uri().path() != "/health"
        && let Err(error) = shared.hosts.check(request.method(), request.uri(), request.headers())
    {
        tracing::warn!(path = request.uri().path(), reason = %error.message, "a page of a browser was refused");
        return refusal(StatusCode::FORBIDDEN, error.message);
    }
    request.extensions_mut().insert(Shown(shown));
    let mut response = if request.method() == Method::OPTIONS { StatusCode::OK.into_response() } else { next.run(request).await };
    if let Some(origin) = allowed {
        let headers: &mut HeaderMap = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("authorization, content-type"));
        headers.insert(VARY, HeaderValue::from_static("origin"));
    }
    response
}

async fn encode(State(shared): State<Arc<Shared>>, Extension(caller): Extension<Caller>, body: String) -> Response {
    answer("encode", &caller, &body, |payload| shared.codec.encode_payload(payload).map_err(|error| error.to_string()))
}

async fn decode(State(shared): State<Arc<Shared>>, Extension(caller): Extension<Caller>, body: String) -> Response {
    answer("decode", &caller, &body, |payload| shared.codec.decode_payload(payload).map_err(|error| error.to_string()))
}

/// As many as came, in their order, or none.
fn answer(what: &str, caller: &Caller, body: &str, one: impl Fn(&Payload) -> Result<Payload, String>) -> Response {
    let Payloads { payloads } = match serde_json::from_str(body) {
        Ok(given) => given,
        Err(error) => return refusal(StatusCode::BAD_REQUEST, format!("the body must be {{\"payloads\": […]}}: {error}")),
    };
    if payloads.is_empty() || payloads.len() > MAX_PAYLOADS {
        return refusal(StatusCode::BAD_REQUEST, format!("payloads must be 1 to {MAX_PAYLOADS}, got {}", payloads.len()));
    }
    let key_of = |payload: &Payload| {
        let named = ["encryption_key_id", "ojs_key_id"].iter().find_map(|name| payload.metadata.get(*name)?.as_str());
        named.map(str::to_owned)
    };
    let mut keys: Vec<String> = payloads.iter().filter_map(key_of).collect();
    let mut made = Vec::with_capacity(payloads.len());
    for (index, payload) in payloads.iter().enumerate() {
        match one(payload) {
            Ok(payload) => made.push(payload),
            Err(why) => {
                tracing::warn!(caller = caller.0, what, index, why, "refused");
                return refusal(StatusCode::BAD_REQUEST, format!("payloads[{index}]: {why}"));
            }
        }
    }
    keys.extend(made.iter().filter_map(key_of));
    keys.sort();
    keys.dedup();
    // The audit trail: who, what, under which keys. Never what was in it.
    tracing::info!(caller = caller.0, what, payloads = made.len(), keys = keys.join(","), "codec");
    Json(json!({"payloads": made})).into_response()
}

async fn names(State(shared): State<Arc<Shared>>) -> Response {
    let ids = shared.keys.ids();
    let keys: Vec<_> = ids.iter().enumerate().map(|(at, id)| json!({"id": id, "current": at == 0})).collect();
    Json(json!({"keys": keys, "total": keys.len(), "current_id": ids.first()})).into_response()
}
