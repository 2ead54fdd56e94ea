//! The statements of the selections that both SQL stores have: written once, with the names of each store.
use crate::kernel::job::JobRow;
use crate::store::record::text::Dialect;
use crate::store::row::{Row, Section};
use crate::store::rows::{DeadFilter, JobFilter};
use crate::store::selection::Selection;
use crate::store::texts::Texts;

/// A selection without its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants of Selection say it")]
pub enum Form {
    Scheduled,
    Retryable,
    Overdue,
    Expired,
    Above,
    Before,
    In,
    OfDefaultTenant,
    OfTenant,
    OfSet,
    Running,
    Waiting,
    Heads,
    Parked,
    OldestDead,
}

/// Where the statement of a selection comes from.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Both SQL stores have it.
    Shared(Form),
    /// Each store has its own, of [`Selection::HeldBy`].
    HeldBy,
    /// Each store has its own, of [`Selection::Oldest`].
    Oldest,
    /// It is made for the filter.
    Listed(&'a JobFilter),
    /// Each store has two: all dead letters, or as many as the filter looks at.
    Dead(&'a DeadFilter),
}

impl<'a> From<&Selection<'a>> for Source<'a> {
    fn from(wanted: &Selection<'a>) -> Self {
        Self::Shared(match *wanted {
            Selection::Scheduled { .. } => Form::Scheduled,
            Selection::Retryable { .. } => Form::Retryable,
            Selection::Overdue { .. } => Form::Overdue,
            Selection::Expired { .. } => Form::Expired,
            Selection::Above { .. } => Form::Above,
            Selection::Before { .. } => Form::Before,
            Selection::In { .. } => Form::In,
            Selection::OfTenant { tenant: 0, .. } => Form::OfDefaultTenant,
            Selection::OfTenant { .. } => Form::OfTenant,
            Selection::OfSet { .. } => Form::OfSet,
            Selection::Running { .. } => Form::Running,
            Selection::Waiting { .. } => Form::Waiting,
            Selection::Heads { .. } => Form::Heads,
            Selection::Parked { .. } => Form::Parked,
            Selection::OldestDead => Form::OldestDead,
            Selection::HeldBy { .. } => return Self::HeldBy,
            Selection::Oldest { .. } => return Self::Oldest,
            Selection::Listed(filter) => return Self::Listed(filter),
            Selection::Dead(filter) => return Self::Dead(filter),
        })
    }
}

impl Form {
    /// The statement in a dialect, bound to [`Selection::params`]. With `locks` it locks what it selects, where the
    /// dialect has locks of rows and the form decides by the rows that it reads.
    #[must_use]
    pub fn statement(self, dialect: Dialect, locks: bool) -> &'static str {
        static TEXTS: Texts<(Form, Dialect, bool)> = Texts::new();
        TEXTS.get((self, dialect, locks), || self.text(&Names::of(dialect), locks))
    }

    fn text(self, names: &Names, locks: bool) -> String {
        let Names { table, state, time, .. } = *names;
        let columns = JobRow::names(Section::is_any);
        let hint = self.index().map(|index| format!(" INDEXED BY {index}")).filter(|_| names.hints).unwrap_or_default();
        let order = match self {
            Self::Scheduled | Self::Retryable | Self::Overdue => time.to_owned(),
            Self::Expired => "expires_at".to_owned(),
            Self::Above => "seq".to_owned(),
            Self::Heads => format!("nprio DESC, {time} DESC"),
            Self::In | Self::Running | Self::Waiting => String::new(),
            Self::OldestDead => names.died_at.to_owned(),
            _ => format!("nprio, {time}"),
        };
        let order = if order.is_empty() { order } else { format!(" ORDER BY {order}") };
        let lock = match self.lock() {
            Some(lock) if names.locks && locks => lock,
            _ => "",
        };
        let (condition, limit) = (self.condition(names, state, time), names.value(self.values()));
        format!("SELECT {columns} FROM {table}{hint} WHERE {condition}{order} LIMIT {limit}{lock}")
    }

    fn condition(self, names: &Names, state: &str, time: &str) -> String {
        let [a, b, c, d, e, f] = [1, 2, 3, 4, 5, 6].map(|number| names.value(number));
        match self {
            Self::Scheduled => format!("{state} = 0 AND {time} <= {a}"),
            Self::Retryable => format!("{state} = 5 AND {time} <= {a}"),
            Self::Overdue => format!("{state} = 3 AND {time} <= {a}"),
            Self::Expired => format!("expires_at > 0 AND expires_at <= {a}"),
            Self::Above => format!("seq > {a}"),
            Self::Before => format!("{state} = 1 AND queue = {a} AND nprio <= {b} AND (nprio, {time}) < ({b}, {c})"),
            Self::In => format!("queue = {a} AND state = {b}"),
            Self::OfDefaultTenant => format!("{state} = 1 AND tenant = {a} AND queue = {b} AND nprio >= {c} AND nprio < {d}"),
            Self::OfTenant => {
                format!("tenant > 0 AND {state} = 1 AND tenant = {a} AND queue = {b} AND nprio >= {c} AND nprio < {d}")
            }
            Self::OfSet => format!("{state} = 1 AND queue = {a} AND nprio >= {b} AND nprio < {c}"),
            Self::Running => format!("limited > 0 AND {state} = 3 AND limited = {a}"),
            Self::Waiting => format!("limited > 0 AND {state} = 1 AND limited = {a}"),
            Self::Heads | Self::Parked => format!(
                "limited > 0 AND {state} = 1 AND limited = {a} AND queue = {b} AND nprio >= {c} AND nprio < {d} AND version = {e} \
                 AND ({e} = 0 OR kind = {f})"
            ),
            Self::OldestDead => names.is_dead.to_owned(),
        }
    }

    /// How many values it is bound to; the last is the limit.
    fn values(self) -> usize {
        match self {
            Self::OldestDead => 1,
            Self::In => 3,
            Self::Before | Self::OfSet => 4,
            Self::OfDefaultTenant | Self::OfTenant => 5,
            Self::Heads | Self::Parked => 7,
            _ => 2,
        }
    }

    /// The index that SQLite is told to use: it would read a larger one.
    fn index(self) -> Option<&'static str> {
        match self {
            Self::Before | Self::OfSet => Some("jobs_ready"),
            Self::OfTenant => Some("jobs_tenant_ready"),
            Self::Heads | Self::Parked => Some("jobs_limited"),
            _ => None,
        }
    }

    /// How PostgreSQL locks the rows. `None` where what becomes of them is decided by a later read.
    fn lock(self) -> Option<&'static str> {
        match self {
            Self::In | Self::Parked => Some(" FOR UPDATE"),
            Self::Scheduled | Self::Retryable | Self::Overdue | Self::Expired => Some(" FOR UPDATE SKIP LOCKED"),
            Self::OfDefaultTenant | Self::OfTenant | Self::OfSet => Some(" FOR UPDATE SKIP LOCKED"),
            _ => None,
        }
    }
}

