//! The audit of queues: their settings can be read, and a deleted queue has no job that could still run.
use crate::error::Result;
use crate::kernel::audit::{Audit, Checks};
use crate::store::rows::{QueuePhase, depth};

pub(crate) const CHECKS: Checks = Checks { job: None, whole: Some(compare) };

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    for queue in audit.tables.queues()? {
        let subject = format!("queue '{}'", queue.name);
        if let Err(fault) = queue.settings() {
            audit.find("queue_settings", &subject, "its settings", "readable", fault);
        }
        if queue.phase == QueuePhase::Deleted {
            let waiting = depth(&audit.tables.counts(queue.num)?);
            audit.same("deleted_queues", &subject, "jobs that wait in a deleted queue", 0, waiting);
        }
    }
    Ok(())
}
