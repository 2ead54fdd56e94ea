//! Which jobs are read, and in which order: one declaration for all stores.
pub mod sql;

use ojs_model::JobState;

use crate::kernel::holds::Holds;
use crate::kernel::job::Line;
use crate::store::record::{Cell, Kind, Param};
use crate::store::rows::{DeadFilter, JobFilter};
use crate::store::texts::Texts;

/// Which jobs to read, and in which order.
#[derive(Debug, Clone, Copy)]
pub enum Selection<'a> {
    /// Scheduled jobs whose time has come, earliest first.
    Scheduled {
        /// The time.
        by: i64,
    },
    /// Retryable jobs whose time has come, earliest first.
    Retryable {
        /// The time.
        by: i64,
    },
    /// Active jobs whose next deadline has passed, earliest first.
    Overdue {
        /// The time.
        by: i64,
    },
    /// Jobs in any state whose `expires_at` has passed.
    Expired {
        /// The time.
        by: i64,
    },
    /// Active jobs of a worker.
    HeldBy {
        /// Number of the worker.
        worker: i64,
    },
    /// All jobs with a larger number, in order.
    Above {
        /// The number.
        seq: i64,
    },
    /// Available jobs of a queue in the order of their arrival. Priorities do not count.
    Oldest {
        /// Number of the queue.
        queue: i64,
    },
    /// Available jobs of a queue that nothing holds and that come before a place in its line.
    Before {
        /// Number of the queue.
        queue: i64,
        /// The rank of the place, see [`JobRow::rank`](crate::kernel::job::JobRow::rank).
        rank: i32,
        /// The ticket of the place.
        sort_key: i64,
    },
    /// Jobs of a queue in one state.
    In {
        /// Number of the queue.
        queue: i64,
        /// The state.
        state: JobState,
    },
    /// Available jobs of a tenant in a queue that exactly one set of reasons holds, best first.
    OfTenant {
        /// Number of the tenant.
        tenant: i64,
        /// Number of the queue.
        queue: i64,
        /// What holds them.
        holds: Holds,
    },
    /// Available jobs of a queue that exactly one set of reasons holds, best first.
    OfSet {
        /// Number of the queue.
        queue: i64,
        /// What holds them.
        holds: Holds,
    },
    /// Active jobs of a key with limits.
    Running {
        /// Number of the key.
        key: i64,
    },
    /// Available jobs of a key with limits, held or not.
    Waiting {
        /// Number of the key.
        key: i64,
    },
    /// Jobs of a key in a line that nothing holds, the last first.
    Heads {
        /// Number of the key.
        key: i64,
        /// The line.
        line: Line,
    },
    /// Jobs of a key in a line that the limit alone holds, best first.
    Parked {
        /// Number of the key.
        key: i64,
        /// The line.
        line: Line,
    },
    /// A page of jobs in the order that the filter asks for.
    Listed(&'a JobFilter),
    /// A page of dead letters, newest first.
    Dead(&'a DeadFilter),
    /// Dead letters of all tenants, oldest first.
    OldestDead,
}

const fn integer(number: i64) -> Param<'static> {
    Param { kind: Kind::Integer, cell: Cell::Integer(number) }
}

fn optional(number: Option<i64>) -> Param<'static> {
    Param { kind: Kind::Integer, cell: number.map_or(Cell::Null, Cell::Integer) }
}

fn text(text: Option<&str>) -> Param<'_> {
    Param { kind: Kind::Text, cell: text.map_or(Cell::Null, Cell::text) }
}

fn number(n: usize) -> Param<'static> {
    integer(i64::try_from(n).unwrap_or(i64::MAX))
}

