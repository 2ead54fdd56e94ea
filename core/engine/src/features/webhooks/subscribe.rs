//! What a client may ask of a subscription, checked before it is stored.
use ojs_model::{OjsError, Timestamp};
use serde_json::{Map, Value};

use super::event::is_deliverable;
use super::records::{Format, SubscriptionRow};
use crate::outgoing::Secret;
use crate::outgoing::guard::Guard;
use crate::outgoing::input::{list, truth, web_address};

/// Longest metadata, bytes of JSON.
const MAX_METADATA: usize = 4_096;

type Members = Map<String, Value>;
type Checked<T> = Result<T, OjsError>;

/// Takes over what a request says. Members that it does not have stay as they are; `null` sets optional ones back.
///
/// # Errors
/// 400 that names the member.
pub(crate) fn apply(row: &mut SubscriptionRow, body: &Members, guard: &Guard) -> Checked<()> {
    if let Some(url) = body.get("url") {
        row.url = web_address("url", url, guard)?;
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
        row.active = truth("active", active)?;
    }
    if let Some(format) = body.get("format") {
        let wrong = || OjsError::invalid_field("format", "format must be ojs, cloudevents or cloudevents-binary.");
        let known = if format.is_null() { Some(Format::Ojs) } else { format.as_str().and_then(Format::from_word) };
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

/// A subscription of a tenant, or of operators, without any settings.
pub(crate) fn blank(secret: Secret, tenant: Option<&str>, now: Timestamp) -> SubscriptionRow {
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
        tenant: tenant.unwrap_or_default().to_owned(),
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
}
