//! Names and sizes that several requests check alike.
use crate::error::{ErrorCode, OjsError};
use crate::limits::{MAX_QUEUE_BYTES, MAX_TYPE_BYTES};

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

/// The first 80 characters: a refusal never repeats a megabyte to its sender.
pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

pub(super) fn too_large(code: ErrorCode, field: &str, actual: usize, max: usize) -> OjsError {
    OjsError::new(code, format!("{field} has {actual} bytes; the limit is {max}."))
        .with_details(serde_json::json!({"field": field, "actual_bytes": actual, "max_bytes": max}))
}
