//! What is kept, and for how long.
use serde_json::Value;

use super::context::{Context, age_ms, paged, span};
use super::finding::{Finding, ok, warning};
use crate::failure::Failure;

/// Ended jobs are deleted within this time after the end of their retention.
const BEHIND_MS: i64 = 86_400_000;

/// Dead letters near their cap, and ended jobs that should be gone.
pub async fn look(context: &Context) -> Result<Vec<Finding>, Failure> {
    let config = context.config().await?;
    let stats = context.get("/dead-letter/stats").await?;
    let number = |value: &Value, path: &str| value.pointer(path).and_then(Value::as_u64);
    let (kept, most) = (number(&stats, "/total"), number(config, "/retention/dead_letter/max_count"));
    let mut found = Vec::new();
    if let (Some(kept), Some(most)) = (kept, most) {
        let said = format!("{kept} of {most} dead letters are kept");
        let finding = if kept.saturating_mul(10) >= most.saturating_mul(9) {
            let found =
                warning(format!("{said}: beyond that the oldest are deleted. Look at them, then run them again or delete them"));
            found.cleared_by("ojs dead-letter retry --all   # or: ojs dead-letter delete --all")
        } else {
            ok(said)
        };
        found.push(finding.seen("kept", kept).seen("most", most));
    }
    found.extend(pruning(context, config).await?);
    Ok(found)
}

/// The discarded job that ended first. It may be a dead letter: the longer of the two retentions decides.
async fn pruning(context: &Context, config: &Value) -> Result<Option<Finding>, Failure> {
    let oldest = paged("/admin/jobs?state=discarded&sort=scheduled_at&order=asc").first(context.remote()?, 1).await;
    // A server with very many of them does not sort them.
    let Ok(oldest) = oldest else { return Ok(None) };
    let seconds = |path: &str| config.pointer(path).and_then(Value::as_i64).unwrap_or(i64::MAX);
    let lasts = seconds("/retention/discarded_seconds").max(seconds("/retention/dead_letter/max_age_seconds"));
    let age = oldest.first().and_then(|job| age_ms(&job.value, "/completed_at").or_else(|| age_ms(&job.value, "/discarded_at")));
    let over = age.unwrap_or(0).saturating_sub(lasts.saturating_mul(1000));
    if over < BEHIND_MS {
        return Ok(None);
    }
    let said = format!("a discarded job should have been deleted {} ago: is maintenance on, does the sweeper run?", span(over));
    Ok(Some(warning(said).seen("late_ms", over).cleared_by("ojs maintenance off")))
}
