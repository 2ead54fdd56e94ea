//! Texts that policy defines: times, durations, errors.
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;
use ojs::transport::Response;
use ojs_abi::error::AbiError;
use ojs_model::duration::IsoDuration;
use ojs_model::{Timestamp, duration, spelling};

use crate::connection::millis;
use crate::gate;

/// ISO 8601 text of a length in milliseconds.
#[napi]
pub fn duration_text(length: f64) -> napi::Result<String> {
    gate::enter("durationText", || Ok(duration::format(millis("a duration", Some(length.round()))?.unwrap_or_default())))
}

/// Milliseconds of a duration: ISO 8601, or the short forms `500ms`, `1s`, `5m`, `1h`.
#[napi]
pub fn duration_millis(text: String) -> napi::Result<f64> {
    gate::enter("durationMillis", || {
        let parsed = IsoDuration::parse(&text).map_err(|e| AbiError::invalid(format!("'{text}' is {e}")))?;
        Ok(parsed.value().as_millis() as f64)
    })
}

/// Sets the options that jobs of a type have unless their enqueue says otherwise, as a JSON object by their names on the wire.
#[napi]
pub fn set_job_defaults(job_type: String, options: String) -> napi::Result<()> {
    gate::enter("setJobDefaults", || ojs_abi::defaults::set(&job_type, &options))
}

/// A job, as JSON, with the options of its type.
#[napi]
pub fn completed_job(job: String) -> napi::Result<String> {
    gate::enter("completedJob", || ojs_abi::defaults::completed(&job))
}

/// The numbers of the changes that bring the arguments of a job to the version of its handler, as JSON.
#[napi]
pub fn version_changes(job_type: String, said: String, job: &[u8]) -> napi::Result<String> {
    gate::enter("versionChanges", || ojs_abi::versions::changes(&job_type, &said, job))
}

/// RFC 3339 text of the time `delay` milliseconds from now. A negative one is refused.
#[napi]
pub fn time_after(delay: f64) -> napi::Result<String> {
    gate::enter("timeAfter", || {
        let delay = millis("a delay", Some(delay))?.unwrap_or_default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        Ok(Timestamp::from_millis(now).plus(delay).to_string())
    })
}

/// Checks a request of a webhook; `request` is the JSON that `ojs_abi::webhook` reads.
#[napi]
pub fn verify_webhook(body: Buffer, request: String) -> napi::Result<()> {
    gate::enter("verifyWebhook", || ojs_abi::webhook::verify(&body, &request))
}

/// What is said of a name that is none of `names`, with the one that was probably meant.
#[napi]
#[must_use]
pub fn unknown_name(kind: String, name: String, place: String, names: Vec<String>) -> String {
    spelling::unknown(&kind, &name, &place, &names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The description of the error in an answer that is not 2xx.
#[napi]
#[must_use]
pub fn error_of(status: u16, body: String) -> String {
    gate::describe(&AbiError::Sdk(ojs::Error::from_response(&Response::new(status, Bytes::from(body)))))
}

/// The description of the error of one item of an answer about many.
#[napi]
#[must_use]
pub fn item_error(error: String) -> String {
    gate::describe(&AbiError::Sdk(ojs::Error::from_item(&error)))
}
