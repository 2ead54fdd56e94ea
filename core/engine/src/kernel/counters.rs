//! Numbers that only grow, and what a finished transaction passes to the writer.
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use ojs_model::Timestamp;

use crate::error::StoreError;
use crate::features::state::{HandedOver, Kept};
use crate::kernel::aside::Aside;
use crate::kernel::hooks::Hooks;
use crate::kernel::job::TICKETS_PER_MILLI;
use crate::kernel::part::Refused;
use crate::kernel::{event, lease};
use crate::store::tables::Tables;

/// Hands out lease tokens and tickets: numbers that only grow.
#[derive(Debug, Default, Clone)]
pub struct Counters {
    /// What takes part in transactions beside the kernel.
    pub(crate) features: &'static [Hooks],
    pub(crate) leases: std::ops::Range<i64>,
    /// Shared by the writers of a process, so that tickets are in the order of arrival.
    pub(crate) last_ticket: Arc<AtomicI64>,
    /// When the next scheduled or retried job is due, as far as this process knows; 0 when it knows of none.
    pub(crate) due_at: Arc<AtomicI64>,
    /// What features keep for as long as the process runs.
    pub(crate) kept: Kept,
    /// What features of the transaction that has just finished have for the writer, which takes it after the commit.
    pub(crate) handed_over: HandedOver,
    /// The events of the transaction that has just finished, if they are to be logged.
    pub emitted: Vec<event::Event>,
    /// Whether that transaction has removed everything.
    pub emptied: bool,
    /// Parts of the running group that earlier tries have found to be refused.
    pub(crate) refused: Refused,
    /// When the dead letters are counted one by one, milliseconds.
    pub(crate) dead_recount_at: i64,
    /// Items that maintenance leaves out.
    pub aside: Aside,
}

impl Counters {
    /// Counters for transactions with these features.
    #[must_use]
    pub fn with(features: &'static [Hooks]) -> Self {
        Self { features, ..Self::default() }
    }

    /// Takes a new range of lease tokens.
    pub fn reserve(&mut self, tables: &mut dyn Tables) -> Result<(), StoreError> {
        self.leases = tables.reserve_leases()?;
        Ok(())
    }

    /// A transaction that reserved lease tokens may not have been written: the next claim reserves others.
    pub fn forget_leases(&mut self) {
        self.leases = self.leases.end..self.leases.end;
    }

    /// Forgets what a transaction that was not committed has left here.
    pub fn forget(&mut self) {
        self.handed_over = HandedOver::default();
        self.emitted.clear();
        self.emptied = false;
    }

    /// The next lease token of a job whose latest was `before`. Writers take tokens from ranges of their own; the
    /// tokens of one job still grow. The token itself shows whether the claim is fenced.
    pub(crate) fn lease(&mut self, tables: &mut dyn Tables, before: i64, fenced: bool) -> Result<i64, StoreError> {
        let mut lease = lease::at_or_after(self.leases.start, fenced);
        if lease >= self.leases.end {
            self.reserve(tables)?;
            lease = lease::at_or_after(self.leases.start, fenced);
            if lease >= self.leases.end {
                return Err(StoreError::Failed("the store gave an empty range of lease tokens".into()));
            }
        }
        self.leases.start = lease.saturating_add(1);
        Ok(lease::at_or_after(lease.max(before.saturating_add(1)), fenced))
    }

    /// Notes when a job is due: maintenance then looks for it at that time instead of at its next tick.
    pub(crate) fn note_due(&self, at: i64) {
        let earlier = |known: i64| (known == 0 || at < known).then_some(at);
        // An error says that an earlier job is known.
        let _ = self.due_at.fetch_update(Ordering::SeqCst, Ordering::SeqCst, earlier);
    }

    /// Time until the next known job is due.
    pub(crate) fn due_in(&self, now: Timestamp) -> Option<Duration> {
        let at = self.due_at.load(Ordering::SeqCst);
        (at != 0).then(|| Duration::from_millis(Timestamp::from_millis(at).millis_since(now)))
    }

    /// Whether the next known job is due. The time is forgotten then; the regular sweep finds the jobs that follow.
    pub(crate) fn take_due(&self, now: Timestamp) -> bool {
        let passed = |known: i64| (known != 0 && known <= now.as_millis()).then_some(0);
        self.due_at.fetch_update(Ordering::SeqCst, Ordering::SeqCst, passed).is_ok()
    }

    /// A ticket for the line of available jobs: by time of entry, then by order of arrival.
    pub(crate) fn ticket(&mut self, now: Timestamp) -> i64 {
        let next = |last: i64| (now.as_millis() * TICKETS_PER_MILLI).max(last + 1);
        let last = self.last_ticket.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |last| Some(next(last)));
        next(last.unwrap_or_else(|last| last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_due_time_is_known_until_it_has_come() {
        let (counters, at) = (Counters::default(), Timestamp::from_millis);
        assert_eq!(counters.due_in(at(5)), None);
        for time in [30, 20, 40] {
            counters.note_due(time);
        }
        assert_eq!(counters.due_in(at(5)), Some(Duration::from_millis(15)));
        assert!(!counters.take_due(at(19)));
        assert!(counters.take_due(at(20)) && !counters.take_due(at(99)));
        assert_eq!(counters.due_in(at(99)), None);
    }
}
