//! Jobs leased by this process: an ack finds its row without a query, and the last job of a batch of claims ends its filing.
use foldhash::{HashMap, HashSet};
use ojs_model::JobId;

use crate::kernel::job::JobRow;

/// Jobs remembered by a process: about 5 MB. Those beyond are looked up.
const MAX_KEPT: usize = 20_000;
/// How often room is made, milliseconds.
const FULL_MS: i64 = 10_000;

/// A job, and the batch of claims it is filed in, as far as that is known.
#[derive(Debug)]
struct Held {
    row: JobRow,
    batch: Option<i64>,
}

/// Leased jobs, by id. What is forgotten costs a query later, or two seconds until the maintenance thread takes a batch apart.
#[derive(Debug, Default)]
pub struct Leased {
    jobs: HashMap<JobId, Held>,
    /// Jobs of a batch that have not ended; batches of which a job was forgotten are not there, nor those that a transaction ends now.
    left: HashMap<i64, usize>,
    /// Batches whose jobs have ended, and whose rows are still filed.
    over: Vec<i64>,
    /// When there was last no room.
    full_at: i64,
}

impl Leased {
    /// A job as it was leased here.
    pub fn row(&self, id: JobId) -> Option<&JobRow> {
        self.jobs.get(&id).map(|held| &held.row)
    }

    /// Batches that have nothing left to find once these jobs have ended.
    pub fn ending<'a>(&mut self, jobs: impl Iterator<Item = &'a JobRow>) -> Vec<i64> {
        let mut ended: HashMap<i64, usize> = HashMap::default();
        for batch in jobs.filter_map(|row| self.jobs.get(&row.id)?.batch) {
            *ended.entry(batch).or_default() += 1;
        }
        let mut batches = std::mem::take(&mut self.over);
        // Not counted from here on: should the transaction fail, the maintenance thread takes them apart.
        for (batch, jobs) in ended {
            if self.left.get(&batch) == Some(&jobs) {
                self.left.remove(&batch);
                batches.push(batch);
            }
        }
        batches.sort_unstable();
        batches
    }

    /// Remembers what a committed transaction has leased, and the batch in which each claim is filed; `None` for a lease that goes on.
    pub fn lease<'a>(&mut self, jobs: impl Iterator<Item = (&'a JobRow, Option<i64>)>) {
        let mut filed: HashMap<i64, usize> = HashMap::default();
        let mut incomplete = HashSet::default();
        for (row, batch) in jobs {
            if batch.is_some() {
                // Its lease before this one ran out: the job is no longer in the batch of that one, but in this.
                self.forget(row.id);
            }
            if let Some(held) = self.jobs.get_mut(&row.id) {
                held.row.clone_from(row);
            } else if self.has_room(row.started_at) {
                self.jobs.insert(row.id, Held { row: row.clone(), batch });
                batch.into_iter().for_each(|batch| *filed.entry(batch).or_default() += 1);
            } else {
                incomplete.extend(batch);
            }
        }
        // A batch is counted whole or not at all: one whose count is too small would end before its last job.
        self.left.extend(filed.into_iter().filter(|(batch, _)| !incomplete.contains(batch)));
    }

    /// Jobs whose leases ran out were taken over by other nodes, so this node does not end them.
    fn has_room(&mut self, now: i64) -> bool {
        if self.jobs.len() >= MAX_KEPT && now - self.full_at >= FULL_MS {
            self.full_at = now;
            let lost: Vec<JobId> = self.jobs.values().filter(|held| held.row.lease_until < now).map(|held| held.row.id).collect();
            for id in lost {
                self.forget(id);
            }
        }
        self.jobs.len() < MAX_KEPT
    }

    /// A committed transaction has ended the lease.
    pub fn end(&mut self, id: JobId) {
        let Some(batch) = self.jobs.remove(&id).and_then(|held| held.batch) else { return };
        let Some(left) = self.left.get_mut(&batch) else { return };
        *left -= 1;
        if *left == 0 {
            self.left.remove(&batch);
            // Two writers have ended the rest of it at the same time.
            self.over.push(batch);
        }
    }

    /// What is remembered of a job may be wrong.
    pub fn forget(&mut self, id: JobId) {
        if let Some(batch) = self.jobs.remove(&id).and_then(|held| held.batch) {
            self.left.remove(&batch);
        }
    }

    /// Everything may be wrong.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: i64, lease_until: i64) -> JobRow {
        JobRow {
            seq: number,
            id: JobId::derived(0, &number.to_le_bytes()),
            queue: 1,
            job_type_id: 1,
            state: ojs_model::JobState::Active,
            priority: 0,
            sort_key: lease_until,
            attempt: 1,
            releases: 0,
            max_attempts: 3,
            lease: 1,
            worker: 1,
            lease_ms: 1,
            lease_until,
            deadline: i64::MAX,
            created_at: 1,
            enqueued_at: 1,
            started_at: lease_until - 1,
            finished_at: 0,
            activated_at: 0,
            expires_at: 0,
            retry_delay: 0,
            workflow: 0,
            step: 0,
            flags: 0,
            limit: 0,
            tenant: 0,
            fair: 0,
            version: 0,
            holds: crate::kernel::holds::Holds::NONE,
        }
    }

    #[test]
    fn a_batch_ends_with_its_last_job() {
        let mut leased = Leased::default();
        let jobs = [job(1, 10), job(2, 10)];
        leased.lease(jobs.iter().map(|job| (job, Some(7))));
        assert!(leased.ending(jobs[..1].iter()).is_empty());
        leased.end(jobs[0].id);
        assert_eq!(leased.ending(jobs[1..].iter()), [7]);
    }

    #[test]
    fn a_job_that_is_leased_again_counts_for_its_new_batch() {
        let mut leased = Leased::default();
        let (lost, other) = (job(1, 10), job(2, 20));
        leased.lease([(&lost, Some(7))].into_iter());
        // The lease of the first ran out; both are claimed together.
        let again = job(1, 20);
        leased.lease([(&again, Some(8)), (&other, Some(8))].into_iter());
        assert!(leased.ending([&other].into_iter()).is_empty(), "a job of the batch is still leased");
        leased.end(other.id);
        // A lease that goes on stays in its batch.
        leased.lease([(&job(1, 30), None)].into_iter());
        assert_eq!(leased.ending([&again].into_iter()), [8]);
    }

    #[test]
    fn a_batch_that_is_not_remembered_whole_is_not_ended() {
        let mut leased = Leased::default();
        let many: Vec<JobRow> = (0..i64::try_from(MAX_KEPT).unwrap()).map(|n| job(n, i64::MAX)).collect();
        leased.lease(many.iter().map(|job| (job, Some(1))));
        let (new, known) = (job(-1, i64::MAX), &many[0]);
        // The job that is known takes its own place; there is none for the other.
        leased.lease([(known, Some(2)), (&new, Some(2))].into_iter());
        assert!(leased.ending([known].into_iter()).is_empty());
        leased.end(known.id);
        assert!(leased.ending(std::iter::empty()).is_empty());
    }
}
