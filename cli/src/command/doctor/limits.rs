//! Keys whose limits let nothing through.
use serde_json::Value;

use super::context::{Context, age_ms, span};
use super::finding::{Finding, note, ok, warning};
use crate::command::rate_limits;
use crate::failure::Failure;
use crate::output::text;

/// Most keys that are looked at.
const KEYS: usize = 1_000;
/// An override that ends within this time is named.
const SOON_MS: i64 = 3_600_000;

/// Keys with waiting jobs and no room, limits of 0, overrides that end soon.
pub async fn look(context: &Context) -> Result<Vec<Finding>, Failure> {
    let keys = rate_limits::source().first(context.remote()?, KEYS).await?;
    let mut found = Vec::new();
    for key in keys.iter().map(|entry| &entry.value) {
        found.extend(judge(key));
    }
    if found.is_empty() {
        found.push(ok(format!("{} keys, none lets nothing through", keys.len())));
    }
    Ok(found)
}

fn judge(key: &Value) -> Vec<Finding> {
    let name = text(key, "/key");
    let number = |path: &str| key.pointer(path).and_then(Value::as_i64);
    let waiting = number("/waiting_count").unwrap_or(0);
    let command = format!("ojs rate-limits get {name}");
    let mut found = Vec::new();
    let fault = text(key, "/fault");
    if !fault.is_empty() {
        found.push(
            warning(format!("'{name}' has limits that cannot be read: {fault}")).seen("key", name.as_str()).cleared_by(&command),
        );
    }
    let closed = number("/concurrency/limit") == Some(0) || number("/rate/limit") == Some(0);
    let held = age_ms(key, "/held_until").map(|ms| -ms).unwrap_or(0);
    if closed && waiting > 0 {
        let said = format!("'{name}' has a limit of 0: its {waiting} waiting jobs never start");
        found.push(warning(said).seen("key", name.as_str()).seen("waiting", waiting).cleared_by(&command));
    } else if held > SOON_MS && waiting > 0 {
        let said = format!("'{name}' is held for another {}: {waiting} jobs wait", span(held));
        found.push(warning(said).seen("key", name.as_str()).seen("waiting", waiting).cleared_by(&command));
    }
    let left = age_ms(key, "/override/expires_at").map(|ms| -ms);
    if let Some(left) = left.filter(|left| *left > 0 && *left < SOON_MS) {
        found.push(
            note(format!("the override of '{name}' ends in {}", span(left))).seen("key", name.as_str()).cleared_by(&command),
        );
    }
    found
}
