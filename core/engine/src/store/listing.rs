//! Lists of jobs: where the next page begins, and how many rows one page reads.
//!
//! A page begins after the last job of the page before, found by an index, not at the n-th row: page 10,000 costs what
//! page 1 does. A list whose filter has no index examines a bounded number of rows; the next page
//! continues where the bound ended this one.
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use ojs_model::JobState;

use crate::kernel::job::JobRow;
use crate::store::rows::{JobFilter, JobSort};

/// Most rows that one page of a list with cursors examines.
pub const STEP: usize = 5_000;
/// Most rows that a count examines, and a numbered page at a time.
pub const LOOK: usize = 20_000;
/// Up to so many jobs of a state, reading and sorting all of them is cheaper than looking for them among the finished ones.
pub const FEW: i64 = 20_000;
/// Most rows that a numbered page may skip.
pub const MAX_OFFSET: usize = 10_000;

/// The place of a job in a list: the value that the list is sorted by, and the number of the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ListPlace {
    /// Time or rank; 0 where the numbers of jobs are the order.
    pub key: i64,
    /// Number of the job.
    pub seq: i64,
}

impl ListPlace {
    /// The place of a job in a list of this order.
    #[must_use]
    pub fn of(row: &JobRow, filter: &JobFilter) -> Self {
        let key = match filter.sort {
            JobSort::Created => 0,
            JobSort::Priority => i64::from(row.rank()),
            JobSort::Scheduled if filter.state.is_none() && row.state == JobState::Available => row.enqueued_at,
            JobSort::Scheduled => row.sort_key,
        };
        Self { key, seq: row.seq }
    }

    /// The order of two places in a list.
    #[must_use]
    pub fn compare(self, other: Self, filter: &JobFilter) -> Ordering {
        let (own, others) = ((self.key, self.seq), (other.key, other.seq));
        match (filter.sort, filter.ascending) {
            (JobSort::Created, true) => self.seq.cmp(&other.seq),
            (JobSort::Created, false) => other.seq.cmp(&self.seq),
            // The rank is minus the priority.
            (JobSort::Scheduled, true) | (JobSort::Priority, false) => own.cmp(&others),
            (JobSort::Scheduled, false) => others.cmp(&own),
            (JobSort::Priority, true) => other.key.cmp(&self.key).then(self.seq.cmp(&other.seq)),
        }
    }

    /// Whether a job at another place comes after this one.
    #[must_use]
    pub fn is_before(self, other: Self, filter: &JobFilter) -> bool {
        self.compare(other, filter).is_lt()
    }
}

/// As a cursor.
impl fmt::Display for ListPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k{}.{}", self.key, self.seq)
    }
}

/// The text is no cursor of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoCursor;

impl FromStr for ListPlace {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let (key, seq) = text.strip_prefix('k').and_then(|rest| rest.split_once('.')).ok_or(NoCursor)?;
        let number = |text: &str| text.parse::<i64>().map_err(|_| NoCursor);
        Ok(Self { key: number(key)?, seq: number(seq)? })
    }
}

/// How a store writes the placeholders of its statements.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// Before the number of a value.
    pub sign: &'static str,
    /// After the number of a value that is a whole number.
    pub integer: &'static str,
}

/// The conditions of a list: those that an index answers, and those that are checked row by row.
#[derive(Debug)]
pub struct Walk<'a> {
    /// The table, with the index that is walked.
    pub from: &'a str,
    /// Conditions of the index.
    pub known: String,
    /// Conditions that every row is compared with, beside those of the filter.
    pub compared: String,
}

impl JobFilter {
    /// Whether the query must examine rows that are not part of the list.
    #[must_use]
    pub fn is_narrow(&self, compares_state: bool) -> bool {
        compares_state || self.queue.is_some() || self.job_type.is_some() || self.since.is_some() || self.until.is_some()
    }

    /// The condition of jobs after [`JobFilter::behind`], in the column names that the SQL stores share.
    fn behind_text(&self, dialect: Dialect) -> String {
        let Dialect { sign, integer } = dialect;
        let seq = format!("{sign}7{integer}");
        if self.behind.is_none() {
            return format!("seq > {seq}");
        }
        let key = format!("{sign}9{integer}");
        let time = if self.state.is_none() { "CASE state WHEN 1 THEN enqueued_at ELSE pos END" } else { "pos" };
        match (self.sort, self.ascending) {
            (JobSort::Created, true) => format!("seq > {seq} AND {key} = {key}"),
            (JobSort::Created, false) => format!("seq < {seq} AND {key} = {key}"),
            (JobSort::Scheduled, true) => format!("({time}, seq) > ({key}, {seq})"),
            (JobSort::Scheduled, false) => format!("({time}, seq) < ({key}, {seq})"),
            (JobSort::Priority, false) => format!("(nprio, seq) > ({key}, {seq})"),
            (JobSort::Priority, true) => format!("nprio <= {key} AND (nprio < {key} OR seq > {seq})"),
        }
    }

