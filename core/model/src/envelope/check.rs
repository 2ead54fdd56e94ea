//! Names and sizes that several requests check alike.
use crate::error::{ErrorCode, OjsError};
use crate::limits::{MAX_DELAY_MS, MAX_LEASE_MS, MAX_NAME_BYTES, MAX_QUEUE_BYTES, MAX_TYPE_BYTES};

/// Checks a job type: dot-separated words of lowercase letters, digits, `_`, `-`, each starting with a letter.
///
/// # Errors
/// 400 `invalid_payload`, field `type`.
pub fn check_type(text: &str) -> Result<(), OjsError> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    let mut at_start = true;
    let shaped = text.bytes().all(|b| {
        let fits = if at_start { b.is_ascii_lowercase() } else { plain(b) || b == b'.' };
        at_start = b == b'.';
        fits
    });
    // A word has begun but not ended: empty, or a dot at the end.
    if shaped && !at_start && text.len() <= MAX_TYPE_BYTES {
        return Ok(());
    }
    Err(OjsError::invalid_field(
        "type",
        format!(
            "type must be lowercase words joined by dots (email.send), at most {MAX_TYPE_BYTES} bytes, got '{}'.",
            shorten(text)
        ),
    ))
}

/// Checks a queue name: lowercase letters, digits, `-`, `.`, starting with a letter or digit.
///
/// # Errors
/// 400 `invalid_payload`, field `queue`.
pub fn check_queue(text: &str) -> Result<(), OjsError> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let valid = text.len() <= MAX_QUEUE_BYTES
        && text.bytes().next().is_some_and(plain)
        && text.bytes().all(|b| plain(b) || b == b'-' || b == b'.');
    if valid {
        return Ok(());
    }
    Err(OjsError::invalid_field(
        "queue",
        format!(
            "queue must be lowercase letters, digits, '-' and '.', starting with a letter or digit, at most {MAX_QUEUE_BYTES} bytes, got '{}'.",
            shorten(text)
        ),
    ))
}

/// Checks a name or an id that a client chose and that is stored: 1 to 255 bytes, no control characters.
///
/// ```
/// use ojs_model::envelope::check_name;
/// assert!(check_name("worker_id", "host-7:4711").is_ok());
/// assert!(check_name("worker_id", "two\nlines").is_err());
/// assert!(check_name("worker_id", &"x".repeat(256)).is_err());
/// ```
///
/// # Errors
/// 400 `invalid_payload`, with the name of the field.
pub fn check_name(field: &str, text: &str) -> Result<(), OjsError> {
    let fault = if text.is_empty() {
        "it is empty".to_owned()
    } else if text.len() > MAX_NAME_BYTES {
        format!("it has {} bytes", text.len())
    } else if text.chars().any(char::is_control) {
        "it has a control character".to_owned()
    } else {
        return Ok(());
    };
    let message = format!("{field} must be 1 to {MAX_NAME_BYTES} bytes without control characters; {fault}.");
    Err(OjsError::new(ErrorCode::InvalidPayload, message)
        .with_details(serde_json::json!({"field": field, "max_bytes": MAX_NAME_BYTES})))
}

/// Checks the length of a lease in milliseconds: a second to 30 days.
///
/// # Errors
/// 400 `invalid_payload`, with the name of the field and the bounds.
pub fn check_lease_ms(field: &str, ms: u64) -> Result<(), OjsError> {
    check_range(field, ms, 1000, MAX_LEASE_MS, "30 days")
}

/// Checks how long a released job is kept back, in milliseconds: at most ten years.
///
/// # Errors
/// 400 `invalid_payload`, with the name of the field and the bound.
pub fn check_delay_ms(field: &str, ms: u64) -> Result<(), OjsError> {
    check_range(field, ms, 0, MAX_DELAY_MS, "ten years")
}

fn check_range(field: &str, ms: u64, min: u64, max: u64, longest: &str) -> Result<(), OjsError> {
    if (min..=max).contains(&ms) {
        return Ok(());
    }
    let message = format!("{field} must be at least {min} and at most {max} milliseconds ({longest}), got {ms}.");
    Err(OjsError::new(ErrorCode::InvalidPayload, message)
        .with_details(serde_json::json!({"field": field, "min": min, "max": max})))
}

/// The first 80 characters: a refusal never repeats a megabyte to its sender.
pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

pub(super) fn too_large(code: ErrorCode, field: &str, actual: usize, max: usize) -> OjsError {
    OjsError::new(code, format!("{field} has {actual} bytes; the limit is {max}."))
        .with_details(serde_json::json!({"field": field, "actual_bytes": actual, "max_bytes": max}))
}
