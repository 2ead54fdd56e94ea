//! Writes what has become of jobs. Outcomes that come while others are written go into the next command together: many
//! deliveries at a time then cost a command per commit, not one per job.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use ojs_model::{ErrorCode, OjsError};

use super::line::Flight;
use super::sender::AFTER_FAULT;
use crate::error::{Refusal, StoreError};
use crate::kernel::command::{Exchange, Finished, Outcome, OutcomeReport};
use crate::kernel::job::JobRow;
use crate::store::seam::Store;

/// A job whose delivery has ended.
pub(super) struct Ended {
    report: OutcomeReport,
    /// When its lease may end: a later outcome would change nothing.
    until: Instant,
    flight: Flight,
}

impl Ended {
    pub(super) fn new(row: &JobRow, outcome: Outcome, flight: Flight) -> Self {
        let report = OutcomeReport { job: row.id, lease: Some(row.lease), worker: None, outcome, want_job: false };
        let until = Instant::now() + Duration::from_millis(u64::try_from(row.lease_ms).unwrap_or(0));
        Self { report, until, flight }
    }

    /// Its endpoint has room for another job.
    fn leave(self) {
        let target = Arc::clone(&self.flight.target);
        drop(self);
        target.has_room();
    }

    /// Judges what the store says about its outcome; gives it back when it is to be written again.
    fn judged(self, result: Result<Finished, OjsError>) -> Option<Self> {
        match result {
            // The store has failed at this job alone.
            Err(error) if error.code == ErrorCode::BackendError.as_str() => return self.failed(&error),
            Err(error) => tracing::info!(job = %self.report.job, %error, "push: the answer came too late and changes nothing"),
            Ok(_) => {}
        }
        self.leave();
        None
    }

    /// It could not be written; gives it back while its lease may last.
    fn failed(self, fault: &dyn std::fmt::Debug) -> Option<Self> {
        let job = self.report.job;
        if Instant::now() < self.until {
            tracing::warn!(?fault, %job, "push: an outcome could not be written; trying again");
            return Some(self);
        }
        tracing::warn!(?fault, %job, "push: an outcome could not be written; its lease decides");
        self.leave();
        None
    }
}

/// The outcomes of a node that are not written yet.
#[derive(Default)]
pub(super) struct Outcomes(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    ended: Vec<Ended>,
    /// A task is writing, and takes the others when it is done.
    is_taken: bool,
}

impl Outcomes {
    /// Writes outcomes, and those that come meanwhile. Returns at once when another task is writing: that one takes
    /// these as well. What the store has failed at is tried again, and delays no other outcome.
    pub(super) async fn write(&self, mut ended: Vec<Ended>, store: &Weak<dyn Store>) {
        while !ended.is_empty() {
            let Some(mut turn) = self.begin(std::mem::take(&mut ended)) else { return };
            while let Some(batch) = turn.next() {
                ended.extend(write_once(batch, store).await);
            }
            drop(turn);
            if !ended.is_empty() {
                tokio::time::sleep(AFTER_FAULT).await;
            }
        }
    }

    /// Adds outcomes; `None` when another task is writing.
    fn begin(&self, ended: Vec<Ended>) -> Option<Turn<'_>> {
        let mut waiting = self.waiting();
        waiting.ended.extend(ended);
        if std::mem::replace(&mut waiting.is_taken, true) {
            return None;
        }
        // Made only here: a turn that is dropped gives its place away.
        Some(Turn { outcomes: self, is_over: false })
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Each value is whole after every statement.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one task that writes.
struct Turn<'a> {
    outcomes: &'a Outcomes,
    is_over: bool,
}

impl Turn<'_> {
    /// What has come since the last time. Without any, the turn is over: the next task that brings outcomes begins one.
    fn next(&mut self) -> Option<Vec<Ended>> {
        let mut waiting = self.outcomes.waiting();
        self.is_over = waiting.ended.is_empty();
        waiting.is_taken = !self.is_over;
        (!self.is_over).then(|| std::mem::take(&mut waiting.ended))
    }
}

impl Drop for Turn<'_> {
    /// After a panic of its task, others write.
    fn drop(&mut self) {
        if !self.is_over {
            self.outcomes.waiting().is_taken = false;
        }
    }
}

/// Writes outcomes in one command; returns those that are to be written again.
async fn write_once(batch: Vec<Ended>, store: &Weak<dyn Store>) -> Vec<Ended> {
    let Some(store) = store.upgrade() else { return Vec::new() };
    let outcomes = batch.iter().map(|ended| ended.report.clone()).collect();
    match store.execute(Exchange { outcomes, claim: None }).await {
        Ok(exchanged) => batch.into_iter().zip(exchanged.results).filter_map(|(ended, result)| ended.judged(result)).collect(),
        Err(Refusal::Store(StoreError::Closed)) => Vec::new(),
        Err(refusal) => batch.into_iter().filter_map(|ended| ended.failed(&refusal)).collect(),
    }
}
