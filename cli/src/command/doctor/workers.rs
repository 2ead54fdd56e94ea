//! Workers that are known and do nothing.
use super::context::{Context, age_ms, span};
use super::finding::{Finding, ok, warning};
use crate::failure::Failure;
use crate::output::text;

/// A worker that takes no more jobs and is older than this is worth a look.
const LONG_QUIET_MS: i64 = 3_600_000;

/// Silent workers, workers that are quiet for long, and workers without slots.
pub async fn look(context: &Context) -> Result<Vec<Finding>, Failure> {
    let workers = context.workers().await?;
    let (mut silent, mut found) = (Vec::new(), Vec::new());
    for worker in workers.iter().map(|entry| &entry.value) {
        let (id, state) = (text(worker, "/id"), text(worker, "/state"));
        if state == "stale" {
            silent.push(id);
            continue;
        }
        let known = age_ms(worker, "/started_at").unwrap_or(0);
        if matches!(state.as_str(), "quiet" | "drain" | "terminate") && known > LONG_QUIET_MS {
            let said = format!("worker {id} takes no jobs ({state}), and is there for {}: end it, or let it go on", span(known));
            found.push(warning(said).seen("worker", id.as_str()).cleared_by(format!("ojs workers resume {id}")));
        }
        if text(worker, "/concurrency") == "0" {
            let said = format!("worker {id} has no slots: it takes no job. Start it with a concurrency of at least 1");
            found.push(warning(said).seen("worker", id.as_str()).cleared_by(format!("ojs workers terminate {id}")));
        }
    }
    if !silent.is_empty() {
        let ids = silent.join(", ");
        let said = format!("{} silent ({ids}): their jobs return 30 s after the last heartbeat", silent.len());
        let command = silent.iter().map(|id| format!("ojs workers remove {id}")).collect::<Vec<_>>().join("; ");
        found.push(warning(said).seen("workers", silent).cleared_by(command));
    }
    if found.is_empty() {
        found.push(ok(format!("{} known, none silent", workers.len())));
    }
    Ok(found)
}
