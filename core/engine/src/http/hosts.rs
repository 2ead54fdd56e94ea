//! Which requests come from a page in a browser that has no business here: a keyless server does what everybody says who reaches it, and
//! a browser reaches it for every page it shows.
//!
//! Two ways are closed. A page whose own name points at this server (DNS rebinding) is recognised by the `Host` of its
//! requests: a name that this server does not know. A page from elsewhere that sends a request which changes something
//! is recognised by `Origin` and `Sec-Fetch-Site`, which no page can forge. Clients that are no browsers send neither,
//! and call the server by an address or a name of the local network.
use std::net::IpAddr;

use http::header::{HOST, HeaderMap, HeaderName, ORIGIN, UPGRADE};
use http::{Method, Uri};
use ojs_model::{ErrorCode, OjsError};
use serde_json::json;

use crate::http::header::SEC_FETCH_SITE;

/// Ends of names that only a local resolver answers: no page of the internet has such a name.
const LOCAL_ENDS: &[&str] = &[".localhost", ".local", ".internal", ".test"];
/// Most of a name that an answer repeats.
const MAX_SHOWN: usize = 100;

/// The names that a server answers to: IP addresses, names without a dot (`localhost`, `jobs`), names that end in `.localhost`, `.local`,
/// `.internal` or `.test`, and those that are added. None of them can be the name of a page of the internet.
///
/// ```
/// use ojs_engine::Hosts;
/// let hosts = Hosts::new(["jobs.example.com"]);
/// assert!(hosts.knows("jobs.example.com:443") && hosts.knows("127.0.0.1:8080") && hosts.knows("ojs"));
/// assert!(!hosts.knows("evil.example"));
/// assert!(Hosts::new(["*"]).knows("evil.example"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    any: bool,
    named: Vec<String>,
}

impl Hosts {
    /// More names; `*` stands for all.
    pub fn new<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> Self {
        let named: Vec<String> = names.into_iter().map(|name| plain(name.as_ref().trim()).to_owned()).collect();
        Self { any: named.iter().any(|name| name == "*"), named: named.into_iter().filter(|name| !name.is_empty()).collect() }
    }

    /// Whether a `Host` header names this server; the port does not matter.
    #[must_use]
    pub fn knows(&self, host: &str) -> bool {
        let name = plain(host);
        let ends_with = |end: &str| {
            name.len().checked_sub(end.len()).and_then(|at| name.get(at..)).is_some_and(|n| n.eq_ignore_ascii_case(end))
        };
        self.any
            || !name.contains('.')
            || name.parse::<IpAddr>().is_ok()
            || LOCAL_ENDS.iter().any(|end| ends_with(end))
            || self.is_named(name)
    }

    fn is_named(&self, name: &str) -> bool {
        self.named.iter().any(|named| named.eq_ignore_ascii_case(name))
    }

