//! The statements of selections in PostgreSQL.
//!
//! Indexed are available jobs by queue, scheduled, retryable and active ones by time, pending, cancelled and discarded
//! ones by partial indexes. Lists of completed jobs and of all states run backwards from the newest job and stop when
//! the page is full.

use ojs_model::JobState;
use ojs_model::lazy::Lazy;

use super::PostgresTables;
use super::connection::Ask;
use super::params::Param;
use super::rows::{get, read_job};
use crate::error::Result;
use crate::kernel::job::JobRow;
use crate::store::listing::{Dialect, Walk};
use crate::store::names::NameTables;
use crate::store::record::Param as Value;
use crate::store::rows::JobFilter;
use crate::store::selection::{Selection, counting, counting_once};

/// `oldest` for a connection that may not lock rows.
static OLDEST_READ: Lazy<String> = Lazy::new(|| sql!("oldest").trim_end().trim_end_matches(" FOR UPDATE").to_owned());

/// `find_unique` for such a connection.
pub(super) static FIND_UNIQUE_READ: Lazy<String> =
    Lazy::new(|| sql!("find_unique").trim_end().trim_end_matches(" FOR UPDATE").to_owned());

/// The statement of a selection; `None` for a list, whose statement is made for one use.
fn text_of(wanted: &Selection<'_>, writes: bool) -> Option<&'static str> {
    Some(match wanted {
        Selection::Scheduled { .. } => sql!("due_scheduled"),
        Selection::Retryable { .. } => sql!("due_retryable"),
        Selection::Overdue { .. } => sql!("overdue"),
        Selection::Expired { .. } => sql!("expired"),
        Selection::HeldBy { .. } => sql!("held_by"),
        Selection::Above { .. } => sql!("slice"),
        Selection::Oldest { .. } if writes => sql!("oldest"),
        Selection::Oldest { .. } => &OLDEST_READ,
        Selection::Before { .. } => sql!("before"),
        Selection::In { .. } => sql!("in_state"),
        Selection::OfTenant { tenant: 0, .. } => sql!("of_default_tenant"),
        Selection::OfTenant { .. } => sql!("of_tenant"),
        Selection::OfSet { .. } => sql!("of_set"),
        Selection::Running { .. } => sql!("running"),
        Selection::Waiting { .. } => sql!("waiting"),
        Selection::Heads { .. } => sql!("heads"),
        Selection::Parked { .. } => sql!("parked"),
        Selection::Dead(_) => sql!("dead"),
        Selection::Listed(_) => return None,
    })
}

/// The statement of a list for one state and order. The state is written into the text, because the planner uses the
/// partial index of a state only then.
fn listing(filter: &JobFilter) -> String {
    let of_one = filter.tenant.is_some_and(|tenant| tenant != 0);
    let (known, compared) = match filter.state {
        None => ("TRUE".to_owned(), "TRUE".to_owned()),
        Some(JobState::Active) => ("state = 3 AND seq IN (SELECT seq FROM ojs_active)".to_owned(), "TRUE".to_owned()),
        Some(JobState::Completed) => ("TRUE".to_owned(), "state = 4".to_owned()),
        Some(state) => (format!("place = {}", state as u8), "TRUE".to_owned()),
    };
    // A tenant's jobs have an index of their own.
    let known = if of_one { format!("{known} AND tenant > 0 AND tenant = $8::bigint") } else { known };
    filter.statement(sql!("jobs"), "ojs_runs", &Walk { from: "ojs_runs", known, compared }, DIALECT)
}

/// How values are written.
const DIALECT: Dialect = Dialect { sign: "$", integer: "::bigint" };

fn bound<'a>(params: &'a [Value<'a>]) -> Vec<&'a dyn Param> {
    params.iter().map(|param| param as &dyn Param).collect()
}

impl PostgresTables {
    pub(super) fn selected(&mut self, wanted: &Selection<'_>, most: usize) -> Result<Vec<JobRow>> {
        if let Selection::OfTenant { queue, .. } | Selection::OfSet { queue, .. } = wanted {
            // Jobs read ahead for other claims of this transaction would be found again: those claims read anew.
            self.flush()?;
            self.unit_of_work.pools.remove(queue);
        }
        if matches!(wanted, Selection::Overdue { .. }) && self.writes() {
            self.flush()?;
            let now = wanted.params(None, most);
            let taken_apart = [bound(&now).first().copied(), Some(&super::MAX_TAKEN_APART as &dyn Param)];
            self.execute(sql!("take_apart"), &taken_apart.into_iter().flatten().collect::<Vec<_>>())?;
        }
        let queue = self.queue_wanted(wanted.queue_name())?;
        let params = wanted.params(queue, most);
        let params = bound(&params);
        self.flush()?;
        let Some(text) = text_of(wanted, self.writes()) else {
            let Selection::Listed(filter) = wanted else { return Ok(Vec::new()) };
            let answers = self.ask(&[Ask::once(&listing(filter), &params)])?;
            return answers.iter().flat_map(|answer| &answer.rows).map(read_job).collect();
        };
        if matches!(wanted, Selection::Heads { .. } | Selection::Running { .. } | Selection::Waiting { .. }) {
            // Not locked: what becomes of these rows is decided by a later read of them.
            return self.query(text, &params)?.iter().map(read_job).collect();
        }
        self.job_rows(text, &params)
    }

    pub(super) fn counted_of(&mut self, wanted: &Selection<'_>, most: usize) -> Result<usize> {
        let queue = self.queue_wanted(wanted.queue_name())?;
        let params = wanted.params(queue, most);
        let params = bound(&params);
        self.flush()?;
        let rows = match (text_of(wanted, false), wanted) {
            (None, Selection::Listed(filter)) => {
                let answers = self.ask(&[Ask::once(&counting(&listing(filter)), &params)])?;
                answers.into_iter().flat_map(|answer| answer.rows).collect()
            }
            (text, _) => self.query(counting_once(text.unwrap_or_default()), &params)?,
        };
        let counted: i64 = rows.first().map_or(Ok(0), |row| get(row, 0))?;
        Ok(usize::try_from(counted).unwrap_or(0))
    }
}
