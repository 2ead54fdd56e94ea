//! Jobs leased by this process: an ack finds its row without a query, and the last job of a batch of claims ends its filing.
use std::collections::HashMap;

use ojs_model::JobId;

use crate::job::JobRow;

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

/// Leased jobs, by id. What is forgotten costs a query later, or two seconds until the keeper takes a batch apart.
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
        let mut ended: HashMap<i64, usize> = HashMap::new();
        for batch in jobs.filter_map(|row| self.jobs.get(&row.id)?.batch) {
            *ended.entry(batch).or_default() += 1;
        }
        let mut batches = std::mem::take(&mut self.over);
        // Not counted from here on: should the transaction fail, the keeper takes them apart.
        for (batch, jobs) in ended {
            if self.left.get(&batch) == Some(&jobs) {
                self.left.remove(&batch);
                batches.push(batch);
            }
        }
        batches.sort_unstable();
        batches
    }

    /// Remembers what a committed transaction has leased, and in which batch that is filed.
    pub fn lease(&mut self, row: &JobRow, batch: Option<i64>) {
        if let Some(held) = self.jobs.get_mut(&row.id) {
            held.row.clone_from(row);
        } else if self.has_room(row.started_at) {
            self.jobs.insert(row.id, Held { row: row.clone(), batch });
            if let Some(batch) = batch {
                *self.left.entry(batch).or_default() += 1;
            }
        } else if let Some(batch) = batch {
            self.left.remove(&batch);
        }
    }

    /// Jobs whose leases ran out were taken over by other nodes: nobody here will end them.
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
