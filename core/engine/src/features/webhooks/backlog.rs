//! How many deliveries wait for each subscription, as far as this process knows, and which events it has dropped.
//!
//! A transaction asks here whether a subscription has room, so an event costs no read of the store. The store is
//! asked for a number when a process needs it first, when the process has added an eighth of the bound since, and, at
//! most every ten seconds, before it drops events. Only then it learns what other processes have added and ended.
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ojs_model::JobId;

use crate::outgoing::options::MAX_WAITING;

/// A number that is older is counted again before an event is dropped, milliseconds.
const COUNT_PAUSE: i64 = 10_000;
/// Which part of the bound a process adds before it counts again.
const PART: i64 = 8;
/// Least time between two warnings about a subscription, milliseconds.
const WARN_PAUSE: i64 = 60_000;
/// Lines beyond which those are forgotten that can be counted again: most are of deleted subscriptions.
const MAX_LINES: usize = 2_000;

/// Deliveries of a subscription that have not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// How many there are.
    count: i64,
    /// Those of them that this process has added since they were counted in the store.
    added: i64,
    /// When they were counted, milliseconds.
    counted_at: i64,
}

/// Events that became no delivery, because too many deliveries waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dropped {
    /// How many.
    pub events: i64,
    /// When the first of them was dropped, milliseconds; 0 for none.
    pub since: i64,
}

impl Dropped {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let since = if self.since == 0 || other.since == 0 { self.since.max(other.since) } else { self.since.min(other.since) };
        Self { events: self.events.saturating_add(other.events), since }
    }
}

/// What one transaction changes for one subscription.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delta {
    /// What waited before.
    known: Option<Waiting>,
    /// Whether this transaction has counted it.
    is_counted: bool,
    /// Deliveries that wait again, less those that have ended. The store has them.
    written: i64,
    /// New deliveries. The store gets them at the end of the transaction.
    added: i64,
    /// Events that became no delivery.
    dropped: i64,
}

/// What one transaction changes.
pub(crate) type Deltas = BTreeMap<JobId, Delta>;

impl Delta {
    /// A delivery has ended.
    pub(crate) fn end(&mut self) {
        self.written -= 1;
    }

    /// A delivery that had ended waits again.
    pub(crate) fn reopen(&mut self) {
        self.written += 1;
    }

    fn waiting(&self) -> i64 {
        self.known.map_or(0, |known| known.count).saturating_add(self.written).saturating_add(self.added)
    }

    fn must_be_counted(&self, bound: i64, now: i64) -> bool {
        self.known.is_none_or(|known| {
            let is_old = now.saturating_sub(known.counted_at) >= COUNT_PAUSE;
            known.added > bound / PART || (is_old && self.waiting() >= bound)
        })
    }

    /// Takes over what the store has counted in this transaction.
    fn counted(&mut self, count: usize, now: i64) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        (self.known, self.is_counted) = (Some(Waiting { count, added: 0, counted_at: now }), true);
        // The count has what this transaction has written before.
        self.written = 0;
    }

    /// Adds a delivery for an event; false when there is no room, and the event is dropped.
    fn take(&mut self, bound: i64) -> bool {
        let has_room = self.waiting() < bound;
        if has_room {
            self.added += 1
        } else {
            self.dropped += 1
        };
        has_room
    }
}

/// What a process knows of one subscription.
#[derive(Debug)]
struct Line {
    waiting: Waiting,
    /// What the store does not have yet.
    unwritten: Dropped,
    warned_at: Option<i64>,
    /// Events that were dropped since the latest warning.
    unwarned: i64,
}

impl Line {
    const fn of(waiting: Waiting) -> Self {
        Self { waiting, unwritten: Dropped { events: 0, since: 0 }, warned_at: None, unwarned: 0 }
    }

    /// Notes events that were dropped; returns how many to warn of.
    fn drop(&mut self, events: i64, now: i64) -> Option<i64> {
        self.unwritten = self.unwritten.and(Dropped { events, since: now });
        self.unwarned += events;
        let is_due = self.warned_at.is_none_or(|at| now.saturating_sub(at) >= WARN_PAUSE);
        is_due.then(|| {
            self.warned_at = Some(now);
            std::mem::take(&mut self.unwarned)
        })
    }
}

#[derive(Debug, Default)]
struct Lines {
    of: HashMap<JobId, Line>,
    /// Events that were dropped since the process started.
    dropped: u64,
}

/// The subscriptions of a process. Its writers share it.
#[derive(Debug)]
pub(crate) struct Backlog {
    bound: i64,
    lines: Mutex<Lines>,
    /// Held while drops are on their way to the store, so that an answer counts each of them once.
    pub(crate) writing: tokio::sync::Mutex<()>,
}

impl Default for Backlog {
    fn default() -> Self {
        Self::new(MAX_WAITING)
    }
}

