//! Why an available job is not handed out: a set of reasons, so that a limit and a train can hold the same job.
//!
//! Each reason is one bit, declared below and set and removed by one feature. A job is handed out only when the set is
//! empty, so a reason that is removed leaves the job held by the others.
//!
//! Stores keep the set in the rank of a job, `1000 × bits − priority`. Jobs without a reason come first in the line of
//! their queue (their ranks are below [`FREE_BELOW`]), and claims read only these. Unknown bits of a later version are
//! kept, so the job waits until a program that knows them removes them.
use std::fmt;

/// What one bit adds to the rank: more than the distance between the smallest and the largest priority (−100 and 100).
const STEP: i32 = 1_000;
/// Ranks of jobs without a reason are below this, all others at or above it. The SQL of the stores has 500.
pub const FREE_BELOW: i32 = STEP / 2;

/// A set of reasons.
///
/// A new reason is one constant and one line of [`NAMED`](Self::NAMED). The column `nprio` of PostgreSQL is a
/// `smallint`, which has room for the five bits below: a sixth needs a migration to `integer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Holds(u16);

impl Holds {
    /// Nothing holds the job.
    pub const NONE: Self = Self(0);
    /// The job's key is full (`features/limits`).
    pub const LIMIT: Self = Self(1);
    /// Reserved: jobs that wait for others of their train are pending instead (decision 38).
    pub const TRAIN: Self = Self(1 << 1);
    /// The job's tenant has reached a limit, or is suspended (`features/tenants`).
    pub const TENANT: Self = Self(1 << 2);
    /// The queue of the job is shared (`features/fair`), so claims find the job by its key, not in the order of the
    /// queue. All available jobs of shared queues have this bit. It alone does not keep a job from running.
    pub const FAIR_SHARE: Self = Self(1 << 3);
    /// The job has a version (`features/versions`): claims find it by its version, not in the order of its
    /// queue. Every available job with a version has this bit; alone it does not hold the job.
    pub const VERSION: Self = Self(1 << 4);

    /// The sets of jobs that a claim may hand out: nothing keeps these from running, wherever they stand.
    pub const FREE: [Self; 4] = [Self::NONE, Self::FAIR_SHARE, Self::VERSION, Self::FAIR_SHARE.with(Self::VERSION)];

    /// Each reason with its name.
    pub const NAMED: [(Self, &'static str); 5] = [
        (Self::LIMIT, "limit"),
        (Self::TRAIN, "train"),
        (Self::TENANT, "tenant"),
        (Self::FAIR_SHARE, "fair_share"),
        (Self::VERSION, "version"),
    ];

    /// Whether nothing holds the job.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of these reasons are in the set.
    #[must_use]
    pub const fn contains(self, reasons: Self) -> bool {
        self.0 & reasons.0 == reasons.0
    }

    /// The set with these reasons.
    #[must_use]
    pub const fn with(self, reasons: Self) -> Self {
        Self(self.0 | reasons.0)
    }

    /// The set without these reasons.
    #[must_use]
    pub const fn without(self, reasons: Self) -> Self {
        Self(self.0 & !reasons.0)
    }

    /// The rank of a job with this set and this priority.
    #[must_use]
    pub const fn rank(self, priority: i32) -> i32 {
        self.0 as i32 * STEP - priority
    }

    /// The set and the priority that a rank was made of.
    #[must_use]
    pub fn of_rank(rank: i32) -> (Self, i32) {
        // An impossible rank counts as one without a reason, so that its job is handed out at least.
        let bits = u16::try_from((rank + FREE_BELOW).div_euclid(STEP)).unwrap_or(0);
        (Self(bits), i32::from(bits) * STEP - rank)
    }

    /// The ranks of the jobs that exactly this set holds: from the first, up to and without the second.
    #[must_use]
    pub const fn ranks(self) -> (i32, i32) {
        let middle = self.0 as i32 * STEP;
        (middle - FREE_BELOW, middle + FREE_BELOW)
    }
}

impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = *self;
        let mut names = Vec::new();
        for (reason, name) in Self::NAMED.into_iter().filter(|(reason, _)| self.contains(*reason)) {
            names.push(name.to_owned());
            rest = rest.without(reason);
        }
        if !rest.is_empty() {
            names.push(format!("unknown ({})", rest.0));
        }
        f.write_str(&names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_tells_set_and_priority() {
        for bits in 0..32 {
            for priority in [-100, -1, 0, 1, 100] {
                let holds = Holds(bits);
                let rank = holds.rank(priority);
                assert!(i16::try_from(rank).is_ok(), "the column of PostgreSQL is a smallint: {rank}");
                assert_eq!(Holds::of_rank(rank), (holds, priority));
                let (from, to) = holds.ranks();
                assert!((from..to).contains(&rank));
                assert_eq!(rank < FREE_BELOW, holds.is_empty());
            }
        }
        assert_eq!(Holds::of_rank(Holds(512).rank(7)), (Holds(512), 7), "a bit that this version does not know");
    }

    #[test]
    fn a_set_is_shown_by_the_names_of_its_reasons() {
        assert_eq!(Holds::LIMIT.with(Holds::VERSION).to_string(), "limit, version");
        assert_eq!(Holds(32).with(Holds::TRAIN).to_string(), "train, unknown (32)");
        assert_eq!(Holds::NONE.to_string(), "");
    }
}
