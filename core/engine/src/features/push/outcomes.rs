//! Writes what has become of jobs. Outcomes that come while others are written go into the next command together: many
//! deliveries at a time then cost a command per commit, not one per job. The same command claims the jobs that take
//! their places.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ojs_model::{ErrorCode, OjsError};

use super::claim::Claimed;
use super::line::Flight;
use super::sender::{AFTER_FAULT, Asked, Sender};
use super::settle::{Freed, Settle, Settled};
use crate::error::{Refusal, StoreError};
use crate::kernel::command::{Exchange, Finished, Outcome, OutcomeReport};
use crate::kernel::job::JobRow;

/// Commands with outcomes under way at most: while the store carries one out, the next one waits there already.
const MOST_WRITERS: usize = 2;
/// Outcomes that are worth a command beside another one. Fewer wait for its end, because each has a commit of its own.
const WORTH_A_COMMAND: usize = 64;

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

    /// Judges what the store says about its outcome. Returns the flight, which is over, or the whole when it is to be
    /// written again.
    fn judged(self, result: Result<Finished, OjsError>) -> Result<Flight, Self> {
        match result {
            // The store has failed at this job alone.
            Err(error) if error.code == ErrorCode::BackendError.as_str() => return self.failed(&error),
            Err(error) => tracing::info!(job = %self.report.job, %error, "push: the answer came too late and changes nothing"),
            Ok(_) => {}
        }
        Ok(self.flight)
    }

    /// It could not be written; it is to be written again while its lease may last.
    fn failed(self, fault: &dyn std::fmt::Debug) -> Result<Flight, Self> {
        let job = self.report.job;
        if Instant::now() < self.until {
            tracing::warn!(?fault, %job, "push: an outcome could not be written; trying again");
            return Err(self);
        }
        tracing::warn!(?fault, %job, "push: an outcome could not be written; its lease decides");
        Ok(self.flight)
    }
}

/// The outcomes of a node that are not written yet.
#[derive(Default)]
pub(super) struct Outcomes(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    ended: Vec<Ended>,
    /// Tasks that are writing. One of them takes what is left when it is done.
    writers: usize,
}

impl Waiting {
    /// Whether a task writes what there is, beside so many others.
    fn is_worth_writing(&self, others: usize) -> bool {
        let least = if others == 0 { 1 } else { WORTH_A_COMMAND };
        others < MOST_WRITERS && self.ended.len() >= least
    }
}

impl Outcomes {
    /// Writes outcomes, and those that come meanwhile. Returns at once where another task that is writing is to take
    /// these as well. What the store has failed at is tried again, and delays no other outcome.
    pub(super) async fn write(&self, mut ended: Vec<Ended>, sender: &Arc<Sender>) {
        while !ended.is_empty() {
            let Some(mut writer) = self.begin(std::mem::take(&mut ended)) else { return };
            while let Some(batch) = writer.next() {
                ended.extend(sender.settle(batch).await);
            }
            drop(writer);
            if !ended.is_empty() {
                tokio::time::sleep(AFTER_FAULT).await;
            }
        }
    }

    /// Adds outcomes; `None` when a task that is writing is to take them.
    fn begin(&self, ended: Vec<Ended>) -> Option<Writer<'_>> {
        let mut waiting = self.waiting();
        waiting.ended.extend(ended);
        if !waiting.is_worth_writing(waiting.writers) {
            return None;
        }
        waiting.writers += 1;
        // Made only here: a writer that is dropped gives its place away.
        Some(Writer { outcomes: self, is_over: false })
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Each value is whole after every statement.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task that writes.
struct Writer<'a> {
    outcomes: &'a Outcomes,
    is_over: bool,
}

impl Writer<'_> {
    /// What has come since the last time. Without any, or with few while another task is writing, the writer has ended:
    /// that task takes them, or the next one that brings outcomes.
    fn next(&mut self) -> Option<Vec<Ended>> {
        let mut waiting = self.outcomes.waiting();
        self.is_over = !waiting.is_worth_writing(waiting.writers - 1);
        waiting.writers -= usize::from(self.is_over);
        (!self.is_over).then(|| std::mem::take(&mut waiting.ended))
    }
}

impl Drop for Writer<'_> {
    /// After a panic of its task, others write.
    fn drop(&mut self) {
        if !self.is_over {
            self.outcomes.waiting().writers -= 1;
        }
    }
}

impl Sender {
    /// Writes outcomes, and claims jobs in the place of those that end, in one command. Returns outcomes that are to be
    /// written again.
    async fn settle(self: &Arc<Self>, batch: Vec<Ended>) -> Vec<Ended> {
        let Ok(store) = self.store() else { return Vec::new() };
        let now = (self.parts.now)().as_millis();
        // At the limit of the node, lines wait for each other's permits: they are not handed on within one line.
        let flights = batch.iter().map(|ended| &ended.flight).filter(|_| self.has_permits());
        let freed = Freed::of(flights, now);
        let asked: Vec<Asked> = freed.iter().map(|freed| Asked::now(&freed.line, now)).collect();
        let outcomes = batch.iter().map(|ended| ended.report.clone()).collect();
        let claims = freed.iter().map(|freed| freed.claim(now)).collect();
        let written = store.execute(Settle { outcomes: Exchange { outcomes, claim: None }, claims }).await;
        drop(store);
        let (results, claimed) = match written {
            Ok(Settled { results, claimed }) => (results, claimed),
            Err(Refusal::Store(StoreError::Closed)) => return Vec::new(),
            Err(refusal) => {
                let failed = batch.into_iter().map(|ended| ended.failed(&refusal));
                return self.part(failed, Vec::new());
            }
        };
        let judged = batch.into_iter().zip(results).map(|(ended, result)| ended.judged(result));
        let claims = freed.into_iter().zip(asked).zip(claimed).map(|((freed, asked), claimed)| (freed, asked, claimed));
        self.part(judged, claims.collect())
    }

    /// Sends the jobs that were claimed in the place of those that have ended. Returns what is to be written again.
    fn part(
        self: &Arc<Self>,
        ended: impl Iterator<Item = Result<Flight, Ended>>,
        claims: Vec<(Freed, Asked, Claimed)>,
    ) -> Vec<Ended> {
        let (mut flights, mut again) = (Vec::new(), Vec::new());
        for ended in ended {
            match ended {
                Ok(flight) => flights.push(flight),
                Err(ended) => again.push(ended),
            }
        }
        for (freed, asked, claimed) in claims {
            let shut = claimed.shut.iter().map(|(place, _)| *place).collect();
            if let Some(permits) = freed.take_over(&mut flights) {
                self.take(&freed.line, claimed, &asked, permits);
            }
            freed.call(&shut);
        }
        flights.into_iter().for_each(Flight::leave);
        again
    }
}