impl Backlog {
    /// At most so many deliveries wait for a subscription.
    pub(crate) fn new(bound: u32) -> Self {
        Self { bound: i64::from(bound), lines: Mutex::default(), writing: tokio::sync::Mutex::default() }
    }

    /// Every statement that changes it leaves it whole.
    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a delivery for an event of a subscription; false when there is no room, and the event is dropped. `count`
    /// counts the deliveries in the store, up to a limit.
    ///
    /// # Errors
    /// Those of `count`.
    pub(crate) fn take<E>(
        &self,
        id: JobId,
        delta: &mut Delta,
        now: i64,
        count: impl FnOnce(usize) -> Result<usize, E>,
    ) -> Result<bool, E> {
        if delta.known.is_none() {
            delta.known = self.lines().of.get(&id).map(|line| line.waiting);
        }
        if delta.must_be_counted(self.bound, now) {
            // The bound may have been higher before: twice the bound is enough to see that there is no room.
            let limit = usize::try_from(self.bound.saturating_mul(2).saturating_add(1)).unwrap_or(usize::MAX);
            delta.counted(count(limit)?, now);
        }
        Ok(delta.take(self.bound))
    }

    /// Takes over what a transaction has changed that was committed at a time.
    pub(crate) fn committed(&self, deltas: Deltas, now: i64) {
        if deltas.is_empty() {
            return;
        }
        for (id, events) in self.applied(deltas, now) {
            let subscription = format!("sub_{id}");
            tracing::warn!(subscription, events, bound = self.bound, "webhooks: too many deliveries wait; events were dropped");
        }
    }

    /// The same; returns what to warn of.
    fn applied(&self, deltas: Deltas, now: i64) -> Vec<(JobId, i64)> {
        let mut lines = self.lines();
        let mut warnings = Vec::new();
        if lines.of.len() > MAX_LINES {
            lines.of.retain(|_, line| line.unwritten.events > 0);
        }
        for (id, delta) in deltas {
            let line = lines.of.get(&id).map(|line| line.waiting);
            // Other transactions may have been committed since this one has asked.
            let known = if delta.is_counted { delta.known } else { line.or(delta.known) };
            // A subscription whose count was never read is counted when it is first needed.
            let Some(Waiting { count, added, counted_at }) = known else { continue };
            let count = count.saturating_add(delta.written).saturating_add(delta.added).max(0);
            let waiting = Waiting { count, added: added.saturating_add(delta.added), counted_at };
            let line = lines.of.entry(id).or_insert(Line::of(waiting));
            line.waiting = waiting;
            if delta.dropped > 0 {
                warnings.extend(line.drop(delta.dropped, now).map(|events| (id, events)));
                lines.dropped = lines.dropped.saturating_add(delta.dropped.unsigned_abs());
            }
        }
        warnings
    }

    /// Forgets all numbers: everything was removed.
    pub(crate) fn clear(&self) {
        self.lines().of.clear();
    }

    /// Events that were dropped since the process started.
    pub(crate) fn dropped(&self) -> u64 {
        self.lines().dropped
    }

    /// What the store does not have yet.
    pub(crate) fn unwritten(&self) -> Vec<(JobId, Dropped)> {
        let lines = self.lines();
        let found = lines.of.iter().filter(|(_, line)| line.unwritten.events > 0);
        let mut found: Vec<_> = found.map(|(id, line)| (*id, line.unwritten)).collect();
        // Nodes write in the same order, so none of them waits for another one that waits for it.
        found.sort_unstable_by_key(|(id, _)| *id);
        found
    }

