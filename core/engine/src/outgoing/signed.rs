//! Headers that sign a request, in both published forms (`ojs_model::webhook`).
use std::fmt::{Display, Write as _};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use ojs_model::Timestamp;
use ojs_model::webhook::{signature, standard_signature};

/// Headers of a request: these, and those that its feature adds.
const USUAL: usize = 12;
/// Bytes of their values, as a rule.
const USUAL_BYTES: usize = 384;

/// Adds a header. Values with characters that no header has are left out.
pub(crate) fn add(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(HeaderName::from_static(name), value);
    }
}

/// Headers in the making. Their values share one piece of memory: a request has a dozen short ones.
#[derive(Debug)]
pub(crate) struct Headers {
    /// Names, and where the value of each ends.
    names: Vec<(&'static str, usize)>,
    values: String,
}

impl Headers {
    /// Headers of a delivery that begins now: its id, its time, and a signature with each of the secrets.
    pub(crate) fn signed(delivery: &str, body: &[u8], secrets: &[&str], now: Timestamp) -> Self {
        let time = now.as_millis().div_euclid(1000).to_string();
        let own = secrets.iter().map(|secret| signature(secret, &time, body));
        let standard = secrets.iter().map(|secret| standard_signature(secret, delivery, &time, body));
        let mut headers = Self { names: Vec::with_capacity(USUAL), values: String::with_capacity(USUAL_BYTES) };
        headers.add("x-ojs-delivery-id", delivery);
        headers.add("x-ojs-timestamp", &time);
        headers.add_list("x-ojs-signature", own, ",");
        headers.add("webhook-id", delivery);
        headers.add("webhook-timestamp", &time);
        headers.add_list("webhook-signature", standard, " ");
        headers
    }

    /// Adds a header.
    pub(crate) fn add(&mut self, name: &'static str, value: impl Display) {
        // Writing to a text does not fail.
        let _ = write!(self.values, "{value}");
        self.names.push((name, self.values.len()));
    }

    fn add_list(&mut self, name: &'static str, values: impl Iterator<Item = String>, between: &str) {
        for (place, value) in values.enumerate() {
            self.values.push_str(if place == 0 { "" } else { between });
            self.values.push_str(&value);
        }
        self.names.push((name, self.values.len()));
    }

    /// The headers. Values with characters that no header has are left out.
    pub(crate) fn finish(self) -> HeaderMap {
        let values = Bytes::from(self.values);
        let mut headers = HeaderMap::with_capacity(USUAL.max(self.names.len()));
        let mut begin = 0;
        for (name, end) in self.names {
            if let Ok(value) = HeaderValue::from_maybe_shared(values.slice(begin..end)) {
                headers.insert(HeaderName::from_static(name), value);
            }
            begin = end;
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_apart_and_wrong_ones_are_left_out() {
        let (body, secrets) = (b"{}", ["whsec_a", "whsec_b"]);
        let mut headers = Headers::signed("del_1", body, &secrets, Timestamp::from_millis(7_999));
        headers.add("x-ojs-event-type", "no\nheader");
        headers.add("x-ojs-job-id", 5);
        let headers = headers.finish();
        let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        assert_eq!([value("x-ojs-delivery-id"), value("webhook-id"), value("x-ojs-job-id")], ["del_1", "del_1", "5"]);
        assert_eq!([value("x-ojs-timestamp"), value("webhook-timestamp")], ["7", "7"]);
        let own = secrets.map(|secret| signature(secret, "7", body)).join(",");
        let standard = secrets.map(|secret| standard_signature(secret, "del_1", "7", body)).join(" ");
        assert_eq!([value("x-ojs-signature"), value("webhook-signature")], [own.as_str(), standard.as_str()]);
        assert_eq!(headers.len(), 7, "{headers:?}");
    }
}
