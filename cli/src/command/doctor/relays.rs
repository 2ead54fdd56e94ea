//! The relays that report to the server: silent ones, and those whose outboxes do not get empty.
use serde_json::Value;

use super::context::{Context, age_ms, paged, span};
use super::finding::{Finding, note, ok, skipped, warning};
use crate::command::relays::waiting;
use crate::failure::Failure;
use crate::list::Entry;
use crate::output::text;

/// Most relays that are named.
const MOST: usize = 20;

/// What each relay has reported last.
pub async fn look(context: &Context) -> Result<Vec<Finding>, Failure> {
    let remote = context.remote()?;
    if !remote.knows("/admin/relays?per_page=1").await? {
        return Ok(vec![skipped("this server lists no relays")]);
    }
    let relays = paged("/admin/relays").all(remote).await?;
    let mut found: Vec<Finding> = relays.iter().filter_map(|entry| judge(&entry.value, &relays)).take(MOST).collect();
    if found.is_empty() {
        found.push(ok(format!("{} report, none is stuck or silent", relays.len())));
    }
    Ok(found)
}

fn judge(relay: &Value, all: &[Entry]) -> Option<Finding> {
    let state = text(relay, "/state");
    let seen = |finding: Finding| finding.seen("relay", text(relay, "/id")).seen("state", state.as_str());
    let (name, kind, outbox) = (text(relay, "/name"), text(relay, "/database"), text(relay, "/outbox"));
    let which = format!("relay '{name}' of '{outbox}' in {kind}");
    match state.as_str() {
        "silent" => {
            let age = span(age_ms(relay, "/last_heartbeat_at").unwrap_or(0));
            let said = format!("{which} has been silent for {age}: it was killed, or does not reach the server");
            if all.iter().any(|other| is_successor(&other.value, relay)) {
                return Some(seen(note(format!("{said}. Another one runs in its place"))));
            }
            Some(seen(warning(said)).cleared_by("ojs relays --state silent   # then: start its program, or `ojs relay run`"))
        }
        "stuck" => {
            let age = span(relay["oldest_waiting_ms"].as_i64().unwrap_or(0));
            let error = text(relay, "/error");
            let why = if error.is_empty() { "no error is reported".to_owned() } else { error };
            let said = format!("{which} is stuck: {} rows wait, the oldest for {age}: {why}", waiting(relay));
            let seen = seen(warning(said).quoting()).seen("waiting", relay["waiting"].clone());
            Some(seen.cleared_by("ojs relays --state stuck"))
        }
        _ => {
            let parked = relay["parked"].as_u64().filter(|parked| *parked > 0)?;
            let said = format!("{which}: the server has refused {parked} rows for good; `ojs relay parked` says why");
            Some(seen(warning(said)).seen("parked", parked).cleared_by("ojs relay parked --database URL"))
        }
    }
}

/// Whether another relay of the same outbox and name is heard of.
fn is_successor(other: &Value, relay: &Value) -> bool {
    let same = |path: &str| text(other, path) == text(relay, path);
    text(other, "/state") != "silent" && same("/name") && same("/database") && same("/outbox") && same("/tenant_id")
}