    /// Refuses what a page from elsewhere has a browser send.
    ///
    /// # Errors
    /// 403 `permission_denied`.
    pub fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), OjsError> {
        if let Some(host) = asked(uri, headers).find(|host| !self.knows(host)) {
            let name: String = plain(host).chars().take(MAX_SHOWN).collect();
            let message = format!("This server does not answer to the name '{name}'.");
            let hint = "If it is a name of this server, start it with --allow-host NAME (OJS_ALLOW_HOSTS); or send a key.";
            return Err(refused(message, hint, "Host"));
        }
        // A page cannot read the answer to a request of another origin, but it can read a WebSocket.
        if is_reading(method, headers) {
            return Ok(());
        }
        let hint = "A page of the server's own address may; programs send neither Origin nor Sec-Fetch-Site.";
        match (text(headers, &SEC_FETCH_SITE), text(headers, &ORIGIN)) {
            (Some("same-origin" | "none"), _) | (None, None) => Ok(()),
            (None, Some(origin)) if self.is_own(origin, asked(uri, headers)) => Ok(()),
            (None, Some(_)) => Err(refused("A page of another origin may not send this.".to_owned(), hint, "Origin")),
            (Some(_), _) => Err(refused("A page of another site may not send this.".to_owned(), hint, "Sec-Fetch-Site")),
        }
    }

    /// For requests whose right comes from a cookie, which a browser sends by itself: refuses a request that changes
    /// something, or opens a WebSocket, unless the browser says that a page of this server sent it.
    ///
    /// # Errors
    /// 403 `permission_denied`.
    pub fn check_own_page(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), OjsError> {
        if is_reading(method, headers) {
            return Ok(());
        }
        let hint = "A page of the server's own address may send it; where a proxy changes Host, start the server with \
                    --allow-host NAME (OJS_ALLOW_HOSTS). A program sends its key: Authorization: Bearer KEY.";
        let message = "With a session, only a page of this server's own address may send this.";
        match (text(headers, &SEC_FETCH_SITE), text(headers, &ORIGIN)) {
            (Some("same-origin"), _) => Ok(()),
            (None, Some(origin)) if self.is_own(origin, asked(uri, headers)) => Ok(()),
            (Some(_), _) => Err(refused(message.to_owned(), hint, "Sec-Fetch-Site")),
            (None, _) => Err(refused(message.to_owned(), hint, "Origin")),
        }
    }

    /// Whether an origin is the address that was asked, or a name that was added: a proxy in front may have put its own into `Host`.
    fn is_own<'a>(&self, origin: &str, mut asked: impl Iterator<Item = &'a str>) -> bool {
        let Some((scheme, address)) = origin.split_once("://") else { return false };
        let port = if scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
        let bare = |text: &str| text.strip_suffix(port).unwrap_or(text).to_ascii_lowercase();
        asked.any(|host| bare(host) == bare(address)) || self.is_named(plain(address))
    }
}

/// The names by which a request calls this server.
fn asked<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
    let hosts = headers.get_all(HOST).iter().map(|host| host.to_str().unwrap_or("?"));
    hosts.chain(uri.authority().map(|authority| authority.as_str()))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

fn is_reading(method: &Method, headers: &HeaderMap) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) && !headers.contains_key(UPGRADE)
}

fn refused(message: String, hint: &str, header: &str) -> OjsError {
    OjsError::new(ErrorCode::PermissionDenied, message).with_hint(hint).with_details(json!({"header": header}))
}

