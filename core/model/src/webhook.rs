//! Signatures of requests that the server sends: made by the server, checked by the receiver (extensions section 17.1).
//!
//! Each request carries two forms, so that a receiver may take the one that its libraries know:
//!
//! | headers | signed bytes | key | value |
//! |---|---|---|---|
//! | `X-OJS-Signature`, `X-OJS-Timestamp` | `timestamp.body` | the bytes of the secret, its prefix included | `sha256=` and hex |
//! | `webhook-signature`, `webhook-id`, `webhook-timestamp` | `id.timestamp.body` | see [`standard_signature`] | `v1,` and base64 |
//!
//! Both are HMAC-SHA256 over the body as it was sent. While a secret is being replaced, a header has a value for each
//! secret.
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::hex;

/// Seconds that the clocks of sender and receiver may differ.
pub const TOLERANCE_SECONDS: u64 = 300;
/// How a generated secret begins.
pub const SECRET_PREFIX: &str = "whsec_";
/// Signatures that are compared at most: a header from a stranger must not cost more.
const MAX_SIGNATURES: usize = 16;

/// Why a request is not to be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Untrusted {
    /// A header is missing.
    #[error("the header {0} is missing")]
    MissingHeader(&'static str),
    /// A header has no value of its kind.
    #[error("the header {0} cannot be read")]
    InvalidHeader(&'static str),
    /// The request was signed too long ago, or in the future: perhaps it was recorded and sent again.
    #[error("the request was signed {age} seconds ago; at most {tolerance} are allowed")]
    Stale {
        /// Seconds since it was signed; negative in the future.
        age: i64,
        /// Seconds that are allowed.
        tolerance: u64,
    },
    /// No signature was made with any of the secrets over this body.
    #[error("no signature fits: another secret, or the body was changed on its way (use the bytes as they arrived)")]
    Mismatch,
    /// There is no secret to compare with.
    #[error("no secret was given")]
    NoSecret,
}

impl Untrusted {
    /// The reason as a word for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::MissingHeader(_) => "missing_header",
            Self::InvalidHeader(_) => "invalid_header",
            Self::Stale { .. } => "stale_timestamp",
            Self::Mismatch => "signature_mismatch",
            Self::NoSecret => "no_secret",
        }
    }
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
    // HMAC takes keys of every length, so there always is one.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    parts.iter().for_each(|part| mac.update(part));
    Some(mac)
}

/// The value of `X-OJS-Signature` for one secret; `timestamp` is in seconds since the epoch.
///
/// ```
/// use ojs_model::webhook::signature;
/// let value = signature("whsec_test_secret", "1708030665", br#"{"type":"job.completed"}"#);
/// assert_eq!(value, "sha256=8546408988b294b4617e3d0fe20e0d3136e60d027dacc02a97a3c59632ee4fa0");
/// ```
#[must_use]
pub fn signature(secret: &str, timestamp: &str, body: &[u8]) -> String {
    let code = mac(secret.as_bytes(), &[timestamp.as_bytes(), b".", body]).map(|mac| mac.finalize().into_bytes());
    format!("sha256={}", hex::encode(code.as_deref().unwrap_or_default()))
}

/// The value of `webhook-signature` for one secret, by the rules of Standard Webhooks. The key is what stands behind
/// `whsec_`, decoded from base64; where that is not base64, its bytes as they are.
#[must_use]
pub fn standard_signature(secret: &str, id: &str, timestamp: &str, body: &[u8]) -> String {
    let mac = mac(&standard_key(secret), &[id.as_bytes(), b".", timestamp.as_bytes(), b".", body]);
    let code = mac.map(|mac| BASE64_STANDARD.encode(mac.finalize().into_bytes()));
    format!("v1,{}", code.unwrap_or_default())
}

fn standard_key(secret: &str) -> Vec<u8> {
    let text = secret.strip_prefix(SECRET_PREFIX).unwrap_or(secret);
    BASE64_STANDARD.decode(text).unwrap_or_else(|_| text.as_bytes().to_vec())
}

