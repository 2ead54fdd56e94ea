//! Whether the server answers, and whether it hands out jobs.
use serde_json::Value;

use super::context::{Context, age_ms, span};
use super::finding::{Finding, ok, skipped, warning};
use crate::failure::Failure;
use crate::output::text;

/// What the server says of its health. A server that did not answer at the start is not asked again.
pub async fn server(context: &Context) -> Result<Vec<Finding>, Failure> {
    if let Some(found) = &context.unanswered {
        return Ok(vec![found.clone()]);
    }
    if context.remote.is_none() || context.url.is_none() {
        return Ok(vec![skipped("no server answers")]);
    }
    let health = context.get("/health").await?;
    if text(&health, "/backend/check/status") == "damaged" {
        let what = text(&health, "/backend/check/error");
        let advice = "stop the server, restore a backup, or save what can be with `sqlite3 FILE .recover`";
        return Ok(vec![warning(format!("the database is damaged ({what}): {advice}")).seen("error", what)]);
    }
    let (kind, latency) = (text(&health, "/backend/type"), text(&health, "/backend/latency_ms"));
    Ok(vec![ok(format!("{kind} answers in {latency} ms")).seen("backend", kind).seen("latency_ms", latency)])
}

/// Maintenance that is on.
pub async fn maintenance(context: &Context) -> Result<Vec<Finding>, Failure> {
    let told = context.get("/admin/system/maintenance").await?;
    if told.get("maintenance") != Some(&Value::Bool(true)) {
        return Ok(vec![ok("off")]);
    }
    let since = text(&told, "/enabled_at");
    let over = age_ms(&told, "/estimated_end").filter(|ms| *ms > 0);
    let late = over.map(|ms| format!(", {} longer than announced", span(ms))).unwrap_or_default();
    let found = warning(format!("on since {since} ({}){late}: nothing is handed out", text(&told, "/reason")));
    Ok(vec![found.seen("since", since).cleared_by("ojs maintenance off")])
}