/// The name in `name:port`, `[::1]:port`, without a dot at its end. Its case does not matter.
fn plain(host: &str) -> &str {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        // More than one colon: an address without brackets.
        None => host.split_once(':').filter(|(_, port)| !port.contains(':')).map_or(host, |(name, _)| name),
    };
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Names are compared in place, without a copy in lower case.
        #[test]
        fn the_case_of_a_name_does_not_matter(
            host in r"\[?(jobs|JOBS|Evil|10|fe80::A|ü)?(\.(eXample|Com|local|LOCALhost|Internal|0|1|É)){0,3}\.?\]?(:[0-9]{0,4}){0,2}"
        ) {
            let named = ["jobs.example.com", "evil.local.com"];
            let lower = host.to_ascii_lowercase();
            let name = plain(&lower);
            let known = !name.contains('.')
                || name.parse::<IpAddr>().is_ok()
                || LOCAL_ENDS.iter().any(|end| name.ends_with(end))
                || named.contains(&name);
            prop_assert_eq!(Hosts::new(["Jobs.Example.com", "EVIL.local.Com"]).knows(&host), known);
        }
    }

    fn checks(hosts: &Hosts, method: Method, headers: &[(&'static str, &str)]) -> bool {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        hosts.check(&method, &Uri::from_static("/ojs/v1/jobs"), &headers).is_ok()
    }

    #[test]
    fn names_that_only_a_page_of_the_internet_has_are_not_known() {
        let hosts = Hosts::new(["Jobs.Example.com", " b.example "]);
        for known in [
            "",
            "127.0.0.1",
            "127.0.0.1:8080",
            "10.1.2.3:8080",
            "[::1]:8080",
            "::1",
            "localhost:8080",
            "LOCALHOST",
            "ojs:8080",
            "jobs.internal",
            "ojs.jobs.svc.cluster.local:8080",
            "jobs.example.com",
            "jobs.example.com.:443",
            "b.example",
        ] {
            assert!(hosts.knows(known), "{known}");
        }
        for foreign in ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "example.com"] {
            assert!(!hosts.knows(foreign), "{foreign}");
        }
    }

    #[test]
    fn what_a_cookie_allows_only_a_page_of_this_server_may_send() {
        let hosts = Hosts::new(["jobs.example.com"]);
        let host = ("host", "127.0.0.1:8080");
        for (fine, headers) in [
            (true, vec![host, ("sec-fetch-site", "same-origin")]),
            (true, vec![host, ("origin", "http://127.0.0.1:8080")]),
            (true, vec![host, ("origin", "https://jobs.example.com")]),
            (false, vec![host]),
            (false, vec![host, ("sec-fetch-site", "none")]),
            (false, vec![host, ("sec-fetch-site", "same-site"), ("origin", "http://127.0.0.1:8080")]),
            (false, vec![host, ("sec-fetch-site", "cross-site")]),
            (false, vec![host, ("origin", "http://127.0.0.1:9090")]),
            (false, vec![host, ("origin", "null")]),
        ] {
            let map: HeaderMap = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            let uri = Uri::from_static("/ojs/v1/jobs");
            for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
                assert_eq!(hosts.check_own_page(&method, &uri, &map).is_ok(), fine, "{method} {headers:?}");
            }
            assert!(hosts.check_own_page(&Method::GET, &uri, &map).is_ok(), "{headers:?}");
            let mut upgrade = map.clone();
            upgrade.insert(UPGRADE, "websocket".parse().unwrap());
            assert_eq!(hosts.check_own_page(&Method::GET, &uri, &upgrade).is_ok(), fine, "{headers:?}");
        }
    }

    #[test]
    fn a_page_from_elsewhere_changes_nothing() {
        let hosts = Hosts::new(["jobs.example.com"]);
        let host = ("host", "127.0.0.1:8080");
        for (fine, headers) in [
            (true, vec![host]),
            (true, vec![]),
            (true, vec![host, ("origin", "http://127.0.0.1:8080")]),
            (true, vec![("host", "localhost"), ("origin", "http://LOCALHOST:80")]),
            (true, vec![host, ("origin", "https://jobs.example.com")]),
            (true, vec![host, ("origin", "https://elsewhere.example"), ("sec-fetch-site", "same-origin")]),
            (true, vec![host, ("sec-fetch-site", "none")]),
            (false, vec![host, ("origin", "https://evil.example")]),
            (false, vec![host, ("origin", "null")]),
            (false, vec![host, ("origin", "http://127.0.0.1:9090")]),
            (false, vec![host, ("origin", "https://127.0.0.1:8080.evil.example")]),
            (false, vec![host, ("sec-fetch-site", "cross-site")]),
            (false, vec![host, ("sec-fetch-site", "same-site"), ("origin", "http://127.0.0.1:8080")]),
            (false, vec![("host", "evil.example"), ("origin", "http://evil.example")]),
        ] {
            assert_eq!(checks(&hosts, Method::POST, &headers), fine, "{headers:?}");
            let reads = fine || headers.first() == Some(&host);
            assert_eq!(checks(&hosts, Method::GET, &headers), reads, "a page cannot read the answer: {headers:?}");
            let upgrade = [&headers[..], &[("upgrade", "websocket")]].concat();
            assert_eq!(checks(&hosts, Method::GET, &upgrade), fine, "a page can read a WebSocket: {headers:?}");
        }
        let authority = hosts.check(&Method::GET, &Uri::from_static("http://evil.example/metrics"), &HeaderMap::new());
        assert!(authority.is_err(), "HTTP/2 and proxies name the host in the target");
        let any = Hosts::new(["*"]);
        assert!(checks(&any, Method::POST, &[("host", "evil.example")]));
        assert!(!checks(&any, Method::POST, &[host, ("origin", "https://evil.example")]));
    }
}