/// A request as it arrived.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// Its body, byte for byte.
    pub body: &'a [u8],
    /// Its headers: names in any case, and values.
    pub headers: &'a [(&'a str, &'a str)],
}

impl<'a> Received<'a> {
    fn header(&self, name: &'static str) -> Result<&'a str, Untrusted> {
        self.find(name).ok_or(Untrusted::MissingHeader(name))
    }

    fn find(&self, name: &str) -> Option<&'a str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }

    /// Checks that one of the secrets signed the request within `tolerance` seconds of `now`, both in seconds since the
    /// epoch. Every secret is compared with every signature, each in constant time. Headers of both forms are known;
    /// where both are there, those of `X-OJS` count.
    ///
    /// ```
    /// use ojs_model::webhook::{Received, signature};
    /// let body = br#"{"type":"job.completed"}"#;
    /// let signed = signature("whsec_test_secret", "1708030665", body);
    /// let headers = [("X-OJS-Timestamp", "1708030665"), ("X-OJS-Signature", signed.as_str())];
    /// let request = Received { body, headers: &headers };
    /// assert!(request.verify(&["whsec_test_secret"], 300, 1_708_030_700).is_ok());
    /// assert!(request.verify(&["whsec_another"], 300, 1_708_030_700).is_err());
    /// assert!(request.verify(&["whsec_test_secret"], 300, 1_708_040_000).is_err());
    /// ```
    ///
    /// # Errors
    /// [`Untrusted`], which says why.
    pub fn verify<S: AsRef<str>>(&self, secrets: &[S], tolerance: u64, now: i64) -> Result<(), Untrusted> {
        if secrets.iter().all(|secret| secret.as_ref().is_empty()) {
            return Err(Untrusted::NoSecret);
        }
        let secrets = secrets.iter().map(AsRef::as_ref).filter(|secret| !secret.is_empty());
        if let Some(given) = self.find("X-OJS-Signature") {
            let time = self.header("X-OJS-Timestamp")?;
            check_age("X-OJS-Timestamp", time, tolerance, now)?;
            let given = given.split(',').filter_map(|value| hex::decode(value.trim().strip_prefix("sha256=")?));
            let given: Vec<Vec<u8>> = given.take(MAX_SIGNATURES).collect();
            return fits(secrets, &given, |secret| mac(secret.as_bytes(), &[time.as_bytes(), b".", self.body]));
        }
        let given = self.find("webhook-signature").ok_or(Untrusted::MissingHeader("X-OJS-Signature"))?;
        let (id, time) = (self.header("webhook-id")?, self.header("webhook-timestamp")?);
        check_age("webhook-timestamp", time, tolerance, now)?;
        let given = given.split_ascii_whitespace().filter_map(|value| BASE64_STANDARD.decode(value.strip_prefix("v1,")?).ok());
        let given: Vec<Vec<u8>> = given.take(MAX_SIGNATURES).collect();
        let parts: [&[u8]; 5] = [id.as_bytes(), b".", time.as_bytes(), b".", self.body];
        fits(secrets, &given, |secret| mac(&standard_key(secret), &parts))
    }
}

fn check_age(header: &'static str, time: &str, tolerance: u64, now: i64) -> Result<(), Untrusted> {
    let plain = !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit());
    let signed: i64 = plain.then(|| time.parse().ok()).flatten().ok_or(Untrusted::InvalidHeader(header))?;
    let age = now.saturating_sub(signed);
    if age.unsigned_abs() > tolerance { Err(Untrusted::Stale { age, tolerance }) } else { Ok(()) }
}

