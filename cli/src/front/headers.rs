//! Which headers pass between browsers and the other server.
use axum::http::header::{
    ALT_SVC, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, EXPECT, FORWARDED, HOST,
    HeaderMap, HeaderName, HeaderValue, ORIGIN, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, REFERER, SERVER, SET_COOKIE,
    STRICT_TRANSPORT_SECURITY, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};

/// Headers of one connection, which end at each hop (RFC 9110, section 7.6.1). `Connection` names more.
const OF_ONE_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];
/// What a browser says to this process only. The key is set anew; the client of HTTP writes the length and the host.
const TO_US: [HeaderName; 8] = [AUTHORIZATION, CONTENT_LENGTH, COOKIE, EXPECT, FORWARDED, HOST, ORIGIN, REFERER];
/// Names that begin like these are for this process as well: what a browser says of the page, a proxy of its client.
const TO_US_BEGINS: [&str; 2] = ["sec-", "x-forwarded-"];
/// What the other server says to its own clients. Its cookies are not for this origin, and a browser would ask for a
/// password or turn to another address because of the others.
const OF_THE_SERVER: [HeaderName; 6] =
    [SET_COOKIE, WWW_AUTHENTICATE, STRICT_TRANSPORT_SECURITY, ALT_SVC, SERVER, HeaderName::from_static("clear-site-data")];
/// Rights for pages of other origins: what the server allows them at its own address, it does not allow them here.
const OF_OTHER_ORIGINS: &str = "access-control-";
/// Nothing in an answer of the API can run in a browser, whatever its type says.
const POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");

/// The headers of a request that are sent on.
pub fn of_request(headers: &HeaderMap) -> HeaderMap {
    kept(headers, |name| !TO_US.contains(name) && !TO_US_BEGINS.iter().any(|start| name.as_str().starts_with(start)))
}

/// The headers of an answer that are sent back.
pub fn of_answer(headers: &HeaderMap) -> HeaderMap {
    let mut kept = kept(headers, |name| !OF_THE_SERVER.contains(name) && !name.as_str().starts_with(OF_OTHER_ORIGINS));
    guard(&mut kept);
    kept
}

/// Headers that keep a browser from running an answer, or from showing it to other pages.
pub fn guard(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin"));
}

/// The media type of JSON.
pub fn set_json(headers: &mut HeaderMap) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(ojs_model::MEDIA_TYPE));
}

fn kept(headers: &HeaderMap, wanted: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let named = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok()).flat_map(|list| list.split(','));
    let named: Vec<String> = named.map(|name| name.trim().to_ascii_lowercase()).collect();
    let passes =
        |name: &HeaderName| !OF_ONE_HOP.contains(name) && !named.iter().any(|other| other == name.as_str()) && wanted(name);
    let found = headers.iter().filter(|(name, _)| passes(name));
    found.map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        let mut names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn what_belongs_to_one_connection_or_to_the_browser_is_not_sent_on() {
        let asked = map(&[
            ("accept", "application/json"),
            ("authorization", "Bearer k"),
            ("connection", "keep-alive, X-One-Hop"),
            ("content-length", "2"),
            ("cookie", "ojs_ui_session=s; other=1"),
            ("host", "127.0.0.1:8080"),
            ("idempotency-key", "i"),
            ("keep-alive", "timeout=5"),
            ("last-event-id", "7"),
            ("origin", "http://127.0.0.1:8080"),
            ("ojs-version", "1.0"),
            ("sec-fetch-site", "same-origin"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "websocket"),
            ("x-forwarded-for", "10.0.0.1"),
            ("x-one-hop", "1"),
            ("x-ojs-tenant-id", "acme"),
        ]);
        let sent = of_request(&asked);
        assert_eq!(names(&sent), ["accept", "idempotency-key", "last-event-id", "ojs-version", "x-ojs-tenant-id"]);
    }

    #[test]
    fn an_answer_brings_no_cookies_and_no_rights_for_other_origins() {
        let answer = of_answer(&map(&[
            ("access-control-allow-origin", "*"),
            ("access-control-allow-credentials", "true"),
            ("connection", "close"),
            ("content-security-policy", "script-src *"),
            ("content-type", "text/html"),
            ("retry-after", "1"),
            ("set-cookie", "ojs_session=s"),
            ("strict-transport-security", "max-age=1"),
            ("www-authenticate", "Basic"),
            ("x-request-id", "r"),
        ]));
        let expected = [
            "content-security-policy",
            "content-type",
            "cross-origin-resource-policy",
            "retry-after",
            "x-content-type-options",
            "x-request-id",
        ];
        assert_eq!(names(&answer), expected);
        assert_eq!(answer[CONTENT_SECURITY_POLICY], POLICY);
    }
}
