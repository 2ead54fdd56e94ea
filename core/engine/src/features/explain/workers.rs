//! Whether any worker would run a job.
use serde_json::Value;

use crate::error::StoreError;
use crate::features::versions::answer::declares;
use crate::kernel::explanation::{Explanation, Reason};
use crate::kernel::job::JobRow;
use crate::kernel::worker::STALE_AFTER_MS;
use crate::store::rows::{Directive, WorkerPhase, WorkerRow};
use crate::store::tables::Tables;
use ojs_model::JobState;

/// Most names of workers or queues in the details of a reason.
const NAMED: usize = 10;

/// A worker that has sent a heartbeat lately.
struct Worker {
    row: WorkerRow,
    /// Active jobs.
    held: usize,
    /// Jobs it runs at a time; 0 when it has not said.
    concurrency: usize,
}

impl Worker {
    fn of(row: WorkerRow, held: usize, queues: &mut Vec<String>) -> Self {
        let info: Value = serde_json::from_str(&row.info).unwrap_or_default();
        let named = info.get("queues").and_then(Value::as_array);
        queues.extend(named.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
        let concurrency = info.get("concurrency").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        Self { row, held, concurrency: concurrency.unwrap_or(0) }
    }

    fn takes_jobs(&self) -> bool {
        self.row.phase == WorkerPhase::Running && self.row.directive == Directive::Run
    }

    fn is_full(&self) -> bool {
        self.concurrency > 0 && self.held >= self.concurrency
    }
}

/// The workers that fetch from a queue, and the queues that the other ones fetch from. A worker that does not say which
/// may fetch from any.
fn of_queue(tables: &mut dyn Tables, queue: &str, now: i64) -> Result<(Vec<Worker>, Vec<String>), StoreError> {
    let (mut serving, mut others) = (Vec::new(), Vec::new());
    for (row, held) in tables.workers()? {
        if row.beat_at == 0 || now.saturating_sub(row.beat_at) >= STALE_AFTER_MS {
            continue;
        }
        let mut queues = Vec::new();
        let worker = Worker::of(row, held, &mut queues);
        if queues.is_empty() || queues.iter().any(|name| name == queue) {
            serving.push(worker);
        } else {
            others.append(&mut queues);
        }
    }
    others.sort_unstable();
    others.dedup();
    Ok((serving, others))
}

/// A job that is available waits for a worker.
pub(super) fn explain(tables: &mut dyn Tables, row: &JobRow, found: &mut Explanation) -> Result<(), StoreError> {
    if row.state != JobState::Available {
        return Ok(());
    }
    let queue = found.job.queue.clone();
    let (mut serving, others) = of_queue(tables, &queue, found.at.as_millis())?;
    if serving.is_empty() {
        let mut reason =
            Reason::new("no_worker_for_queue", format!("No worker that sends heartbeats fetches from queue '{queue}'."))
                .link("/admin/workers")
                .command("ojs workers list");
        if !found.for_tenant && !others.is_empty() {
            reason = reason.detail("queues_with_workers", others.into_iter().take(NAMED).collect::<Vec<_>>());
        }
        found.add(reason);
        return Ok(());
    }
    if row.version > 0 {
        let job_type = tables.job_type_name(row.job_type_id)?;
        serving.retain(|worker| declares(&worker.row.info, &job_type, row.version));
        if serving.is_empty() {
            let message = format!("No worker of queue '{queue}' runs this version of '{job_type}'.");
            found.add(Reason::new("no_worker_for_version", message).link("/admin/workers").command("ojs workers list"));
            return Ok(());
        }
    }
    if let Some(reason) = busy(&serving, &queue, found.for_tenant) {
        found.add(reason);
    }
    Ok(())
}

/// Why none of these workers takes a job.
fn busy(serving: &[Worker], queue: &str, for_tenant: bool) -> Option<Reason> {
    let names: Vec<&str> = serving.iter().take(NAMED).map(|worker| &*worker.row.id).collect();
    let reason = if !serving.iter().any(Worker::takes_jobs) {
        let reason = Reason::new(
            "workers_quiet",
            format!("Every worker of queue '{queue}' has been told to take no more jobs, or is stopping."),
        );
        let first = names.first().map_or_else(String::new, |name| format!("ojs workers resume {name}"));
        if for_tenant { reason } else { reason.command(first) }
    } else if serving.iter().filter(|worker| worker.takes_jobs()).all(Worker::is_full) {
        let held: usize = serving.iter().map(|worker| worker.held).sum();
        Reason::new("workers_full", format!("Every worker of queue '{queue}' is busy."))
            .detail("active_jobs", held)
            .command("ojs workers list")
    } else {
        return None;
    };
    let reason = reason.link("/admin/workers");
    Some(if for_tenant { reason } else { reason.detail("workers", names) })
}