/// Compares all pairs, also behind one that fits: the time says nothing about which it was.
fn fits<'a>(
    secrets: impl Iterator<Item = &'a str>,
    given: &[Vec<u8>],
    mac: impl Fn(&str) -> Option<Hmac<Sha256>>,
) -> Result<(), Untrusted> {
    let mut fits = false;
    for expected in secrets.filter_map(mac) {
        for code in given {
            fits |= expected.clone().verify_slice(code).is_ok();
        }
    }
    if fits { Ok(()) } else { Err(Untrusted::Mismatch) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = br#"{"type":"job.completed"}"#;
    const TIME: &str = "1708030665";
    const NOW: i64 = 1_708_030_665;

    fn check(headers: &[(&str, &str)], secrets: &[&str], now: i64) -> Result<(), Untrusted> {
        Received { body: BODY, headers }.verify(secrets, TOLERANCE_SECONDS, now)
    }

    #[test]
    fn any_secret_may_fit_any_signature_and_names_of_headers_have_any_case() {
        let values = format!("{}, {}", signature("old", TIME, BODY), signature("new", TIME, BODY));
        let headers = [("x-ojs-signature", values.as_str()), ("X-OJS-TIMESTAMP", TIME)];
        for secrets in [&["old"][..], &["new"], &["third", "new"]] {
            assert_eq!(check(&headers, secrets, NOW), Ok(()));
        }
        assert_eq!(check(&headers, &["third"], NOW), Err(Untrusted::Mismatch));
        assert_eq!(check(&headers, &[], NOW), Err(Untrusted::NoSecret));
        assert_eq!(check(&headers, &[""], NOW), Err(Untrusted::NoSecret));
        let other = Received { body: b"{}", headers: &headers };
        assert_eq!(other.verify(&["old"], TOLERANCE_SECONDS, NOW), Err(Untrusted::Mismatch));
    }

    #[test]
    fn the_headers_of_standard_webhooks_are_enough() {
        // The example of the specification of Standard Webhooks.
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let body = br#"{"test": 2432232314}"#;
        let value = standard_signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body);
        assert_eq!(value, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        let headers = [
            ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
            ("webhook-timestamp", "1614265330"),
            ("webhook-signature", &format!("v1a,AAAA {value}")),
        ];
        let request = Received { body, headers: &headers };
        assert_eq!(request.verify(&[secret], 300, 1_614_265_331), Ok(()));
        assert_eq!(request.verify(&["whsec_AAAA"], 300, 1_614_265_331), Err(Untrusted::Mismatch));
    }

    #[test]
    fn what_is_missing_or_old_or_nonsense_is_refused_with_its_reason() {
        let signed = signature("s", TIME, BODY);
        let whole = [("X-OJS-Signature", signed.as_str()), ("X-OJS-Timestamp", TIME)];
        assert_eq!(check(&whole, &["s"], NOW + 300), Ok(()));
        assert_eq!(check(&whole, &["s"], NOW - 300), Ok(()));
        assert_eq!(check(&whole, &["s"], NOW + 301), Err(Untrusted::Stale { age: 301, tolerance: 300 }));
        assert_eq!(check(&whole, &["s"], NOW - 301), Err(Untrusted::Stale { age: -301, tolerance: 300 }));
        assert_eq!(check(&[], &["s"], NOW), Err(Untrusted::MissingHeader("X-OJS-Signature")));
        assert_eq!(check(&whole[..1], &["s"], NOW), Err(Untrusted::MissingHeader("X-OJS-Timestamp")));
        let strange = |value| [("X-OJS-Signature", signed.as_str()), ("X-OJS-Timestamp", value)];
        for time in ["", "-1", "+1708030665", "1e9", "99999999999999999999"] {
            assert_eq!(check(&strange(time), &["s"], NOW), Err(Untrusted::InvalidHeader("X-OJS-Timestamp")), "{time}");
        }
        for value in ["", "sha256=", "sha256=zz", "sha256=é1", &signed[7..], &signed[..60]] {
            let headers = [("X-OJS-Signature", value), ("X-OJS-Timestamp", TIME)];
            assert_eq!(check(&headers, &["s"], NOW), Err(Untrusted::Mismatch), "{value}");
        }
    }
}