/// Jobs of a key in a line that exactly this set of reasons holds.
fn of_key(key: i64, line: Line, holds: Holds, limit: Param<'static>) -> Vec<Param<'static>> {
    let (from, to) = holds.ranks();
    let Line { queue, job_type_id, version, .. } = line;
    let mut params: Vec<_> = [key, queue, from.into(), to.into(), version, job_type_id].into_iter().map(integer).collect();
    params.push(limit);
    params
}

impl<'a> Selection<'a> {
    /// Name of the queue that a filter asks for.
    #[must_use]
    pub fn queue_name(&self) -> Option<&'a str> {
        match *self {
            Self::Listed(filter) => filter.queue.as_deref(),
            Self::Dead(filter) => filter.queue.as_deref(),
            _ => None,
        }
    }

    /// The values that the statement is bound to in both SQL stores; `queue` is the number of the queue that a filter
    /// names.
    #[must_use]
    pub fn params(&self, queue: Option<i64>, limit: usize) -> Vec<Param<'a>> {
        let limit = number(limit);
        match *self {
            Self::Scheduled { by: one }
            | Self::Retryable { by: one }
            | Self::Overdue { by: one }
            | Self::Expired { by: one }
            | Self::HeldBy { worker: one }
            | Self::Above { seq: one }
            | Self::Oldest { queue: one }
            | Self::Running { key: one }
            | Self::Waiting { key: one } => vec![integer(one), limit],
            Self::OldestDead => vec![limit],
            Self::Before { queue, rank, sort_key } => {
                vec![integer(queue), integer(rank.into()), integer(sort_key), limit]
            }
            Self::In { queue, state } => vec![integer(queue), integer(state as i64), limit],
            Self::Heads { key, line } => of_key(key, line, line.holds(), limit),
            Self::Parked { key, line } => of_key(key, line, line.holds().with(Holds::LIMIT), limit),
            Self::OfTenant { tenant, queue, holds } => {
                let (from, to) = holds.ranks();
                vec![integer(tenant), integer(queue), integer(from.into()), integer(to.into()), limit]
            }
            Self::OfSet { queue, holds } => {
                let (from, to) = holds.ranks();
                vec![integer(queue), integer(from.into()), integer(to.into()), limit]
            }
            Self::Listed(filter) => vec![
                optional(queue),
                text(filter.job_type.as_deref()),
                optional(filter.since),
                optional(filter.until),
                limit,
                number(filter.offset),
                integer(filter.behind.map_or(filter.after, |place| place.seq)),
                optional(filter.tenant),
            ]
            .into_iter()
            .chain(filter.behind.map(|place| integer(place.key)))
            .chain((filter.look > 0).then(|| number(filter.look)))
            .collect(),
            Self::Dead(filter) => vec![
                optional(queue),
                text(filter.job_type.as_deref()),
                optional(filter.since),
                optional(filter.until),
                text(filter.error_type.as_deref()),
                limit,
                number(filter.offset),
                optional(filter.tenant),
                // Without a place, one before the newest.
                integer(filter.behind.map_or(i64::MAX, |place| place.key)),
                integer(filter.behind.map_or(i64::MAX, |place| place.seq)),
            ]
            .into_iter()
            .chain((filter.look > 0).then(|| number(filter.look)))
            .collect(),
        }
    }
}

/// The statement that counts what another one selects, bound to the same values. The other one has the form
/// `SELECT … FROM … LIMIT …`.
#[must_use]
pub fn counting(select: &str) -> String {
    let text = select.split_whitespace().collect::<Vec<_>>().join(" ");
    let from = text.split_once(" FROM ").map_or("", |(_, from)| from);
    let (body, limit) = from.rsplit_once(" LIMIT ").unwrap_or((from, ""));
    let limit = limit.split(" FOR UPDATE").next().unwrap_or(limit);
    let body = body.rsplit_once(" ORDER BY ").map_or(body, |(body, _)| body);
    format!("SELECT count(*) FROM (SELECT 1 FROM {body} LIMIT {limit}) AS found")
}

/// The same for a statement that is a constant: made once, so that it is prepared once per connection.
#[must_use]
pub fn counting_once(select: &'static str) -> &'static str {
    static TEXTS: Texts<&'static str> = Texts::new();
    TEXTS.get(select, || counting(select))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_has_the_conditions_of_its_list_and_no_order() {
        let select = "SELECT a, b\nFROM jobs WHERE a = ?1 AND (?2 IS NULL OR b IN (SELECT num FROM kinds))\nORDER BY a DESC LIMIT ?3 OFFSET ?4 FOR UPDATE";
        let wanted = "SELECT count(*) FROM (SELECT 1 FROM jobs WHERE a = ?1 AND (?2 IS NULL OR b IN (SELECT num FROM kinds)) \
                      LIMIT ?3 OFFSET ?4) AS found";
        assert_eq!(counting(select), wanted);
        assert_eq!(counting_once("SELECT a FROM t LIMIT $1"), "SELECT count(*) FROM (SELECT 1 FROM t LIMIT $1) AS found");
    }
}
