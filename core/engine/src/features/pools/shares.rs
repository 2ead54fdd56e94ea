//! Which queue of a pool gives the next job.
//!
//! Each queue has a mark that moves on by one step for every job it gives; the larger its weight, the smaller the step.
//! The queue whose mark is furthest behind comes next, so queues give jobs in proportion to their weights,
//! for claims of any size. A queue that had no jobs for a while starts again where the others are: it gains nothing by
//! waiting. A process keeps the marks in memory, so several nodes each keep the proportions of what they hand out.
use foldhash::HashMap;

use crate::features::pools::records::{Pool, Strategy};

/// The step of a queue of weight 1. Weights go up to a million, so that every step is a thousand at least.
const STEP: u64 = 1_000_000_000;
/// Of how many parts [`least_share`](crate::features::pools::records::PoolRow::least_share) is a share.
pub(crate) const WHOLE: i64 = 1_000_000;

/// Pause between two events that say that a pool is full.
const QUIET_MS: i64 = 60_000;

/// The shares of all pools, by name of the pool.
pub(crate) type AllShares = HashMap<String, Shares>;

/// What the queues of one pool have given.
#[derive(Debug, Default, Clone)]
pub(crate) struct Shares {
    /// By name of the queue.
    marks: HashMap<String, Mark>,
    /// The furthest that the mark of a queue was when it was the one furthest behind.
    floor: u64,
    /// When the current period of the guaranteed share began, milliseconds.
    since: i64,
    /// Jobs given since then.
    given: i64,
    /// Queues that only the guarantee has served, of which no event was sent yet.
    starved: Vec<String>,
    /// Until when no other event says that the pool is full, milliseconds.
    quiet_until: i64,
}

/// What one queue has given.
#[derive(Debug, Default, Clone, Copy)]
struct Mark {
    /// Its mark.
    at: u64,
    /// Jobs given in the current period.
    given: i64,
    /// The guarantee has served it in the current period.
    was_starved: bool,
}

/// A queue in one claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    /// Its name.
    pub(crate) queue: String,
    /// Its weight.
    pub(crate) weight: i64,
    /// Jobs that wait in it; only `least-loaded` asks.
    pub(crate) waiting: i64,
    /// Whether it may have more jobs.
    pub(crate) is_open: bool,
}

/// The bounds of one look at a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    strategy: Strategy,
    rotation_ms: i64,
    least_share: i64,
}

impl Terms {
    pub(crate) fn of(pool: &Pool) -> Self {
        let row = &pool.row;
        Self { strategy: row.strategy, rotation_ms: row.rotation_ms, least_share: row.least_share }
    }
}

impl Shares {
    /// How many of `count` jobs each source is asked for, in the order of the sources.
    pub(crate) fn plan(&mut self, terms: Terms, sources: &[Source], count: usize, now: i64) -> Vec<usize> {
        if terms.rotation_ms > 0 && now.saturating_sub(self.since) >= terms.rotation_ms {
            (self.since, self.given) = (now, 0);
            self.marks.values_mut().for_each(|mark| (mark.given, mark.was_starved) = (0, false));
        }
        let mut planned = vec![0_usize; sources.len()];
        for picked in 0..count {
            let Some(mut next) = self.next(terms, sources, &planned) else { break };
            if let Some(due) = self.due(terms, sources, &planned, picked).filter(|due| *due != next) {
                self.note_starved(sources.get(due));
                next = due;
            }
            if let Some(planned) = planned.get_mut(next) {
                *planned += 1;
            }
        }
        planned
    }

