//! What does not move: workflows, trains, endpoints that get nothing.
use serde_json::Value;

use super::context::{Context, age_ms, paged, span};
use super::finding::{Finding, note, ok, warning};
use crate::command::{push, webhooks};
use crate::failure::Failure;
use crate::output::text;

/// A workflow that runs for longer is worth a look.
const LONG_FLOW_MS: i64 = 86_400_000;
/// Most of each that are looked at.
const MOST: usize = 200;

/// Workflows, trains, endpoints of push delivery, webhooks.
pub async fn look(context: &Context) -> Result<Vec<Finding>, Failure> {
    let mut found = workflows(context).await?;
    found.extend(trains(context).await?);
    found.extend(endpoints(context).await?);
    found.extend(subscriptions(context).await?);
    if found.is_empty() {
        found.push(ok("no workflow, train or endpoint stands still"));
    }
    Ok(found)
}

async fn workflows(context: &Context) -> Result<Vec<Finding>, Failure> {
    let running = paged("/admin/workflows?state=running").first(context.remote()?, MOST).await?;
    let old = running.iter().filter_map(|entry| Some((text(&entry.value, "/id"), age_ms(&entry.value, "/created_at")?)));
    let old: Vec<(String, i64)> = old.filter(|(_, age)| *age > LONG_FLOW_MS).collect();
    let Some((id, age)) = old.iter().max_by_key(|(_, age)| *age) else { return Ok(Vec::new()) };
    let said = format!("{} workflows run for more than a day, {id} for {}", old.len(), span(*age));
    Ok(vec![
        note(said)
            .seen("workflows", old.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>())
            .cleared_by(format!("ojs workflows get {id}")),
    ])
}

async fn trains(context: &Context) -> Result<Vec<Finding>, Failure> {
    let held = paged("/admin/trains?state=held").first(context.remote()?, MOST).await?;
    let finding = |train: &Value| {
        let id = text(train, "/id");
        let said = format!("train '{id}' is held since {}: {} jobs wait", text(train, "/held_since"), text(train, "/length"));
        warning(said).seen("train", id.as_str()).cleared_by(format!("ojs trains advance {id}"))
    };
    Ok(held.iter().map(|entry| finding(&entry.value)).collect())
}

async fn endpoints(context: &Context) -> Result<Vec<Finding>, Failure> {
    let endpoints = push::source().first(context.remote()?, MOST).await?;
    let finding = |endpoint: &Value| {
        let (id, status) = (text(endpoint, "/id"), text(endpoint, "/status"));
        let said = format!(
            "push endpoint {id} ({}) is sent no jobs: {status} {}",
            text(endpoint, "/endpoint"),
            text(endpoint, "/last_failure/reason")
        );
        let found = warning(said.trim_end()).quoting().seen("endpoint", id.as_str()).seen("status", status);
        found.cleared_by(format!("ojs push test {id}"))
    };
    let stopped = |value: &Value| matches!(text(value, "/status").as_str(), "open" | "disabled");
    Ok(endpoints.iter().map(|entry| &entry.value).filter(|value| stopped(value)).map(finding).collect())
}

async fn subscriptions(context: &Context) -> Result<Vec<Finding>, Failure> {
    let subscriptions = webhooks::source().first(context.remote()?, MOST).await?;
    let finding = |subscription: &Value| {
        let (id, dropped) = (text(subscription, "/id"), text(subscription, "/dropped"));
        let said = format!(
            "webhook {id} has lost {dropped} events since {}: its endpoint is too slow",
            text(subscription, "/dropped_since")
        );
        warning(said).seen("webhook", id.as_str()).cleared_by(format!("ojs webhooks show {id}"))
    };
    let lost = |value: &Value| value.pointer("/dropped").and_then(Value::as_u64).unwrap_or(0) > 0;
    Ok(subscriptions.iter().map(|entry| &entry.value).filter(|value| lost(value)).map(finding).collect())
}
