//! The cookie of a session: what is in it, and how it is written and found.
use axum::http::HeaderMap;
use axum::http::header::{COOKIE, FORWARDED, ORIGIN};
use ojs_model::hex;
use sha2::{Digest, Sha256};

use crate::features::sessions::records::LASTS_MS;
use crate::http::header::FORWARDED_PROTO;

/// Its name.
pub const NAME: &str = "ojs_session";

/// The id under which the store keeps the session of a secret.
#[must_use]
pub fn id_of(secret: &str) -> String {
    hex::encode(&Sha256::digest(secret.as_bytes()))
}

/// The secret that a request shows.
#[must_use]
pub fn shown(headers: &HeaderMap) -> Option<&str> {
    shown_as(NAME, headers)
}

/// The same for the cookie of another program: browsers send a cookie to all ports of a host, so each needs a name.
#[must_use]
pub fn shown_as<'a>(cookie: &str, headers: &'a HeaderMap) -> Option<&'a str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(';'));
    let mut pairs = cookies.filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, value)| *name == cookie && !value.is_empty()).map(|(_, value)| value)
}

/// `Set-Cookie` that begins a session. No script can read it, and no page of another site has the browser send it.
#[must_use]
pub fn begin(secret: &str, headers: &HeaderMap) -> String {
    begin_as(NAME, secret, headers)
}

/// The same for the cookie of another program.
#[must_use]
pub fn begin_as(cookie: &str, secret: &str, headers: &HeaderMap) -> String {
    format!("{cookie}={secret}; Max-Age={}{}", LASTS_MS / 1000, attributes(headers))
}

/// `Set-Cookie` that has the browser forget it.
#[must_use]
pub fn end(headers: &HeaderMap) -> String {
    end_as(NAME, headers)
}

/// The same for the cookie of another program.
#[must_use]
pub fn end_as(cookie: &str, headers: &HeaderMap) -> String {
    format!("{cookie}=; Max-Age=0{}", attributes(headers))
}

fn attributes(headers: &HeaderMap) -> String {
    let secure = if is_secure(headers) { "; Secure" } else { "" };
    // The whole host: the page and the API may lie under different paths, with a prefix that a proxy takes away.
    format!("; Path=/; HttpOnly; SameSite=Strict{secure}")
}

/// Whether the browser speaks TLS: a proxy in front says so, or the address of the page does. A client that claims it
/// wrongly only loses its own cookie.
fn is_secure(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_ascii_lowercase();
    let forwarded = text(&FORWARDED);
    let first = forwarded.split(',').next().unwrap_or_default();
    let proto = first.split(';').filter_map(|pair| pair.trim().split_once('=')).find(|(name, _)| *name == "proto");
    text(&ORIGIN).starts_with("https://")
        || text(&FORWARDED_PROTO).split(',').next().is_some_and(|proto| proto.trim() == "https")
        || proto.is_some_and(|(_, value)| value.trim_matches('"') == "https")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn the_cookie_is_found_among_others_and_in_several_headers() {
        assert_eq!(shown(&headers(&[("cookie", "a=1; ojs_session=abc; b=2")])), Some("abc"));
        assert_eq!(shown(&HeaderMap::new()), None);
        for without in ["a=1", "xojs_session=abc", "ojs_session=", "ojs_session", "OJS_SESSION=abc"] {
            assert_eq!(shown(&headers(&[("cookie", without)])), None, "{without}");
        }
        let mut several = headers(&[("cookie", "a=1")]);
        several.append(COOKIE, "ojs_session=abc".parse().unwrap());
        assert_eq!(shown(&several), Some("abc"), "HTTP/2 sends one header for each cookie");
    }

    #[test]
    fn behind_tls_the_cookie_is_secure() {
        for secure in [
            ("x-forwarded-proto", "https"),
            ("x-forwarded-proto", "HTTPS, http"),
            ("forwarded", "for=1.2.3.4;proto=https;host=a"),
            ("forwarded", "proto=\"https\", for=10.0.0.1;proto=http"),
            ("origin", "https://jobs.example.com"),
        ] {
            assert!(begin("s", &headers(&[secure])).ends_with("; Path=/; HttpOnly; SameSite=Strict; Secure"), "{secure:?}");
        }
        for plain in [("x-forwarded-proto", "http, https"), ("forwarded", "proto=http"), ("origin", "http://localhost:8080")] {
            assert_eq!(begin("s", &headers(&[plain])), "ojs_session=s; Max-Age=43200; Path=/; HttpOnly; SameSite=Strict");
        }
        assert!(end(&HeaderMap::new()).starts_with("ojs_session=; Max-Age=0;"));
    }
}
