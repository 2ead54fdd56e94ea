//! What a client asks for when it registers an address, checked before it is stored.
use ojs_model::{ErrorCode, JobId, OjsError};
use serde_json::{Map, Value, json};

use super::Outgoing;
use super::guard::Guard;

/// Longest URL, bytes.
const MAX_URL: usize = 2_048;
/// Most entries of a list.
const MAX_ENTRIES: usize = 100;
/// Longest entry of a list, bytes.
const MAX_ENTRY: usize = 255;

/// Reads an id that has a prefix on the wire, such as `sub_`: one that has another form names nothing.
pub(crate) fn prefixed_id(resource: &str, prefix: &str, text: &str) -> Result<JobId, OjsError> {
    let id = text.strip_prefix(prefix).and_then(|id| id.parse().ok());
    id.ok_or_else(|| OjsError::not_found(resource, text))
}

/// Refuses what this build cannot send.
///
/// # Errors
/// 400 that names the feature.
pub(crate) fn check_build(feature: &str) -> Result<(), OjsError> {
    if Outgoing::IS_PRESENT {
        return Ok(());
    }
    let message = format!("This build of the server sends no requests to other machines, so it has no {feature}.");
    Err(OjsError::new(ErrorCode::Unsupported, message))
}

/// Refuses a request that lacks a member: each is given with its form, such as `a list`.
///
/// # Errors
/// 400 that names the member.
pub(crate) fn required(body: &Map<String, Value>, members: &[(&str, &str)]) -> Result<(), OjsError> {
    match members.iter().find(|(member, _)| body.get(*member).is_none_or(Value::is_null)) {
        None => Ok(()),
        Some((member, form)) => Err(OjsError::invalid_field(member, format!("{member} is required: {form}."))),
    }
}

/// Refuses a change that takes away a member without which nothing would ever be sent.
///
/// # Errors
/// 400 that names the member.
pub(crate) fn not_null(body: &Map<String, Value>, members: &[&str]) -> Result<(), OjsError> {
    match members.iter().find(|member| body.get(**member).is_some_and(Value::is_null)) {
        None => Ok(()),
        Some(member) => Err(OjsError::invalid_field(member, format!("{member} cannot be null."))),
    }
}

/// Refuses a change of a secret, which has a request of its own.
pub(crate) fn secret_is_rotated(field: &str) -> OjsError {
    OjsError::invalid_field(field, format!("{field} cannot be changed here."))
        .with_hint("POST …/rotate-secret replaces it, and keeps the old one valid for a day.")
}

/// A truth value.
///
/// # Errors
/// 400 that names the member.
pub(crate) fn truth(field: &str, value: &Value) -> Result<bool, OjsError> {
    value.as_bool().ok_or_else(|| OjsError::invalid_field(field, format!("{field} must be true or false.")))
}

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