    /// The source that has had less than its guaranteed share, if there is one.
    fn due(&self, terms: Terms, sources: &[Source], planned: &[usize], picked: usize) -> Option<usize> {
        if terms.rotation_ms == 0 {
            return None;
        }
        let given = |source: &Source, planned: usize| {
            let before = self.marks.get(&source.queue).map_or(0, |mark| mark.given);
            before.saturating_add(i64::try_from(planned).unwrap_or(i64::MAX))
        };
        // As many jobs ahead as there are sources: several may be due at the same job.
        let ahead = i64::try_from(picked.saturating_add(sources.len())).unwrap_or(i64::MAX);
        let all = self.given.saturating_add(ahead);
        let due = all.saturating_mul(terms.least_share) / WHOLE;
        let open = sources.iter().zip(planned).enumerate().filter(|(_, (source, _))| source.is_open);
        let starved = open.map(|(at, (source, planned))| (given(source, *planned), at)).filter(|(given, _)| *given < due);
        starved.min().map(|(_, at)| at)
    }

    /// Notes that the guarantee serves a queue which the strategy would not; once in a period.
    fn note_starved(&mut self, source: Option<&Source>) {
        let Some(source) = source else { return };
        let floor = self.floor;
        let mark = self.marks.entry(source.queue.clone()).or_insert(Mark { at: floor, ..Mark::default() });
        if !std::mem::replace(&mut mark.was_starved, true) {
            self.starved.push(source.queue.clone());
        }
    }

    /// Queues that only the guarantee has served since the last call.
    pub(crate) fn take_starved(&mut self) -> Vec<String> {
        std::mem::take(&mut self.starved)
    }

    /// Whether an event should say now that the pool is full; true once in a while.
    pub(crate) fn tells_overload(&mut self, now: i64) -> bool {
        let tells = now >= self.quiet_until;
        if tells {
            self.quiet_until = now.saturating_add(QUIET_MS);
        }
        tells
    }

    /// The source of the next job by the strategy.
    fn next(&self, terms: Terms, sources: &[Source], planned: &[usize]) -> Option<usize> {
        let open = || sources.iter().zip(planned).enumerate().filter(|(_, (source, _))| source.is_open);
        match terms.strategy {
            Strategy::Strict => open().map(|(at, _)| at).next(),
            Strategy::LeastLoaded => {
                let left = |source: &Source, planned: usize| source.waiting - i64::try_from(planned).unwrap_or(i64::MAX);
                open().min_by_key(|(at, (source, planned))| (-left(source, **planned), *at)).map(|(at, _)| at)
            }
            Strategy::RoundRobin | Strategy::Weighted => {
                let mark = |source: &Source, planned: usize| {
                    let steps = step(terms.strategy, source).saturating_mul(planned as u64);
                    self.mark(source).saturating_add(steps)
                };
                open().min_by_key(|(at, (source, planned))| (mark(source, **planned), *at)).map(|(at, _)| at)
            }
        }
    }

    /// Where a queue is. One that has waited is where the others are.
    fn mark(&self, source: &Source) -> u64 {
        self.marks.get(&source.queue).map_or(0, |mark| mark.at).max(self.floor)
    }

    /// A source has given jobs.
    pub(crate) fn gave(&mut self, terms: Terms, source: &Source, jobs: usize) {
        if jobs == 0 {
            return;
        }
        let count = i64::try_from(jobs).unwrap_or(i64::MAX);
        let at = self.mark(source).saturating_add(step(terms.strategy, source).saturating_mul(jobs as u64));
        let mark = self.marks.entry(source.queue.clone()).or_default();
        (mark.at, mark.given) = (at, mark.given.saturating_add(count));
        self.given = self.given.saturating_add(count);
    }

    /// The end of a claim: the queues that may have more jobs say where a queue that comes back starts.
    pub(crate) fn settle(&mut self, sources: &[Source]) {
        let open = sources.iter().filter(|source| source.is_open).map(|source| self.mark(source)).min();
        self.floor = self.floor.max(open.unwrap_or(0));
    }
}

