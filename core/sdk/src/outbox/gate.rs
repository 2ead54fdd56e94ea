//! Which rows may be sent without overtaking one that is not committed yet (research: "gate and generations").
//!
//! A row's number is taken by a transaction that holds the gate. A transaction that could still commit a number up to
//! `upto` therefore held the gate when `upto` was read; when none of those holds it any more, every number up to `upto`
//! is visible or gone. Transactions that never write to the outbox are not in the gate and delay nothing.
use std::collections::{HashSet, VecDeque};

/// More generations than this need not be told apart: a later one covers an earlier one.
const MOST: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Gate {
    waiting: VecDeque<(i64, HashSet<String>)>,
    settled: i64,
}

impl Gate {
    /// Notes what was read, numbers first, and returns the highest number that may be sent.
    pub fn observe(&mut self, upto: i64, holders: HashSet<String>) -> i64 {
        while let Some((number, members)) = self.waiting.front() {
            if !members.is_disjoint(&holders) {
                break;
            }
            self.settled = self.settled.max(*number);
            self.waiting.pop_front();
        }
        // A later generation may settle before an earlier one only when its members are others; then it waits for its turn.
        if self.waiting.is_empty() && holders.is_empty() {
            self.settled = self.settled.max(upto);
        } else if self.waiting.back().is_none_or(|(number, _)| *number < upto) && upto > self.settled {
            if self.waiting.len() >= MOST {
                self.waiting.pop_back();
            }
            self.waiting.push_back((upto, holders));
        }
        self.settled
    }

    /// Every number up to here is visible or gone.
    pub const fn settled(&self) -> i64 {
        self.settled
    }

    /// The highest number that was noted.
    pub fn observed(&self) -> i64 {
        self.waiting.back().map_or(self.settled, |(number, _)| *number)
    }

    /// Whether a transaction is being waited for.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> HashSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_generation_settles_when_its_members_are_gone() {
        let mut gate = Gate::default();
        assert_eq!(gate.observe(3, set(&[])), 3);
        assert_eq!(gate.observe(5, set(&["a", "b"])), 3);
        // c came later: it cannot have a number up to 5.
        assert_eq!(gate.observe(8, set(&["b", "c"])), 3);
        assert_eq!(gate.observe(9, set(&["c"])), 5);
        assert_eq!(gate.observe(9, set(&["d"])), 9);
        assert!(!gate.is_waiting());
    }

    #[test]
    fn later_writers_do_not_starve_earlier_rows() {
        let mut gate = Gate::default();
        let mut settled = 0;
        for round in 0..1_000_i64 {
            // Two writers at a time, each there for two rounds.
            settled = gate.observe(round, set(&[&round.to_string(), &(round - 1).to_string()]));
            assert!(settled >= round - 3, "{round}: {settled}");
        }
        assert_eq!(settled, 997);
    }

    #[test]
    fn a_long_transaction_holds_up_and_memory_stays_bounded() {
        let mut gate = Gate::default();
        for round in 1..1_000 {
            assert_eq!(gate.observe(round, set(&["long"])), 0);
        }
        assert!(gate.waiting.len() <= MOST);
        assert_eq!(gate.observe(1_000, set(&[])), gate.observe(1_000, set(&[])));
        assert_eq!(gate.observe(1_000, set(&[])), 1_000);
    }
}
