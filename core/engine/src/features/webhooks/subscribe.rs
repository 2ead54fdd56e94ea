//! What a client may ask of a subscription, checked before it is stored.
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ojs_model::webhook::SECRET_PREFIX;
use ojs_model::{ErrorCode, OjsError, Timestamp};
use rand::TryRngCore;
use serde_json::{Map, Value, json};

use super::event::is_deliverable;
use super::records::{Format, Secret, SubscriptionRow};
use crate::outgoing::guard::Guard;

/// Longest URL, bytes.
const MAX_URL: usize = 2_048;
/// Most entries of a list.
const MAX_ENTRIES: usize = 100;
/// Longest entry of a list, bytes.
const MAX_ENTRY: usize = 255;
/// Shortest and longest secret of a client, bytes.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 8..=255;
/// Longest metadata, bytes of JSON.
const MAX_METADATA: usize = 4_096;
/// Random bytes of a generated secret.
const RANDOM_BYTES: usize = 32;

type Members = Map<String, Value>;
type Checked<T> = Result<T, OjsError>;

/// Takes over what a request says. Members that it does not have stay as they are; `null` sets optional ones back.
///
/// # Errors
/// 400 that names the member.
pub(crate) fn apply(row: &mut SubscriptionRow, body: &Members, guard: &Guard) -> Checked<()> {
    if let Some(url) = body.get("url") {
        row.url = checked_url(url, guard)?;
    }
    if let Some(events) = body.get("events") {
        row.events = list("events", events, |entry| {
            let rule = "an event type such as job.completed, a family such as job.*, or *; events of webhooks are not sent";
            is_pattern(entry).then_some(()).ok_or(rule)
        })?;
        if row.events.is_empty() {
            return Err(OjsError::invalid_field("events", "events must name at least one event type, or [\"*\"]."));
        }
    }
    if let Some(active) = body.get("active") {
        let wrong = || OjsError::invalid_field("active", "active must be true or false.");
        row.active = active.as_bool().ok_or_else(wrong)?;
    }
    if let Some(format) = body.get("format") {
        let wrong = || OjsError::invalid_field("format", "format must be ojs, cloudevents or cloudevents-binary.");
        let known = if format.is_null() { Some(Format::Ojs) } else { format.as_str().and_then(Format::parse) };
        row.format = known.ok_or_else(wrong)?;
    }
    if let Some(metadata) = body.get("metadata") {
        row.metadata = checked_metadata(metadata)?;
    }
    match body.get("filter") {
        None => {}
        Some(Value::Null) => (row.queues, row.job_types) = (String::new(), String::new()),
        Some(Value::Object(filter)) => {
            row.queues = names(filter, "queues")?;
            row.job_types = names(filter, "job_types")?;
        }
        Some(_) => return Err(OjsError::invalid_field("filter", "filter must be an object with queues and job_types.")),
    }
    Ok(())
}

fn checked_url(value: &Value, guard: &Guard) -> Checked<String> {
    let wrong = |message: String| OjsError::invalid_field("url", message);
    let url = value.as_str().ok_or_else(|| wrong("url must be a string: https://example.com/path.".to_owned()))?;
    if url.len() > MAX_URL || !url.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(wrong(format!("url must have at most {MAX_URL} characters, and neither spaces nor letters beyond ASCII.")));
    }
    guard.check_url(url).map_err(|refused| {
        wrong(format!("url cannot be used: {refused}."))
            .with_details(json!({"field": "url", "rule": refused.rule}))
            .with_hint("A server reaches other targets with --webhook-allow NETWORK or HOST.")
    })?;
    Ok(url.to_owned())
}

/// A list as it is stored: an entry a line.
fn list(field: &str, value: &Value, check: impl Fn(&str) -> Result<(), &'static str>) -> Checked<String> {
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

fn names(filter: &Members, member: &str) -> Checked<String> {
    match filter.get(member) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(value) => {
            list(
                &format!("filter.{member}"),
                value,
                |name| {
                    if name.is_empty() { Err("a name, which is not empty") } else { Ok(()) }
                },
            )
        }
    }
}

/// `*`, `x.*` or `x.y`, with any number of parts.
fn is_pattern(text: &str) -> bool {
    if text == "*" {
        return true;
    }
    let word = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let (start, parts) = match text.strip_suffix(".*") {
        Some(start) => (start, 1),
        None => (text, 2),
    };
    start.split('.').count() >= parts && start.split('.').all(word) && is_deliverable(&format!("{start}."))
}

fn checked_metadata(value: &Value) -> Checked<String> {
    let text = match value {
        Value::Null => "{}".to_owned(),
        Value::Object(_) => value.to_string(),
        _ => return Err(OjsError::invalid_field("metadata", "metadata must be an object.")),
    };
    if text.len() > MAX_METADATA || text.contains("\\u0000") {
        let message = format!("metadata must have at most {MAX_METADATA} bytes of JSON, and no U+0000.");
        return Err(OjsError::invalid_field("metadata", message));
    }
    Ok(text)
}

/// The secret that a client chose, or a new one.
///
/// # Errors
/// 400 for one that cannot be used; 500 when the system has no randomness.
pub(crate) fn secret(given: Option<&Value>) -> Checked<Secret> {
    match given {
        None | Some(Value::Null) => generated(),
        Some(value) => {
            let fits = |text: &&str| SECRET_BYTES.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
            let text = value.as_str().filter(fits).ok_or_else(|| {
                let (least, most) = SECRET_BYTES.into_inner();
                OjsError::invalid_field(
                    "secret",
                    format!("secret must have {least} to {most} characters of ASCII without spaces."),
                )
            })?;
            Ok(Secret::from(text.to_owned()))
        }
    }
}

fn generated() -> Checked<Secret> {
    let mut bytes = [0; RANDOM_BYTES];
    rand::rngs::OsRng
        .try_fill_bytes(&mut bytes)
        .map_err(|error| OjsError::new(ErrorCode::InternalError, format!("The system gives no random numbers: {error}.")))?;
    Ok(Secret::from(format!("{SECRET_PREFIX}{}", BASE64_STANDARD.encode(bytes))))
}

/// A subscription without any settings.
pub(crate) fn blank(secret: Secret, now: Timestamp) -> SubscriptionRow {
    SubscriptionRow {
        id: ojs_model::JobId::now_v7(),
        url: String::new(),
        events: String::new(),
        queues: String::new(),
        job_types: String::new(),
        active: true,
        secret,
        previous_secret: Secret::default(),
        previous_until: 0,
        metadata: "{}".to_owned(),
        created_at: now.as_millis(),
        updated_at: now.as_millis(),
        deleted_at: 0,
        format: Format::Ojs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_events() {
        for right in ["*", "job.*", "job.completed", "workflow.step_completed", "a.b.c", "a.b.*"] {
            assert!(is_pattern(right), "{right}");
        }
        for wrong in ["", "job", "job.", ".*", "job*", "*.completed", "Job.x", "job..x", "webhook.*", "webhook.dead", "j b.x"] {
            assert!(!is_pattern(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_generated_secret_is_long_and_never_the_same() {
        let (first, second) = (secret(None).unwrap(), secret(None).unwrap());
        assert_ne!(first, second);
        assert!(first.expose().starts_with("whsec_") && first.expose().len() > 48);
        assert_eq!(format!("{first:?}"), "***");
    }
}