/// How far the mark of a queue moves for one job.
fn step(strategy: Strategy, source: &Source) -> u64 {
    let weight = if strategy == Strategy::Weighted { source.weight } else { 1 };
    STEP / u64::try_from(weight).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(weights: &[i64]) -> Vec<Source> {
        let source = |(at, weight): (usize, &i64)| Source { queue: format!("q{at}"), weight: *weight, waiting: 0, is_open: true };
        weights.iter().enumerate().map(source).collect()
    }

    fn terms(strategy: Strategy) -> Terms {
        Terms { strategy, rotation_ms: 0, least_share: 0 }
    }

    /// What each queue gives when all have jobs without end, claimed so many at a time.
    fn given(terms: Terms, sources: &[Source], claims: usize, count: usize) -> Vec<usize> {
        let mut shares = Shares::default();
        let mut given = vec![0; sources.len()];
        for _ in 0..claims {
            let plan = shares.plan(terms, sources, count, 0);
            for (at, jobs) in plan.into_iter().enumerate() {
                shares.gave(terms, &sources[at], jobs);
                given[at] += jobs;
            }
            shares.settle(sources);
        }
        given
    }

    #[test]
    fn weights_are_kept_exactly_whatever_the_size_of_the_claims() {
        let sources = sources(&[1, 2, 4]);
        for (claims, count) in [(7_000, 1), (1_000, 7), (700, 10), (70, 100), (7, 1_000)] {
            let given = given(terms(Strategy::Weighted), &sources, claims, count);
            let close = |jobs: usize, wanted: usize| jobs.abs_diff(wanted) <= 2;
            assert!(close(given[0], 1_000) && close(given[1], 2_000) && close(given[2], 4_000), "{given:?}");
        }
    }

    #[test]
    fn round_robin_is_fair_and_strict_is_not() {
        let sources = sources(&[5, 1, 1]);
        assert_eq!(given(terms(Strategy::RoundRobin), &sources, 30, 1), [10, 10, 10]);
        assert_eq!(given(terms(Strategy::Strict), &sources, 30, 1), [30, 0, 0]);
        let guaranteed = Terms { rotation_ms: 30_000, least_share: 50_000, ..terms(Strategy::Strict) };
        assert_eq!(given(guaranteed, &sources, 1_000, 1), [900, 50, 50], "at least 5 % each");
    }

    #[test]
    fn a_queue_that_only_the_guarantee_serves_is_named_once_in_a_period() {
        let sources = sources(&[1, 1]);
        let terms = Terms { rotation_ms: 30_000, least_share: 50_000, ..terms(Strategy::Strict) };
        let mut shares = Shares::default();
        let mut named = Vec::new();
        for now in [0, 1, 40_000] {
            let plan = shares.plan(terms, &sources, 60, now);
            sources.iter().zip(plan).for_each(|(source, jobs)| shares.gave(terms, source, jobs));
            named.push(shares.take_starved());
        }
        assert_eq!(named, [vec!["q1".to_owned()], vec![], vec!["q1".to_owned()]]);
        assert!(shares.tells_overload(5) && !shares.tells_overload(6) && shares.tells_overload(5 + QUIET_MS));
    }

    #[test]
    fn a_queue_that_comes_back_gains_nothing_by_its_absence() {
        let terms = terms(Strategy::Weighted);
        let mut sources = sources(&[1, 1]);
        let mut shares = Shares::default();
        sources[1].is_open = false;
        for _ in 0..1_000 {
            let plan = shares.plan(terms, &sources, 1, 0);
            assert_eq!(plan, [1, 0]);
            shares.gave(terms, &sources[0], 1);
            shares.settle(&sources);
        }
        sources[1].is_open = true;
        assert_eq!(shares.plan(terms, &sources, 10, 0), [5, 5]);
    }

    #[test]
    fn the_deepest_queue_gives_first() {
        let mut sources = sources(&[1, 1, 1]);
        for (source, waiting) in sources.iter_mut().zip([3, 10, 5]) {
            source.waiting = waiting;
        }
        assert_eq!(Shares::default().plan(terms(Strategy::LeastLoaded), &sources, 5, 0), [0, 5, 0]);
        assert_eq!(Shares::default().plan(terms(Strategy::LeastLoaded), &sources, 9, 0), [0, 7, 2]);
    }
}
