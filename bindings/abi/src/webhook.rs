//! Checks for all languages that a webhook request comes from the server that has the secret.
use std::collections::BTreeMap;

use ojs::webhook::TOLERANCE_SECONDS;
use serde::Deserialize;

use crate::error::AbiError;

/// What a host knows of a request beside its body.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// Names in any case; a header that came several times may have a list.
    headers: BTreeMap<String, Values>,
    secrets: Values,
    /// Seconds.
    tolerance: Option<f64>,
    /// Seconds since the epoch.
    now: Option<f64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Values {
    One(String),
    Many(Vec<String>),
}

impl Values {
    fn all(&self) -> &[String] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

/// Checks a request of a webhook: see [`ojs::verify_webhook`]. `request` is a JSON object with `headers` (an object of
/// texts or lists of texts), `secrets` (a text or a list of texts), and if wanted `tolerance` (seconds, 300 without it)
/// and `now` (seconds since the epoch).
///
/// # Errors
/// Why it is not to be trusted, or an argument that means nothing.
pub fn verify(body: &[u8], request: &str) -> Result<(), AbiError> {
    let request: Request = serde_json::from_str(request).map_err(|error| AbiError::invalid(format!("webhook: {error}")))?;
    let whole = |name: &str, value: f64| {
        let fits = value.is_finite() && value.abs() < 1e15;
        if fits { Ok(value) } else { Err(AbiError::invalid(format!("{name}: {value} is not a number of seconds"))) }
    };
    let tolerance = match request.tolerance {
        Some(seconds) if seconds < 0.0 => return Err(AbiError::invalid("tolerance: must not be negative")),
        Some(seconds) => whole("tolerance", seconds)? as u64,
        None => TOLERANCE_SECONDS,
    };
    let headers: Vec<(&str, &str)> = request
        .headers
        .iter()
        .flat_map(|(name, values)| values.all().iter().map(|value| (name.as_str(), value.as_str())))
        .collect();
    match request.now {
        Some(now) => ojs::verify_webhook_at(body, &headers, request.secrets.all(), tolerance, whole("now", now)?.floor() as i64),
        None => {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
            ojs::verify_webhook_at(body, &headers, request.secrets.all(), tolerance, now)
        }
    }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorClass;

    #[test]
    fn a_request_is_verified_and_the_reason_of_a_refusal_is_in_the_details() {
        let body = br#"{"type":"job.completed"}"#;
        let signature = "sha256=8546408988b294b4617e3d0fe20e0d3136e60d027dacc02a97a3c59632ee4fa0";
        let request = |secrets: &str, now: i64| {
            format!(
                r#"{{"headers":{{"x-ojs-timestamp":"1708030665","x-ojs-signature":["{signature}"]}},"secrets":{secrets},"now":{now}}}"#
            )
        };
        verify(body, &request(r#"["other","whsec_test_secret"]"#, 1_708_030_700)).unwrap();
        verify(body, &request(r#""whsec_test_secret""#, 1_708_030_700)).unwrap();
        for (secrets, now, code) in
            [("\"other\"", 1_708_030_700, "signature_mismatch"), ("[]", 0, "no_secret"), ("\"x\"", 0, "stale_timestamp")]
        {
            let error = verify(body, &request(secrets, now)).unwrap_err();
            assert_eq!(
                (error.class(), error.to_object()["details"]["reason"].as_str()),
                (ErrorClass::UntrustedWebhook, Some(code))
            );
        }
        assert_eq!(verify(body, r#"{"headers":{},"secret":"x"}"#).unwrap_err().class(), ErrorClass::Validation);
    }
}
