//! Clients in use that read an answer in a form which the specification does not have ([decision 60], [the page about
//! them]).
//!
//! A client is recognised by what its requests show: `Accept`, `OJS-Version` and `User-Agent`. What it needs is one row
//! of `table.json`; a client without a row gets the specification's form. Handlers know nothing of this: an answer is
//! changed on its way out.
//!
//! [decision 60]: ../../../../../docs/adr/0060-dialects.md
//! [the page about them]: ../../../../../docs/reference/other-implementations.md
mod answer;

use std::collections::BTreeMap;

use axum::body::{Body, to_bytes};
use axum::http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use ojs_model::lazy::Lazy;
use ojs_model::{ErrorCode, MEDIA_TYPE, OjsError};
use serde::Deserialize;

use crate::http::header::OJS_VERSION;
use crate::http::reply::Failure;

/// The rows. Text that cannot be read would be an empty table, which a test excludes.
static TABLE: Lazy<Vec<Dialect>> = Lazy::new(|| serde_json::from_str(include_str!("table.json")).unwrap_or_default());

/// One client and what it needs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    /// Its repository. This and the next two are for people.
    #[allow(dead_code, reason = "the table is read by people and by the tests as well")]
    client: String,
    #[allow(dead_code, reason = "the table is read by people and by the tests as well")]
    language: String,
    #[allow(dead_code, reason = "the table is read by people and by the tests as well")]
    versions: String,
    /// How its `User-Agent` begins; `None` for a client that sends none.
    user_agent: Option<String>,
    /// Whether all its versions send `OJS-Version`.
    #[serde(default = "yes")]
    needs_version: bool,
    /// The only media type whose bodies it decodes.
    #[serde(default)]
    media_type: Option<String>,
    rules: Vec<Rule>,
}

/// What is changed in the answers of some routes. Nothing is removed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// Method and pattern of the routes.
    on: Vec<String>,
    /// The members of this object also stand at the top, unless there is one of that name.
    #[serde(default)]
    lift: Option<String>,
    /// A member at the top, and the path of its value.
    #[serde(default)]
    set: BTreeMap<String, String>,
    /// A member at the top that lists the `name` of each element of the arrays at these paths.
    #[serde(default)]
    names: BTreeMap<String, Vec<String>>,
    /// The member at the top with the version of the protocol: it becomes the one that the request names.
    #[serde(default)]
    version: Option<String>,
}

fn yes() -> bool {
    true
}

/// The client that sends these headers; `None` when it is none of the table.
pub fn of(headers: &HeaderMap) -> Option<&'static Dialect> {
    headers.get(ACCEPT).filter(|accept| accept.as_bytes() == MEDIA_TYPE.as_bytes())?;
    let agent = headers.get(USER_AGENT).map(HeaderValue::as_bytes);
    let versioned = headers.contains_key(&OJS_VERSION);
    TABLE.iter().find(|dialect| {
        let named = match (&dialect.user_agent, agent) {
            (Some(prefix), Some(agent)) => agent.starts_with(prefix.as_bytes()),
            (None, None) => true,
            _ => false,
        };
        named && (versioned || !dialect.needs_version)
    })
}

impl Dialect {
    /// Puts an answer of a route into words that the client reads. `version` is the `OJS-Version` of its request.
    pub async fn reword(&self, method: &Method, route: &str, version: Option<&HeaderValue>, response: Response) -> Response {
        let rules = self.rules(method, route);
        if rules.is_empty() || !response.status().is_success() {
            return response;
        }
        let (parts, body) = response.into_parts();
        // Routes with rules answer from memory.
        match to_bytes(body, usize::MAX).await {
            Ok(bytes) => {
                let version = version.and_then(|version| version.to_str().ok());
                let reworded = std::str::from_utf8(&bytes).ok().and_then(|text| answer::reworded(&rules, version, text));
                Response::from_parts(parts, reworded.map_or_else(|| Body::from(bytes), Body::from))
            }
            Err(error) => {
                tracing::error!(%error, route, "an answer could not be read back");
                Failure::from(OjsError::new(ErrorCode::InternalError, "The answer could not be written.")).into_response()
            }
        }
    }

    /// Names the media type that the client decodes, in place of the one of OJS.
    pub fn label(&self, response: &mut Response) {
        let Some(media_type) = self.media_type.as_deref().and_then(|name| HeaderValue::from_str(name).ok()) else { return };
        let headers = response.headers_mut();
        if headers.get(CONTENT_TYPE).is_some_and(|media| media.as_bytes() == MEDIA_TYPE.as_bytes()) {
            headers.insert(CONTENT_TYPE, media_type);
        }
    }

    fn rules(&self, method: &Method, route: &str) -> Vec<&Rule> {
        let is_it = |name: &String| name.split_once(' ') == Some((method.as_str(), route));
        self.rules.iter().filter(|rule| rule.on.iter().any(is_it)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::routes;

    #[test]
    fn the_table_is_readable_and_names_routes_that_exist() {
        let table: Vec<Dialect> = serde_json::from_str(include_str!("table.json")).unwrap();
        assert_eq!(table.len(), 6);
        let known: Vec<String> = routes::table().iter().map(|route| format!("{} /ojs/v1{}", route.method, route.path)).collect();
        for rule in table.iter().flat_map(|dialect| &dialect.rules) {
            let changes = rule.lift.is_some() || rule.version.is_some() || !rule.set.is_empty() || !rule.names.is_empty();
            assert!(changes, "{rule:?} changes nothing");
            for name in rule.on.iter().filter(|name| *name != "GET /ojs/manifest") {
                assert!(known.contains(name), "{name} is no route");
            }
        }
    }

    #[test]
    fn a_client_is_recognised_by_all_that_it_shows() {
        let of = |headers: &[(&'static str, &'static str)]| {
            let pairs = headers.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)));
            super::of(&pairs.collect()).map(|dialect| dialect.language.as_str())
        };
        let ojs = ("accept", MEDIA_TYPE);
        let version = ("ojs-version", "1.0");
        assert_eq!(of(&[ojs, version, ("user-agent", "ojs-ruby/0.1.0 ruby/3.3.0")]), Some("Ruby"));
        assert_eq!(of(&[ojs, version]), Some("Rust"), "it sends no User-Agent");
        assert_eq!(of(&[ojs, ("user-agent", "python-httpx/0.27.0")]), Some("Python"), "old versions send no OJS-Version");
        assert_eq!(of(&[ojs, version, ("user-agent", "Go-http-client/1.1")]), Some("Go"));
        // The official suite is run by the same HTTP client of Go, and reads the specification's form.
        assert_eq!(of(&[ojs, ("user-agent", "Go-http-client/1.1")]), None);
        assert_eq!(of(&[ojs]), None, "a client by hand");
        assert_eq!(of(&[("accept", "application/json"), version]), None);
        assert_eq!(of(&[version, ("user-agent", "node")]), None);
        assert_eq!(of(&[ojs, version, ("user-agent", "ojs-rust/0.1.0")]), None, "this SDK");
    }
}
