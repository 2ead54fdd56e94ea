//! The page of a server at `/ui/`: plain ES modules that a browser runs as they are, and the routes that serve them.
//!
//! The page reads the public API of the server it came from, so a route of its own has no data. The files are packed at
//! build time ([`router`] has nothing to read or to compress), and building them needs no Node.js.
//!
//! ```
//! let hosts = ojs_engine::Hosts::default();
//! let pages: axum::Router = ojs_dashboard::router(hosts, None).unwrap();
//! assert!(ojs_dashboard::first_page_bytes() < 60_000);
//! # drop(pages);
//! ```
use std::io::Read;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use flate2::read::GzDecoder;
use ojs_engine::Hosts;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// What the page may do in a browser: run and fetch what comes from this server, and nothing inline.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                          img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/// The part of [`POLICY`] that says where the page may send requests.
const CONNECT: &str = "connect-src 'self'";
const SHELL: &str = "index.html";
/// Files that are fetched only by the screens that need them; `main.js` names the screens.
const ON_DEMAND: &[&str] = &[
    "uPlot",
    "pages/audit.",
    "pages/bulk.",
    "pages/cron.",
    "pages/dead.",
    "pages/endpoints.",
    "pages/errors.",
    "pages/limits.",
    "pages/outbox.",
    "pages/tenants.",
    "pages/trains.",
    "pages/types.",
    "pages/workflows.",
    "parts/graph.",
    "parts/heat.",
    "parts/preview.",
];

/// One packed file.
#[derive(Debug)]
struct File {
    name: &'static str,
    kind: &'static str,
    /// The ETag, with its quotes.
    tag: &'static str,
    /// gzip.
    packed: &'static [u8],
}

/// Who may ask for the page, and what it may do.
struct Guard {
    hosts: Hosts,
    policy: String,
}

/// The routes below `/ui`, and `/`, which leads there, for requests under a name that the server answers to (see
/// [`Hosts`]). With the address of a codec server, the page may send requests to its origin: encrypted arguments.
///
/// # Errors
/// The address of the codec server is none of `http` or `https`: a sentence that says so.
pub fn router(hosts: Hosts, codec: Option<&str>) -> Result<Router, String> {
    let policy = match codec {
        Some(address) => POLICY.replace(CONNECT, &format!("{CONNECT} {}", origin(address)?)),
        None => POLICY.to_owned(),
    };
    let router = Router::new()
        .route("/", get(to_shell))
        .route("/ui", get(to_shell))
        .route("/ui/", get(shell))
        .route("/ui/a/{folder}/{*name}", get(asset))
        .route("/ui/{*rest}", get(to_shell_from_below))
        .layer(from_fn_with_state(Arc::new(Guard { hosts, policy }), own_name));
    Ok(router)
}

/// The origin of an address, as the policy names it.
fn origin(address: &str) -> Result<String, String> {
    let fault = || format!("'{address}' is no address of http or https");
    let uri: Uri = address.parse().map_err(|_| fault())?;
    let (Some(scheme @ ("http" | "https")), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(fault()) };
    // A name and a password, or a mark of the policy's own language, would change what the policy says.
    if authority.as_str().contains(['@', ';', ',', '\'', '*']) {
        return Err(fault());
    }
    Ok(format!("{scheme}://{authority}"))
}

/// The names of all files, for tests and for people who package them.
#[must_use]
pub fn file_names() -> Vec<&'static str> {
    FILES.iter().map(|file| file.name).collect()
}

/// The compressed size in bytes of what a browser fetches before the first screen shows: every file but those that
/// single screens fetch when they draw.
#[must_use]
pub fn first_page_bytes() -> usize {
    let on_demand = |name: &str| ON_DEMAND.iter().any(|part| name.contains(part));
    FILES.iter().filter(|file| !on_demand(file.name)).map(|file| file.packed.len()).sum()
}

/// The compressed size of all files in bytes: what the binary grows by, but for the code.
#[must_use]
pub fn all_bytes() -> usize {
    FILES.iter().map(|file| file.packed.len()).sum()
}

/// Refuses a page whose own name points at this server (DNS rebinding), as the API does.
async fn own_name(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.hosts.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => {
            let mut refusal = Response::new(Body::from(error.to_body()));
            *refusal.status_mut() = StatusCode::from_u16(error.status).unwrap_or(StatusCode::FORBIDDEN);
            set(refusal.headers_mut(), CONTENT_TYPE, "application/json");
            refusal
        }
    };
    let headers = response.headers_mut();
    set(headers, CONTENT_SECURITY_POLICY, &guard.policy);
    set(headers, X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(headers, X_FRAME_OPTIONS, "DENY");
    set(headers, REFERRER_POLICY, "no-referrer");
    set(headers, HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set(headers, HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    response
}

/// The address of the server alone, and `/ui` without its slash: relative addresses need it. Relative itself, for
/// proxies that cut a prefix.
async fn to_shell() -> Response {
    redirect("ui/")
}

/// Anything else below `/ui/`: screens are named by the fragment, so such an address was typed, or is an old one.
async fn to_shell_from_below(Path(rest): Path<String>) -> Response {
    redirect(&"../".repeat(rest.matches('/').count()))
}

fn redirect(to: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    set(response.headers_mut(), LOCATION, if to.is_empty() { "./" } else { to });
    response
}

async fn shell(headers: HeaderMap) -> Response {
    match FILES.iter().find(|file| file.name == SHELL) {
        // The only file whose address stays: asked for again each time, answered with 304.
        Some(file) => serve(file, "no-cache", &headers),
        None => missing(),
    }
}

async fn asset(Path((folder, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
    match FILES.iter().find(|file| folder == FOLDER && file.name == name) {
        Some(file) => serve(file, "public, max-age=31536000, immutable", &headers),
        None => missing(),
    }
}

fn serve(file: &'static File, caching: &'static str, request: &HeaderMap) -> Response {
    let text = |name| request.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
    let known = text(IF_NONE_MATCH).split(',').any(|tag| tag.trim().trim_start_matches("W/") == file.tag);
    let gzip = text(ACCEPT_ENCODING).split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        matches!(parts.next(), Some("gzip" | "*")) && !parts.any(|part| part.replace(' ', "") == "q=0")
    });
    let mut response = match (known, gzip) {
        (true, _) => Response::new(Body::empty()),
        (false, true) => Response::new(Body::from(file.packed)),
        (false, false) => Response::new(Body::from(unpacked(file))),
    };
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    } else if gzip {
        set(response.headers_mut(), CONTENT_ENCODING, "gzip");
    }
    let headers = response.headers_mut();
    set(headers, CONTENT_TYPE, file.kind);
    set(headers, ETAG, file.tag);
    set(headers, CACHE_CONTROL, caching);
    set(headers, VARY, "accept-encoding");
    response
}

/// For the few clients that cannot unpack.
fn unpacked(file: &File) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Packed by our own build: reading from memory cannot fail.
    let _ = GzDecoder::new(file.packed).read_to_end(&mut bytes);
    bytes
}

fn missing() -> Response {
    let mut response = Response::new(Body::from("There is no such file: reload the page, the server may have been replaced.\n"));
    *response.status_mut() = StatusCode::NOT_FOUND;
    set(response.headers_mut(), CONTENT_TYPE, "text/plain; charset=utf-8");
    response
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
