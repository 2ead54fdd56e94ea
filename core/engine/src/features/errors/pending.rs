//! Failures on their way from a commit to the store.
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::features::errors::records::ErrorRow;

/// Groups that wait to be written. Further ones are not counted until the next write: only a flood of errors that are
/// all different has more within five seconds.
const MAX_GROUPS: usize = 500;

/// What this process has not written yet.
#[derive(Debug, Default)]
pub struct Pending {
    state: Mutex<State>,
    /// A write has ended.
    written: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// In the order of their keys.
    groups: BTreeMap<String, ErrorRow>,
    is_writing: bool,
    /// Writes that have begun.
    writes: u64,
}

/// Groups that are being written. Dropped before [`done`](Self::done), they wait to be written again, also after a
/// panic.
#[derive(Debug)]
pub struct Batch {
    /// In the order of their keys.
    rows: Vec<ErrorRow>,
    /// Where they came from, unless there are none.
    pending: Option<Arc<Pending>>,
}

impl Batch {
    /// In the order of their keys.
    pub fn rows(&self) -> &[ErrorRow] {
        &self.rows
    }

    /// They have been written.
    pub fn done(mut self) {
        self.rows.clear();
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        if let Some(pending) = self.pending.take() {
            pending.end(std::mem::take(&mut self.rows));
        }
    }
}

impl Pending {
    fn state(&self) -> MutexGuard<'_, State> {
        // Each value is whole after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds failures that have been committed.
    pub fn add(&self, failures: Vec<ErrorRow>) {
        if failures.is_empty() {
            return;
        }
        let mut state = self.state();
        for failure in failures {
            if let Some(known) = state.groups.get_mut(&failure.id) {
                known.add(&failure);
            } else if state.groups.len() < MAX_GROUPS {
                state.groups.insert(failure.id.clone(), failure);
            }
        }
    }

    /// What is to be written now; nothing while another writer of the process writes.
    pub fn take(self: &Arc<Self>) -> Batch {
        let mut state = self.state();
        if state.is_writing || state.groups.is_empty() {
            return Batch { rows: Vec::new(), pending: None };
        }
        (state.is_writing, state.writes) = (true, state.writes + 1);
        Batch { rows: std::mem::take(&mut state.groups).into_values().collect(), pending: Some(Arc::clone(self)) }
    }

    /// A write has ended; it is tried again with what it leaves.
    fn end(&self, left: Vec<ErrorRow>) {
        self.add(left);
        self.state().is_writing = false;
        self.written.notify_waiters();
    }

    /// How many writes there have been, and what is not in the store yet. Waits for a write to end: what it writes
    /// would be in both, or in neither.
    pub async fn now(&self) -> (u64, Vec<ErrorRow>) {
        loop {
            let ended = self.written.notified();
            tokio::pin!(ended);
            // Before the look at the state: a write that ends in between is not missed.
            ended.as_mut().enable();
            if let Some(now) = self.at_rest() {
                return now;
            }
            ended.await;
        }
    }

    fn at_rest(&self) -> Option<(u64, Vec<ErrorRow>)> {
        let state = self.state();
        (!state.is_writing).then(|| (state.writes, state.groups.values().cloned().collect()))
    }

    /// Whether no write has begun since there were so many.
    pub fn is_still(&self, writes: u64) -> bool {
        self.state().writes == writes
    }

    /// Forgets everything (test mode).
    pub fn clear(&self) {
        self.state().groups.clear();
    }
}

#[cfg(test)]
mod tests {
    use ojs_model::JobId;

    use super::*;

    fn failure(queue: &str) -> ErrorRow {
        ErrorRow {
            id: ErrorRow::id_of(0, "f", queue, "t"),
            tenant: 0,
            fingerprint: "f".into(),
            queue: queue.into(),
            job_type: "t".into(),
            error_type: "E".into(),
            message: "m".into(),
            first_at: 1,
            last_at: 1,
            count: 1,
            jobs: vec![JobId::from_bytes([1; 16])],
        }
    }

    #[tokio::test]
    async fn what_is_being_written_is_neither_lost_nor_seen_twice() {
        let pending = Arc::new(Pending::default());
        pending.add(vec![failure("q"), failure("q")]);
        let (before, shown) = pending.now().await;
        assert_eq!((shown.len(), shown[0].count), (1, 2));
        let written = pending.take();
        assert!(!pending.is_still(before));
        pending.add(vec![failure("q")]);
        assert_eq!(pending.take().rows(), [], "one write at a time");
        let reader = pending.now();
        tokio::pin!(reader);
        assert!(futures_util::poll!(reader.as_mut()).is_pending(), "a reader waits for the write");
        drop(written);
        let (after, shown) = reader.await;
        assert_eq!(shown[0].count, 3, "what was not written is still here");
        pending.take().done();
        assert_eq!(pending.now().await, (after + 1, Vec::new()));
    }

    #[test]
    fn a_flood_of_different_errors_takes_a_bounded_room() {
        let pending = Arc::new(Pending::default());
        pending.add((0..2 * MAX_GROUPS).map(|n| failure(&format!("q{n}"))).collect());
        pending.add(vec![failure("q0")]);
        let batch = pending.take();
        let taken = batch.rows();
        assert_eq!(taken.len(), MAX_GROUPS);
        assert!(taken.iter().any(|row| row.count == 2), "a group that is known is counted all the same");
        assert!(taken.is_sorted_by(|a, b| a.id < b.id));
    }
}
