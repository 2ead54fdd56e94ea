//! Receiving webhooks: whether a request comes from the server that has the secret (extensions section 17.1).
use std::time::{SystemTime, UNIX_EPOCH};

pub use ojs_model::webhook::{Received, TOLERANCE_SECONDS, Untrusted};

use crate::error::Error;

/// Checks a request of a webhook before its body is read: one of the secrets signed these bytes at most five minutes
/// ago. Both forms of headers are known, `X-OJS-Signature` and `webhook-signature` (Standard Webhooks).
///
/// `body` is the body byte for byte as it arrived; `headers` are all headers. While a secret is being replaced, give
/// the old one and the new one. A request may arrive more than once: `X-OJS-Delivery-ID` is the same each time.
///
/// ```
/// # fn handler(body: &[u8], headers: &[(&str, &str)]) -> u16 {
/// match ojs::verify_webhook(body, headers, &["whsec_test_secret"]) {
///     Ok(()) => 204,
///     Err(error) => {
///         eprintln!("{error}");
///         401
///     }
/// }
/// # }
/// # assert_eq!(handler(b"{}", &[]), 401);
/// ```
///
/// # Errors
/// [`Error::UntrustedWebhook`], which says why.
pub fn verify_webhook<S: AsRef<str>>(body: &[u8], headers: &[(&str, &str)], secrets: &[S]) -> Result<(), Error> {
    verify_webhook_at(body, headers, secrets, TOLERANCE_SECONDS, now())
}

/// Seconds since the epoch.
pub(crate) fn now() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(passed.as_secs()).unwrap_or(i64::MAX)
}

/// The same with another tolerance, in seconds, and at another time, in seconds since the epoch.
///
/// # Errors
/// [`Error::UntrustedWebhook`], which says why.
pub fn verify_webhook_at<S: AsRef<str>>(
    body: &[u8],
    headers: &[(&str, &str)],
    secrets: &[S],
    tolerance: u64,
    now: i64,
) -> Result<(), Error> {
    Ok(Received { body, headers }.verify(secrets, tolerance, now)?)
}
