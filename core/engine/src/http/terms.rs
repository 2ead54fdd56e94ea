//! Words that filters of several routes share: states, job types, times.
use ojs_model::{ErrorCode, JobState, OjsError, Timestamp, duration};
use serde_json::json;

/// A state by its name.
pub fn state(word: &str) -> Result<JobState, OjsError> {
    word.parse().map_err(|error: ojs_model::state::UnknownState| {
        let words = JobState::ALL.map(JobState::as_str).join(", ");
        invalid("state", format!("{error}: use one of {words}."))
    })
}

/// A job type, or the start of one followed by `*`.
pub fn job_type(pattern: &str) -> Result<String, OjsError> {
    let plain = pattern.strip_suffix('*').unwrap_or(pattern);
    let valid = plain.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-' | b'.'));
    let fault = || invalid("type", "type must be a job type, or the start of one followed by *.");
    if valid { Ok(pattern.to_owned()) } else { Err(fault()) }
}

/// A parameter or member that cannot be used: 400.
pub fn invalid(field: &str, message: impl Into<String>) -> OjsError {
    OjsError::new(ErrorCode::InvalidRequest, message).with_details(json!({"field": field}))
}

/// A time of a request.
pub fn time_of(field: &str, text: Option<String>) -> Result<Option<i64>, OjsError> {
    let Some(text) = text else { return Ok(None) };
    let at = Timestamp::parse(&text).map_err(|error| OjsError::invalid_field(field, format!("{field} is {error}.")))?;
    Ok(Some(at.as_millis()))
}

/// A time, or a duration before now.
pub fn moment(field: &str, text: &str, now: Timestamp) -> Result<i64, OjsError> {
    if text.starts_with('P') {
        let period =
            duration::IsoDuration::parse(text).map_err(|error| OjsError::invalid_field(field, format!("{field}: {error}.")))?;
        let millis = i64::try_from(period.value().as_millis()).unwrap_or(i64::MAX);
        return Ok(now.as_millis().saturating_sub(millis));
    }
    Ok(time_of(field, Some(text.to_owned()))?.unwrap_or_default())
}
