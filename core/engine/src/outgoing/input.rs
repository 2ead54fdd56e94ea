//! What a client asks for when it registers an address, checked before it is stored.
use ojs_model::OjsError;
use serde_json::{Value, json};

use super::guard::Guard;

/// Longest URL, bytes.
const MAX_URL: usize = 2_048;
/// Most entries of a list.
const MAX_ENTRIES: usize = 100;
/// Longest entry of a list, bytes.
const MAX_ENTRY: usize = 255;

/// An address of the web that the guard lets requests go to.
///
/// # Errors
/// 400 that names the member.
pub(crate) fn web_address(field: &str, value: &Value, guard: &Guard) -> Result<String, OjsError> {
    let wrong = |message: String| OjsError::invalid_field(field, message);
    let url = value.as_str().ok_or_else(|| wrong(format!("{field} must be a string: https://example.com/path.")))?;
    if url.len() > MAX_URL || !url.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(wrong(format!(
            "{field} must have at most {MAX_URL} characters, and neither spaces nor letters beyond ASCII."
        )));
    }
    guard.check_url(url).map_err(|refused| {
        wrong(format!("{field} cannot be used: {refused}."))
            .with_details(json!({"field": field, "rule": refused.rule}))
            .with_hint("A server reaches other targets with --webhook-allow NETWORK or HOST.")
    })?;
    Ok(url.to_owned())
}

/// A list as it is stored: an entry a line.
///
/// # Errors
/// 400 that names the entry.
pub(crate) fn list(field: &str, value: &Value, check: impl Fn(&str) -> Result<(), &'static str>) -> Result<String, OjsError> {
    let wrong = |message: String| OjsError::invalid_field(field, message);
    let entries = value.as_array().filter(|entries| entries.len() <= MAX_ENTRIES);
    let entries = entries.ok_or_else(|| wrong(format!("{field} must be a list of at most {MAX_ENTRIES} strings.")))?;
    let mut lines: Vec<&str> = Vec::with_capacity(entries.len());
    for (place, entry) in entries.iter().enumerate() {
        let field = format!("{field}[{place}]");
        let wrong = |message: String| OjsError::invalid_field(&field, message);
        let entry = entry.as_str().filter(|entry| entry.len() <= MAX_ENTRY && !entry.contains(['\n', '\0']));
        let entry = entry.ok_or_else(|| wrong(format!("{field} must be a string of at most {MAX_ENTRY} bytes.")))?;
        check(entry).map_err(|rule| wrong(format!("{field} must be {rule}.")))?;
        if !lines.contains(&entry) {
            lines.push(entry);
        }
    }
    Ok(lines.join("\n"))
}
