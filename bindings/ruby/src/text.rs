//! Texts that policy defines: times, durations, errors; and strings on their way over the boundary.
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use magnus::{Error, RString, Ruby, Value, value::ReprValue};
use ojs::transport::Response;
use ojs_abi::error::AbiError;
use ojs_model::duration::IsoDuration;
use ojs_model::{Timestamp, duration, spelling};
use serde::de::DeserializeOwned;

use crate::connection::length;
use crate::gate;

/// A copy of a string's bytes.
#[expect(unsafe_code, reason = "the slice is copied before Ruby runs again")]
pub fn bytes(string: RString) -> Bytes {
    // SAFETY: no Ruby code runs between the borrow and the copy.
    Bytes::copy_from_slice(unsafe { string.as_slice() })
}

/// A Ruby string in UTF-8.
pub fn utf8(ruby: &Ruby, bytes: &[u8]) -> RString {
    ruby.enc_str_new(bytes, ruby.utf8_encoding())
}

/// Settings, written as JSON by the gem itself.
pub fn settings<T: DeserializeOwned>(json: &str) -> Result<T, AbiError> {
    serde_json::from_str(json).map_err(|e| AbiError::invalid(format!("wrong settings: {e}")))
}

/// Sets the options that jobs of a type have unless their enqueue says otherwise, as a JSON object by their names on the wire.
pub fn set_job_defaults(ruby: &Ruby, job_type: String, options: String) -> Result<(), Error> {
    gate::held(ruby, "set_job_defaults", || ojs_abi::defaults::set(&job_type, &options))
}

/// A job, as JSON, with the options of its type.
pub fn completed_job(ruby: &Ruby, job: String) -> Result<String, Error> {
    gate::held(ruby, "completed_job", || ojs_abi::defaults::completed(&job))
}

/// The numbers of the changes that bring the arguments of a job to the version of its handler, as JSON.
pub fn version_changes(ruby: &Ruby, job_type: String, said: String, job: String) -> Result<String, Error> {
    gate::held(ruby, "version_changes", || ojs_abi::versions::changes(&job_type, &said, job.as_bytes()))
}

/// Checks a request of a webhook; `request` is the JSON that `ojs_abi::webhook` reads.
pub fn verify_webhook(ruby: &Ruby, body: RString, request: String) -> Result<(), Error> {
    let body = bytes(body);
    gate::held(ruby, "verify_webhook", || ojs_abi::webhook::verify(&body, &request))
}

/// ISO 8601 text of a length in seconds.
pub fn duration_text(ruby: &Ruby, seconds: f64) -> Result<String, Error> {
    gate::held(ruby, "duration_text", || {
        let length = length("a duration", Some(seconds))?.unwrap_or_default();
        // Milliseconds are what servers keep; float noise below them is not wanted in the text.
        Ok(duration::format(Duration::from_secs_f64((length.as_secs_f64() * 1000.0).round() / 1000.0)))
    })
}

/// Seconds of a duration: ISO 8601, or the short forms `500ms`, `1s`, `5m`, `1h`.
pub fn duration_seconds(ruby: &Ruby, text: String) -> Result<f64, Error> {
    gate::held(ruby, "duration_seconds", || {
        let parsed = IsoDuration::parse(&text).map_err(|e| AbiError::invalid(format!("'{text}' is {e}")))?;
        Ok(parsed.value().as_secs_f64())
    })
}

/// RFC 3339 text of the time `delay` seconds from now.
pub fn time_after(ruby: &Ruby, delay: f64) -> Result<String, Error> {
    gate::held(ruby, "time_after", || {
        let delay = length("a delay", Some(delay))?.unwrap_or_default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        Ok(Timestamp::from_millis(now).plus(delay).to_string())
    })
}

/// What is said of a name that is none of `names`, with the one that was probably meant.
pub fn unknown_name(kind: String, name: String, place: String, names: Vec<String>) -> String {
    spelling::unknown(&kind, &name, &place, &names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The exception for an answer that is not 2xx.
pub fn error_of(ruby: &Ruby, status: u16, body: RString) -> Value {
    let error = ojs::Error::from_response(&Response::new(status, bytes(body)));
    value_of(ruby, &AbiError::Sdk(error))
}

/// The exception for the error of one item of an answer about many.
pub fn item_error(ruby: &Ruby, error: String) -> Value {
    value_of(ruby, &AbiError::Sdk(ojs::Error::from_item(&error)))
}

fn value_of(ruby: &Ruby, error: &AbiError) -> Value {
    gate::exception(ruby, error).value().unwrap_or_else(|| ruby.qnil().as_value())
}