    /// The statement of the list. `sql` is that of all jobs:
    /// `SELECT … FROM TABLE WHERE TRUE AND … AND seq > ?7 ORDER BY seq DESC LIMIT ?5 OFFSET ?6`.
    #[must_use]
    pub fn statement(&self, sql: &str, table: &str, walk: &Walk<'_>, dialect: Dialect) -> String {
        let Dialect { sign, integer } = dialect;
        let Walk { from, known, compared } = walk;
        let behind = self.behind_text(dialect);
        let (plain, from_plain, order) = (format!("seq > {sign}7"), format!("FROM {table}"), self.order());
        let narrow = self.is_narrow(compared != "TRUE");
        // The number of the last value, see `Selection::params`.
        let look = format!("{sign}{}{integer}", if self.behind.is_some() { 10 } else { 9 });
        if self.look == 0 || !narrow {
            let bound = if self.look == 0 { behind } else { format!("{behind} AND {look} > 0") };
            let sql = sql.replace(&plain, &bound).replace(&from_plain, &format!("FROM {from}"));
            return sql.replace("WHERE TRUE", &format!("WHERE {known} AND {compared}")).replace("seq DESC", order);
        }
        let window = format!("FROM (SELECT * FROM {from} WHERE {known} AND {behind} ORDER BY {order} LIMIT {look}) AS {table}");
        let (head, rest) = sql.split_once("WHERE TRUE AND ").unwrap_or((sql, ""));
        let (conditions, tail) = rest.rsplit_once("ORDER BY").unwrap_or((rest, ""));
        let conditions = conditions.replace(&format!("AND {plain}"), "");
        let all = if self.whole_look { " OR TRUE" } else { "" };
        let head = head.replace(&from_plain, &window);
        format!("{head}WHERE ({compared} AND {}){all} ORDER BY{}", conditions.trim_end(), tail.replace("seq DESC", order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQL: &str =
        "SELECT a FROM jobs\nWHERE TRUE AND (?1 IS NULL OR queue = ?1)\n  AND seq > ?7\nORDER BY seq DESC LIMIT ?5 OFFSET ?6";
    const SQLITE: Dialect = Dialect { sign: "?", integer: "" };

    fn text(filter: &JobFilter) -> String {
        let walk = Walk { from: "jobs NOT INDEXED", known: "TRUE".to_owned(), compared: "state = 4".to_owned() };
        filter.statement(SQL, "jobs", &walk, SQLITE).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_narrow_list_looks_at_a_window_of_the_index() {
        let behind = Some(ListPlace { key: 0, seq: 9 });
        let filter = JobFilter { look: 5_000, behind, ..JobFilter::default() };
        let window = "SELECT a FROM (SELECT * FROM jobs NOT INDEXED WHERE TRUE AND seq < ?7 AND ?9 = ?9 ORDER BY seq DESC LIMIT ?10) \
                      AS jobs WHERE (state = 4 AND (?1 IS NULL OR queue = ?1))";
        assert_eq!(text(&filter), format!("{window} ORDER BY seq DESC LIMIT ?5 OFFSET ?6"));
        let whole = JobFilter { whole_look: true, ..filter };
        assert_eq!(text(&whole), format!("{window} OR TRUE ORDER BY seq DESC LIMIT ?5 OFFSET ?6"));
    }

    #[test]
    fn a_walk_without_a_bound_is_the_plain_statement() {
        let filter = JobFilter { ascending: true, after: 7, ..JobFilter::default() };
        let plain = "SELECT a FROM jobs NOT INDEXED WHERE TRUE AND state = 4 AND (?1 IS NULL OR queue = ?1) AND seq > ?7 ORDER BY \
                     seq LIMIT ?5 OFFSET ?6";
        assert_eq!(text(&filter), plain);
    }

    #[test]
    fn cursors_are_read_as_they_were_written() {
        for place in [ListPlace { key: 0, seq: 12 }, ListPlace { key: -3, seq: i64::MAX }] {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for wrong in ["", "12", "k", "k1", "k1.", "k.1", "k1.x", "K1.2"] {
            assert_eq!(wrong.parse::<ListPlace>(), Err(NoCursor), "{wrong}");
        }
    }
}
