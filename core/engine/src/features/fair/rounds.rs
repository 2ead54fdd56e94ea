//! Whose turn it is: the keys of a queue are served in the order of their numbers, round after round, each as often in
//! a round as its weight says (deficit round robin with jobs of one size).
//!
//! A process keeps in memory where each round stands; nothing of it is stored. After a start every round begins anew,
//! and several nodes each keep the proportions of what they hand out. A claim that can take some jobs only has a round
//! of its own: it must not pass over the turns of keys that it cannot serve.
use foldhash::HashMap;

/// Rounds that a process remembers. Beyond that all begin anew.
const MAX_ROUNDS: usize = 10_000;

/// A round: of the jobs of one priority in a queue, and of claims that can take the same jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Round {
    /// Number of the queue.
    pub(crate) queue: i64,
    /// The priority.
    pub(crate) priority: i32,
    /// Which jobs the claims can take; 0 for all.
    pub(crate) filter: u64,
}

/// Where a round stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Position {
    /// The key that was served last; 0 at the beginning.
    pub(crate) key: i64,
    /// How often it may be served again before the next one comes.
    pub(crate) left: i64,
}

/// Where all rounds of a process stand.
#[derive(Debug, Default)]
pub(crate) struct Rounds(HashMap<Round, Position>);

impl Rounds {
    /// Where a round stands.
    pub(crate) fn of(&self, round: Round) -> Position {
        self.0.get(&round).copied().unwrap_or_default()
    }

    /// A round has gone on.
    pub(crate) fn set(&mut self, round: Round, position: Position) {
        if self.0.len() >= MAX_ROUNDS && !self.0.contains_key(&round) {
            self.0.clear();
        }
        self.0.insert(round, position);
    }

    /// All begin anew.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Which key is served, and how often it may be served again in this turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pick {
    /// Its place in the list of keys.
    pub(crate) place: usize,
    /// What is left of its turn then.
    pub(crate) left: i64,
}

/// Divides `wanted` jobs among keys with these weights, in their order. `first` is what is left of the turn of the
/// first of them, 0 for a whole turn. When the list is a whole round, it is gone through again and again.
pub(crate) fn divide(weights: &[i64], first: i64, is_whole: bool, wanted: usize) -> Vec<Pick> {
    let mut picks = Vec::with_capacity(wanted);
    let mut first = (first > 0).then_some(first);
    while picks.len() < wanted && !weights.is_empty() {
        for (place, weight) in weights.iter().enumerate() {
            let turn = first.take().unwrap_or(*weight).max(1);
            picks.extend((0..turn).rev().take(wanted - picks.len()).map(|left| Pick { place, left }));
        }
        if !is_whole {
            break;
        }
    }
    picks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(picks: &[Pick]) -> Vec<usize> {
        picks.iter().map(|pick| pick.place).collect()
    }

    #[test]
    fn a_round_serves_each_key_as_often_as_its_weight_says() {
        assert_eq!(places(&divide(&[1, 2, 4], 0, true, 9)), [0, 1, 1, 2, 2, 2, 2, 0, 1]);
        assert_eq!(places(&divide(&[1, 2, 4], 0, false, 9)), [0, 1, 1, 2, 2, 2, 2], "one pass over a part of a round");
        assert_eq!(divide(&[], 0, true, 3), []);
    }

    #[test]
    fn a_turn_that_was_interrupted_goes_on() {
        let picks = divide(&[4, 1], 0, true, 2);
        assert_eq!(picks.last(), Some(&Pick { place: 0, left: 2 }));
        assert_eq!(places(&divide(&[4, 1], 2, true, 4)), [0, 0, 1, 0]);
    }

    #[test]
    fn rounds_begin_anew_when_there_are_too_many() {
        let round = |queue| Round { queue, priority: 0, filter: 0 };
        let mut rounds = Rounds::default();
        (0..).take(MAX_ROUNDS).for_each(|queue| rounds.set(round(queue), Position { key: 5, left: 0 }));
        assert_eq!(rounds.of(round(7)).key, 5);
        rounds.set(round(-1), Position { key: 6, left: 1 });
        assert_eq!((rounds.of(round(7)), rounds.of(round(-1)).key), (Position::default(), 6));
    }
}
