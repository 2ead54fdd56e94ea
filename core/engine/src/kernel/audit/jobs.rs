//! Checks of the kernel: the columns of a job against its state, and the counts of queues against the jobs.
use std::collections::{BTreeMap, BTreeSet};

use ojs_model::JobState;

use super::Audit;
use crate::error::Result;
use crate::kernel::job::JobRow;
use crate::store::rows::Counts;

/// What the jobs that were seen add up to: one entry for each queue, job type and worker.
#[derive(Default)]
pub(super) struct Tally {
    queues: BTreeMap<i64, Counts>,
    job_types: BTreeSet<i64>,
    workers: BTreeSet<i64>,
}

/// What must hold of a job in its state: what is compared, and whether it holds.
fn rules(row: &JobRow) -> [(&'static str, bool); 9] {
    let (active, ended) = (row.state == JobState::Active, row.state.is_terminal());
    let timed = matches!(row.state, JobState::Scheduled | JobState::Retryable | JobState::Active);
    [
        ("lease is set while the job is active", !active || row.lease > 0),
        ("lease_until is set while the job is active", !active || row.lease_until > 0),
        ("started_at is set while the job is active", !active || row.started_at > 0),
        ("attempt is at least 1 while the job is active", !active || row.attempt > 0),
        ("finished_at is set when the job has ended, and only then", ended == (row.finished_at > 0)),
        ("the due time or deadline is set", !timed || row.sort_key > 0),
        ("enqueued_at is set while the job is available", row.state != JobState::Available || row.enqueued_at > 0),
        ("only an available job is held", row.state == JobState::Available || row.holds.is_empty()),
        ("releases are not more than attempts", row.releases <= row.attempt),
    ]
}

impl Audit<'_> {
    pub(super) fn look_at_job(&mut self, row: &JobRow, tally: &mut Tally) -> Result<()> {
        for (what, _) in rules(row).into_iter().filter(|(_, holds)| !holds) {
            let fields = format!(
                "no: lease {}, lease_until {}, started_at {}, attempt {}, releases {}, finished_at {}, sort key {}, enqueued_at {}, holds '{}'",
                row.lease,
                row.lease_until,
                row.started_at,
                row.attempt,
                row.releases,
                row.finished_at,
                row.sort_key,
                row.enqueued_at,
                row.holds
            );
            self.find("job_fields", format_args!("job {} ({})", row.id, row.state), what, "yes", fields);
        }
        if let Some(cell) = tally.queues.entry(row.queue).or_default().get_mut(row.state as usize) {
            *cell += 1;
        }
        if tally.job_types.insert(row.job_type_id) && self.tables.job_type_name(row.job_type_id).is_err() {
            self.find(
                "job_types",
                format_args!("job {}", row.id),
                "its job type",
                "a name",
                format_args!("number {}", row.job_type_id),
            );
        }
        if row.state == JobState::Active
            && row.worker != 0
            && tally.workers.insert(row.worker)
            && self.tables.worker_name(row.worker)?.is_none()
        {
            self.find(
                "workers",
                format_args!("job {}", row.id),
                "the worker that holds it",
                "a name",
                format_args!("number {}", row.worker),
            );
        }
        Ok(())
    }

    pub(super) fn compare_counts(&mut self, tally: &Tally) -> Result<()> {
        let queues = self.tables.queues()?;
        for queue in &queues {
            let told = self.tables.counts(queue.num)?;
            let seen = tally.queues.get(&queue.num).copied().unwrap_or_default();
            for ((state, expected), found) in JobState::ALL.into_iter().zip(seen).zip(told) {
                self.same(
                    "queue_counts",
                    format_args!("queue '{}'", queue.name),
                    format_args!("jobs that are {state}"),
                    expected,
                    found,
                );
            }
        }
        for number in tally.queues.keys().filter(|number| queues.iter().all(|queue| queue.num != **number)) {
            self.find("queues", format_args!("queue number {number}"), "a queue that jobs name", "a row", "none");
        }
        Ok(())
    }
}
