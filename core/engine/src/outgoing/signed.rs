//! Headers that sign a request, in both published forms (`ojs_model::webhook`).
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use ojs_model::Timestamp;
use ojs_model::webhook::{signature, standard_signature};

/// Headers of a request: these, and those that its feature adds.
const USUAL: usize = 12;

/// Adds a header. Values with characters that no header has are left out.
pub(crate) fn add(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(HeaderName::from_static(name), value);
    }
}

/// Headers of a delivery that begins now: its id, its time, and a signature with each of the secrets.
pub(crate) fn headers(delivery: &str, body: &[u8], secrets: &[&str], now: Timestamp) -> HeaderMap {
    let time = now.as_millis().div_euclid(1000).to_string();
    let own: Vec<String> = secrets.iter().map(|secret| signature(secret, &time, body)).collect();
    let standard: Vec<String> = secrets.iter().map(|secret| standard_signature(secret, delivery, &time, body)).collect();
    let mut headers = HeaderMap::with_capacity(USUAL);
    add(&mut headers, "x-ojs-delivery-id", delivery);
    add(&mut headers, "x-ojs-timestamp", &time);
    add(&mut headers, "x-ojs-signature", &own.join(","));
    add(&mut headers, "webhook-id", delivery);
    add(&mut headers, "webhook-timestamp", &time);
    add(&mut headers, "webhook-signature", &standard.join(" "));
    headers
}
