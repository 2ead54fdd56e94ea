//! The statements of selections in SQLite.
//!
//! Indexed are available jobs by queue, and the scheduled, retryable, active, pending, cancelled and discarded ones by
//! partial indexes, so a list of one of these states never reads the others. Lists of completed jobs and of all states
//! run backwards from the newest job and stop when the page is full.
use std::borrow::Cow;

use ojs_model::JobState;

use super::SqliteTables;
use crate::error::Result;
use crate::store::listing::{Dialect, FEW, Walk};
use crate::store::record::text::Dialect as Text;
use crate::store::rows::{JobFilter, JobSort};
use crate::store::selection::Selection;
use crate::store::selection::sql::Source;

/// How values are written.
const DIALECT: Dialect = Dialect { sign: "?", integer: "" };

impl SqliteTables {
    /// The statement of a selection.
    pub(super) fn text_of(&self, wanted: &Selection<'_>) -> Result<Cow<'static, str>> {
        Ok(Cow::Borrowed(match Source::from(wanted) {
            Source::Shared(form) => form.statement(Text::Sqlite, false),
            Source::HeldBy => sql!("held_by"),
            Source::Oldest => sql!("oldest"),
            Source::Dead(filter) if filter.look > 0 => sql!("dead_within"),
            Source::Dead(_) => sql!("dead"),
            Source::Listed(filter) => return Ok(Cow::Owned(self.listing(sql!("jobs"), filter)?)),
        }))
    }

    /// The statement of a list for one state and order. The state is written into the text, because the planner uses
    /// the partial index of a state only then.
    fn listing(&self, sql: &str, filter: &JobFilter) -> Result<String> {
        let is_state = filter.state.map_or("TRUE".to_owned(), |state| format!("state = {}", state as u8));
        let walk = |from: &str, known: &str, compared: &str| {
            let walk = Walk { from, known: known.to_owned(), compared: compared.to_owned() };
            filter.statement(sql, "jobs", &walk, DIALECT)
        };
        if filter.tenant.is_some_and(|tenant| tenant != 0) {
            // A tenant's jobs have an index of their own, whatever their state.
            return Ok(walk("jobs INDEXED BY jobs_tenant", "tenant > 0 AND tenant = ?8", &is_state));
        }
        let Some(state) = filter.state else { return Ok(walk("jobs", "TRUE", "TRUE")) };
        // These indexes are in the order of the list, so any number of jobs will do.
        let ordered = matches!(state, JobState::Pending | JobState::Cancelled | JobState::Discarded);
        let few = ordered || filter.sort != JobSort::Created || self.jobs_of(state)? <= FEW;
        Ok(match index_of(state).filter(|_| few) {
            Some(index) => walk(&format!("jobs INDEXED BY {index}"), &is_state, "TRUE"),
            None => walk("jobs NOT INDEXED", "TRUE", &is_state),
        })
    }

    fn jobs_of(&self, state: JobState) -> Result<i64> {
        let cells: Vec<(i64, i64)> = self.all(sql!("all_counts"), [], |row| Ok((row.get(1)?, row.get(2)?)))?;
        Ok(cells.iter().filter(|(of, _)| *of == state as i64).map(|(_, jobs)| jobs).sum())
    }
}

/// The partial index of a state.
fn index_of(state: JobState) -> Option<&'static str> {
    match state {
        JobState::Scheduled => Some("jobs_scheduled"),
        JobState::Available => Some("jobs_ready"),
        JobState::Pending => Some("jobs_pending"),
        JobState::Active => Some("jobs_active"),
        JobState::Retryable => Some("jobs_retryable"),
        JobState::Cancelled => Some("jobs_cancelled"),
        JobState::Discarded => Some("jobs_discarded"),
        JobState::Completed => None,
    }
}