/// What a store calls the parts of a statement.
struct Names {
    table: &'static str,
    /// Column of the state by which indexes find a job. PostgreSQL has one of its own for it, which moves of a job
    /// that no index is about leave as it is.
    state: &'static str,
    /// Column of the sort key.
    time: &'static str,
    /// Whether a job is a dead letter, as its partial index says it.
    is_dead: &'static str,
    /// When a dead letter was discarded.
    died_at: &'static str,
    sign: char,
    /// Whether statements name indexes.
    hints: bool,
    /// Whether statements lock rows.
    locks: bool,
}

impl Names {
    fn of(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Sqlite => Self {
                table: "jobs",
                state: "state",
                time: "pos",
                is_dead: "flags & 1",
                died_at: "finished_at",
                sign: '?',
                hints: true,
                locks: false,
            },
            Dialect::Postgres => Self {
                table: "ojs_runs",
                state: "place",
                time: "line",
                is_dead: "place = 7 AND flags & 1 = 1",
                died_at: "line",
                sign: '$',
                hints: false,
                locks: true,
            },
        }
    }

    fn value(&self, number: usize) -> String {
        format!("{}{number}", self.sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behind_columns(form: Form, dialect: Dialect, locks: bool) -> &'static str {
        form.statement(dialect, locks).split_once(" FROM ").map_or("", |(_, rest)| rest)
    }

    #[test]
    fn each_store_has_its_names_and_only_postgresql_locks() {
        let sqlite = "jobs INDEXED BY jobs_ready WHERE state = 1 AND queue = ?1 AND nprio >= ?2 AND nprio < ?3 ORDER BY nprio, pos \
                      LIMIT ?4";
        assert_eq!(behind_columns(Form::OfSet, Dialect::Sqlite, true), sqlite);
        let postgres = "ojs_runs WHERE place = 1 AND queue = $1 AND nprio >= $2 AND nprio < $3 ORDER BY nprio, line LIMIT $4";
        assert_eq!(behind_columns(Form::OfSet, Dialect::Postgres, false), postgres);
        assert_eq!(behind_columns(Form::OfSet, Dialect::Postgres, true), format!("{postgres} FOR UPDATE SKIP LOCKED"));
        let running = "ojs_runs WHERE limited > 0 AND place = 3 AND limited = $1 LIMIT $2";
        assert_eq!(behind_columns(Form::Running, Dialect::Postgres, true), running);
    }

    #[test]
    fn a_statement_is_bound_to_the_values_of_its_selection() {
        let line = crate::kernel::job::Line { queue: 1, job_type_id: 2, version: 3, is_fair: false };
        for wanted in [
            Selection::Overdue { by: 1 },
            Selection::In { queue: 1, state: ojs_model::JobState::Active },
            Selection::Parked { key: 1, line },
            Selection::OldestDead,
        ] {
            let last = format!("?{}", wanted.params(None, 9).len());
            let Source::Shared(form) = Source::from(&wanted) else { panic!("{wanted:?} has statements of its own") };
            let text = form.statement(Dialect::Sqlite, false);
            assert!(text.ends_with(&format!(" LIMIT {last}")), "{text}");
        }
    }
}
