//! Queues that were paused and left so, and names that look mistyped.
use ojs_model::spelling::nearest;
use serde_json::Value;

use super::context::Context;
use super::finding::{Finding, ok, warning};
use crate::failure::Failure;
use crate::output::{items, text};

/// Paused queues with waiting jobs, and queues that no worker asks for while one with nearly the same name is asked
/// for.
pub async fn look(context: &Context) -> Result<Vec<Finding>, Failure> {
    let workers = context.workers().await?;
    let asked: Vec<&str> = workers.iter().flat_map(|worker| items(&worker.value, "/queues")).filter_map(Value::as_str).collect();
    let mut found = Vec::new();
    for queue in context.queues().await?.iter().map(|entry| &entry.value) {
        let name = text(queue, "/name");
        let available = queue.pointer("/counts/available").and_then(Value::as_i64).unwrap_or(0);
        if available == 0 {
            continue;
        }
        if text(queue, "/paused") == "true" {
            let said = format!("'{name}' is paused while {available} jobs wait: was it forgotten?");
            found.push(warning(said).seen("queue", name.as_str()).cleared_by(format!("ojs queues resume {name}")));
        } else if !asked.is_empty()
            && !asked.contains(&name.as_str())
            && let Some(meant) = nearest(&name, asked.iter().copied())
        {
            let said = format!("{available} jobs wait in '{name}', which no worker asks for: was '{meant}' meant?");
            let command = format!("ojs queues purge {name} --state available   # after enqueueing them into {meant}");
            found.push(warning(said).seen("queue", name.as_str()).seen("meant", meant).cleared_by(command));
        }
    }
    if found.is_empty() {
        found.push(ok("no paused queue has waiting jobs, no name looks mistyped"));
    }
    Ok(found)
}
