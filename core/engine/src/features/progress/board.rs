//! The board: reports of progress that this process has accepted and not written yet.
//!
//! The first report of a job is written at once, and so is one that comes when the latest write is a second old.
//! Those in between stay here: they are answered from memory, and what is left of them is written when the second is
//! over, or with the end of the attempt. A crash loses at most what was reported in the last second.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ojs_model::JobId;

use crate::features::progress::records::{ProgressRow, Report};

/// A job's progress is written at most this often.
pub const PAUSE_MS: i64 = 1_000;
/// Jobs that have a place on the board, about 30 MB. Every report of a further job is written.
const MAX_JOBS: usize = 100_000;

/// What a report says of where it comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proof {
    /// Token of the claim, when the worker knows it.
    pub lease: Option<i64>,
    /// The worker, if it named itself.
    pub worker: Option<String>,
    /// The tenant of the caller, if it has one.
    pub tenant: Option<Arc<str>>,
}

/// A job on the board.
#[derive(Debug)]
struct Entry {
    /// How the first report proved that it came from the holder. Reports with another proof go to the store.
    proof: Proof,
    /// What was written, with all reports that came after it.
    row: ProgressRow,
    /// Grows with each report.
    version: u64,
    /// The version that was written.
    written: u64,
    /// When the latest write began.
    written_at: i64,
    /// The attempt has ended, as far as this process knows: the store decides about further reports.
    is_over: bool,
    /// The least time between two writes: less than a second where leases are short, because a write renews the lease.
    pause_ms: i64,
}

impl Entry {
    fn is_dirty(&self) -> bool {
        self.version != self.written
    }

    fn rests(&self, now: i64) -> bool {
        now.saturating_sub(self.written_at) < self.pause_ms
    }
}

/// What becomes of a report.
#[derive(Debug)]
pub enum Placed {
    /// It is on the board: the job's progress now.
    Kept(ProgressRow),
    /// It is to be written, together with what the board had.
    Due(Due),
}

/// What is to be written.
#[derive(Debug)]
pub struct Due {
    /// The job.
    pub job: JobId,
    /// See [`Proof`].
    pub proof: Proof,
    /// What it says; of reports from the board all in one.
    pub report: Report,
    /// What the board had beside it, and the claim under which that was accepted.
    pub earlier: Option<(i64, Report)>,
    /// The claim under which they were accepted; `None` when that is still to be found out.
    pub lease: Option<i64>,
    version: u64,
}

impl Due {
    /// A report that is written at once.
    pub fn now(job: JobId, proof: Proof, report: Report) -> Self {
        Self { job, proof, report, earlier: None, lease: None, version: 0 }
    }
}

#[derive(Debug, Default)]
struct Entries {
    jobs: HashMap<JobId, Entry>,
    /// Whether a task writes what is due.
    is_served: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Board {
    entries: Mutex<Entries>,
}

impl Board {
    /// Takes in a report.
    pub fn place(&self, job: JobId, proof: &Proof, report: Report, now: i64) -> Placed {
        let mut entries = self.lock();
        let known = entries.jobs.get_mut(&job).filter(|entry| entry.proof == *proof && !entry.is_over);
        let Some(entry) = known else { return Placed::Due(Due::now(job, proof.clone(), report)) };
        if !entry.rests(now) {
            // As a request of its own: should the lease be lost, the worker learns it from the answer.
            let earlier = Some((entry.row.lease, entry.row.report()));
            entry.row.take(&report);
            entry.version += 1;
            entry.written_at = now;
            return Placed::Due(Due { earlier, version: entry.version, ..Due::now(job, proof.clone(), report) });
        }
        entry.row.take(&report);
        entry.version += 1;
        Placed::Kept(entry.row.clone())
    }

    /// What is due has been written: the record, and the length of the lease. `None` when it was ignored, because the
    /// job is not active any more.
    pub fn wrote(&self, due: &Due, written: Option<(&ProgressRow, i64)>, now: i64) {
        let mut entries = self.lock();
        let Some((row, lease_ms)) = written else {
            entries.jobs.remove(&due.job);
            return;
        };
        if let Some(entry) = entries.jobs.get_mut(&due.job).filter(|entry| entry.row.lease == row.lease) {
            // Another node may have known more.
            entry.row.take(&row.report());
            entry.is_over = false;
            if entry.version == due.version {
                entry.written = entry.version;
            }
        } else if entries.jobs.len() < MAX_JOBS {
            let pause_ms = PAUSE_MS.min(lease_ms / 3).max(1);
            let (proof, row) = (due.proof.clone(), row.clone());
            let entry = Entry { proof, row, version: 0, written: 0, written_at: now, is_over: false, pause_ms };
            entries.jobs.insert(due.job, entry);
        }
    }

    /// What is due could not be written. After a refusal the job leaves the board; after a fault it is tried again.
    pub fn failed(&self, due: &Due, refused: bool) {
        let mut entries = self.lock();
        if refused {
            // Only what came with the same proof: a stranger's report says nothing about the holder's.
            if entries.jobs.get(&due.job).is_some_and(|entry| entry.proof == due.proof) {
                entries.jobs.remove(&due.job);
            }
        } else if let Some(entry) = entries.jobs.get_mut(&due.job) {
            entry.written = entry.version.wrapping_sub(1);
        }
    }

    /// Takes what is due, or everything that is not written. Jobs whose reports are written leave the board when the
    /// next report will be written at once anyway.
    pub fn due(&self, now: i64, everything: bool) -> Vec<Due> {
        let mut entries = self.lock();
        entries.jobs.retain(|_, entry| entry.is_dirty() || entry.rests(now));
        let dirty = entries.jobs.iter_mut().filter(|(_, entry)| entry.is_dirty() && (everything || !entry.rests(now)));
        let due = dirty.map(|(job, entry)| {
            entry.written_at = now;
            let lease = Some(entry.row.lease);
            Due { lease, version: entry.version, ..Due::now(*job, entry.proof.clone(), entry.row.report()) }
        });
        due.collect()
    }

    /// What was reported under a lease and is not written yet.
    pub fn unwritten(&self, job: JobId, lease: i64) -> Option<Report> {
        let entries = self.lock();
        let entry = entries.jobs.get(&job).filter(|entry| entry.is_dirty() && entry.row.lease == lease)?;
        Some(entry.row.report())
    }

    /// The attempt of a claim ends. Nothing is removed: the transaction that ends it may fail.
    pub fn ended(&self, job: JobId, lease: i64) {
        if let Some(entry) = self.lock().jobs.get_mut(&job).filter(|entry| entry.row.lease == lease) {
            entry.is_over = true;
        }
    }

    /// Whether the caller is to start a task that writes what is due: true once, until [`ends`](Self::ends).
    pub fn begins(&self) -> bool {
        !std::mem::replace(&mut self.lock().is_served, true)
    }

    /// Whether the task that writes what is due may end, because the board is empty.
    pub fn ends(&self) -> bool {
        let mut entries = self.lock();
        entries.is_served = !entries.jobs.is_empty();
        !entries.is_served
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.lock().jobs.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        // The map is whole after every statement: a panic elsewhere cannot have left it half changed.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