    /// The store has these now.
    pub(crate) fn written(&self, drops: &[(JobId, Dropped)]) {
        let mut lines = self.lines();
        for (id, dropped) in drops {
            if let Some(line) = lines.of.get_mut(id) {
                let events = line.unwritten.events.saturating_sub(dropped.events);
                // When the first of the others was dropped is not known; the store keeps the earliest time.
                line.unwritten = if events > 0 { Dropped { events, ..line.unwritten } } else { Dropped::default() };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u8) -> JobId {
        JobId::from_bytes([number; 16])
    }

    /// A transaction that brings so many events for subscription 1. Returns how many became deliveries, and whether
    /// the store was asked, which has `stored` deliveries.
    fn events(backlog: &Backlog, events: usize, stored: usize, now: i64) -> (usize, bool) {
        let (mut delta, mut asked, mut taken) = (Delta::default(), false, 0);
        for _ in 0..events {
            let count = |limit: usize| {
                asked = true;
                Ok::<_, ()>(stored.min(limit))
            };
            taken += usize::from(backlog.take(id(1), &mut delta, now, count).unwrap());
        }
        backlog.committed(Deltas::from([(id(1), delta)]), now);
        (taken, asked)
    }

    fn ends(backlog: &Backlog, number: usize, now: i64) {
        let mut delta = Delta::default();
        (0..number).for_each(|_| delta.end());
        backlog.committed(Deltas::from([(id(1), delta)]), now);
    }

    #[test]
    fn the_store_is_asked_first_and_then_after_an_eighth_of_the_bound() {
        let backlog = Backlog::new(80);
        assert_eq!(events(&backlog, 5, 40, 0), (5, true), "nothing is known");
        assert_eq!(events(&backlog, 5, 45, 0), (5, false));
        assert_eq!(events(&backlog, 1, 50, 0), (1, false), "an eighth, not more");
        assert_eq!(events(&backlog, 1, 70, 0), (1, true), "another process has added 19");
        assert_eq!(events(&backlog, 9, 71, 0), (9, false));
        assert_eq!(events(&backlog, 3, 80, 0), (0, false), "full");
    }

    #[test]
    fn an_end_makes_room_and_a_retry_by_hand_takes_it() {
        let backlog = Backlog::new(80);
        assert_eq!(events(&backlog, 1, 80, 0), (0, true));
        ends(&backlog, 2, 0);
        assert_eq!(events(&backlog, 1, 99, 0), (1, false));
        let mut delta = Delta::default();
        delta.reopen();
        backlog.committed(Deltas::from([(id(1), delta)]), 0);
        assert_eq!(events(&backlog, 1, 99, 0), (0, false));
    }

    #[test]
    fn before_events_are_dropped_an_old_number_is_counted_again() {
        let backlog = Backlog::new(80);
        assert_eq!(events(&backlog, 1, 80, 0), (0, true));
        assert_eq!(events(&backlog, 1, 0, 9_999), (0, false));
        assert_eq!(events(&backlog, 1, 78, 10_000), (1, true), "another process has ended some");
        assert_eq!(events(&backlog, 1, 0, 99_999), (1, false), "there is room by all that is known");
        assert_eq!(events(&backlog, 2, 80, 99_999), (0, true));
    }

    #[test]
    fn a_transaction_that_counts_has_what_it_wrote_before_and_not_what_it_will_write() {
        let backlog = Backlog::new(8);
        let mut delta = Delta::default();
        delta.end();
        // The store has seven without the one that this transaction has ended.
        assert_eq!(backlog.take(id(1), &mut delta, 0, |_| Ok::<_, ()>(7)), Ok(true));
        assert_eq!(backlog.take(id(1), &mut delta, 0, |_| Err(())), Ok(false));
        backlog.committed(Deltas::from([(id(1), delta)]), 0);
        assert_eq!(events(&backlog, 1, 99, 0), (0, false));
    }

    #[test]
    fn a_number_that_was_never_asked_for_is_not_kept() {
        let backlog = Backlog::new(8);
        ends(&backlog, 3, 0);
        assert_eq!(events(&backlog, 1, 8, 0), (0, true));
    }

    #[test]
    fn after_a_fault_the_store_is_asked_again() {
        let backlog = Backlog::new(8);
        assert_eq!(backlog.take(id(1), &mut Delta::default(), 0, |_| Err(7)), Err(7));
        assert_eq!(events(&backlog, 1, 0, 0), (1, true));
        backlog.clear();
        assert_eq!(events(&backlog, 1, 8, 0), (0, true));
    }

    #[test]
    fn drops_are_counted_since_the_first_and_warned_of_once_a_minute() {
        let backlog = Backlog::new(0);
        let drop = |events, now| {
            let delta =
                Delta { known: Some(Waiting { count: 0, added: 0, counted_at: now }), dropped: events, ..Delta::default() };
            backlog.applied(Deltas::from([(id(1), delta)]), now)
        };
        assert_eq!(drop(2, 5), [(id(1), 2)]);
        assert_eq!(drop(3, 60_004), []);
        assert_eq!(drop(1, 60_005), [(id(1), 4)]);
        let drops = backlog.unwritten();
        assert_eq!(drops, [(id(1), Dropped { events: 6, since: 5 })]);
        drop(1, 60_006);
        backlog.written(&drops);
        assert_eq!(backlog.unwritten(), [(id(1), Dropped { events: 1, since: 5 })]);
        backlog.written(&[(id(1), Dropped { events: 1, since: 5 })]);
        assert_eq!((backlog.unwritten(), backlog.dropped()), (Vec::new(), 7));
    }

    #[test]
    fn lines_of_subscriptions_that_are_gone_do_not_add_up() {
        let backlog = Backlog::new(8);
        let known = Some(Waiting { count: 8, added: 0, counted_at: 0 });
        for number in 0..=MAX_LINES {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&number.to_be_bytes());
            let delta = Delta { known, dropped: i64::from(number == 0), ..Delta::default() };
            backlog.committed(Deltas::from([(JobId::from_bytes(bytes), delta)]), 0);
        }
        assert_eq!(events(&backlog, 1, 0, 0), (1, true));
        let kept = backlog.lines().of.len();
        assert_eq!((kept, backlog.unwritten().len()), (2, 1), "what was dropped is kept until it is written");
    }
}
