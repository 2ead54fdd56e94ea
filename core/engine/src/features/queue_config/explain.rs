//! What a queue keeps its jobs from.
use ojs_model::JobState;

use crate::error::StoreError;
use crate::kernel::explanation::{Explanation, Reason};
use crate::kernel::forecast::{Effect, Forecast};
use crate::kernel::job::JobRow;
use crate::store::rows::QueuePhase;
use crate::store::tables::Tables;

/// A queue that is paused, has handed out as many jobs as its rate allows, or has as many active jobs as it may.
pub(super) fn explain(tables: &mut dyn Tables, row: &JobRow, found: &mut Explanation) -> Result<(), StoreError> {
    let mut queue = tables.queue_by_num(row.queue)?;
    let name = queue.name.clone();
    let settings_of = |reason: Reason| reason.link(format!("/queues/{name}/config"));
    if queue.paused {
        let reason = Reason::new("queue_paused", format!("Queue '{name}' is paused."));
        found.add(reason.link(format!("/queues/{name}/stats")).command(format!("ojs queues resume {name}")));
    }
    if row.state != JobState::Available {
        return Ok(());
    }
    let settings = match queue.settings() {
        Ok(settings) => settings,
        Err(fault) => {
            found.add(settings_of(Reason::new("queue_unreadable", fault.to_string())));
            return Ok(());
        }
    };
    if queue.fill(found.at.as_millis()) == 0 {
        let message = format!("Queue '{name}' has handed out as many jobs as its rate allows.");
        found.add(settings_of(Reason::new("queue_rate", message).until(queue.next_at())));
    }
    if let Some(most) = settings.and_then(|settings| settings.config.concurrency) {
        let active = tables.counts(queue.num)?.get(JobState::Active as usize).copied().unwrap_or(0);
        if u64::try_from(active).unwrap_or(0) >= most {
            let message = format!("Queue '{name}' may have {most} active jobs, and has {active}.");
            found.add(settings_of(Reason::new("queue_concurrency", message).detail("limit", most).detail("active", active)));
        }
    }
    Ok(())
}

/// A replay into a deleted queue creates the queue again. A draining queue takes replayed jobs, and no others.
pub(super) fn foresee(tables: &mut dyn Tables, found: &mut Forecast<'_>) -> Result<(), StoreError> {
    let queue = tables.queue_by_num(found.job.row.queue)?;
    let name = &queue.name;
    match queue.phase {
        QueuePhase::Open => {}
        QueuePhase::Draining => {
            let reason = Reason::new("queue_draining", format!("Queue '{name}' drains: it takes no new jobs."));
            let reason = reason.link(format!("/queues/{name}/stats")).command(format!("ojs queues resume {name}"));
            found.add(Effect::Warning, reason);
        }
        QueuePhase::Deleted => {
            let message = format!("Queue '{name}' was deleted: it is made anew, without the settings that it had.");
            found.add(Effect::Warning, Reason::new("queue_deleted", message).link("/queues"));
        }
    }
    Ok(())
}
