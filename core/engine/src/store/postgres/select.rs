//! The statements of selections in PostgreSQL.
//!
//! Indexed are available jobs by queue, scheduled, retryable and active ones by time, pending, cancelled and discarded
//! ones by partial indexes. Lists of completed jobs, of many jobs of a state without an index in the order of the list,
//! and of all states run backwards from the newest job and stop when the page is full.

use ojs_model::JobState;
use ojs_model::lazy::Lazy;

use super::PostgresTables;
use super::connection::Ask;
use super::params::Param;
use super::rows::{get, read_job};
use crate::error::Result;
use crate::kernel::job::JobRow;
use crate::store::listing::{Dialect, FEW, Walk};
use crate::store::names::NameTables;
use crate::store::record::Param as Value;
use crate::store::record::text::Dialect as Text;
use crate::store::rows::{JobFilter, JobSort};
use crate::store::selection::sql::Source;
use crate::store::selection::{Selection, counting, counting_once};

/// `oldest` for a connection that may not lock rows.
static OLDEST_READ: Lazy<String> = Lazy::new(|| sql!("oldest").trim_end().trim_end_matches(" FOR UPDATE").to_owned());

/// `find_unique` for such a connection.
pub(super) static FIND_UNIQUE_READ: Lazy<String> =
    Lazy::new(|| sql!("find_unique").trim_end().trim_end_matches(" FOR UPDATE").to_owned());

/// The statement of a selection; `None` for a list, whose statement is made for one use.
fn text_of(wanted: &Selection<'_>, writes: bool) -> Option<&'static str> {
    Some(match Source::from(wanted) {
        Source::Shared(form) => form.statement(Text::Postgres, writes),
        Source::HeldBy => sql!("held_by"),
        Source::Oldest if writes => sql!("oldest"),
        Source::Oldest => &OLDEST_READ,
        Source::Dead(filter) if filter.look > 0 => sql!("dead_within"),
        Source::Dead(_) => sql!("dead"),
        Source::Listed(_) => return None,
    })
}

/// The statement of a list for one state and order. The state is written into the text, because the planner uses the
/// partial index of a state only then. `few` as [`PostgresTables::is_few`] says.
fn listing(filter: &JobFilter, few: bool) -> String {
    let (mut known, mut compared, mut from) = ("TRUE".to_owned(), "TRUE".to_owned(), "ojs_runs".to_owned());
    match filter.state {
        None => {}
        // An array is made before the list is planned: a join with the list was planned as a walk through all jobs.
        Some(JobState::Active) => "state = 3 AND seq = ANY (ARRAY(SELECT seq FROM ojs_active))".clone_into(&mut known),
        Some(JobState::Completed) => "state = 4".clone_into(&mut compared),
        Some(state) if !is_apart(filter, state) => known = format!("place = {}", state as u8),
        // OFFSET 0 has the jobs read by the index of their state: in the order of the list, which the planner would
        // choose to fill one page, they may come after all finished ones.
        Some(state) if few => {
            from = format!("(SELECT * FROM ojs_runs WHERE place = {} OFFSET 0) AS ojs_runs", state as u8);
        }
        Some(state) => compared = format!("place = {}", state as u8),
    }
    if is_of_one(filter) {
        known.push_str(" AND tenant > 0 AND tenant = $8::bigint");
    }
    filter.statement(sql!("jobs"), "ojs_runs", &Walk { from: &from, known, compared }, DIALECT)
}

/// Whether a list is of one tenant, whose jobs have an index of their own.
fn is_of_one(filter: &JobFilter) -> bool {
    filter.tenant.is_some_and(|tenant| tenant != 0)
}

/// Whether the jobs of this state have no index in the order of the list.
fn is_apart(filter: &JobFilter, state: JobState) -> bool {
    let by_time = matches!(state, JobState::Scheduled | JobState::Available | JobState::Retryable);
    by_time && filter.sort == JobSort::Created && !is_of_one(filter)
}

/// How values are written.
const DIALECT: Dialect = Dialect { sign: "$", integer: "::bigint" };

fn bound<'a>(params: &'a [Value<'a>]) -> Vec<&'a dyn Param> {
    params.iter().map(|param| param as &dyn Param).collect()
}

impl PostgresTables {
    /// Has the statements of the rest of this transaction planned for their values: conditions that are absent cost
    /// nothing then, and those that are given may use an index.
    fn plan_for_values(&mut self) -> Result<()> {
        if self.writes() { self.execute(sql!("plan_for_values"), &[]).map(drop) } else { Ok(()) }
    }

    /// Whether so few jobs are in the state of a list that all of them may be read and sorted.
    fn is_few(&mut self, filter: &JobFilter) -> Result<bool> {
        let Some(state) = filter.state.filter(|state| is_apart(filter, *state)) else { return Ok(false) };
        let rows = self.query(sql!("jobs_in_state"), &[&i64::from(state as u8)])?;
        Ok(rows.first().map_or(Ok(0), |row| get::<i64>(row, 0))? <= FEW)
    }

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
        if matches!(wanted, Selection::Listed(_) | Selection::Dead(_)) {
            self.plan_for_values()?;
        }
        let Some(text) = text_of(wanted, self.writes()) else {
            let Selection::Listed(filter) = wanted else { return Ok(Vec::new()) };
            let few = self.is_few(filter)?;
            let answers = self.ask(&[Ask::once(&listing(filter, few), &params)])?;
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
        if matches!(wanted, Selection::Listed(_) | Selection::Dead(_)) {
            self.plan_for_values()?;
        }
        let rows = match (text_of(wanted, false), wanted) {
            (None, Selection::Listed(filter)) => {
                let few = self.is_few(filter)?;
                let answers = self.ask(&[Ask::once(&counting(&listing(filter, few)), &params)])?;
                answers.into_iter().flat_map(|answer| answer.rows).collect()
            }
            (text, _) => self.query(counting_once(text.unwrap_or_default()), &params)?,
        };
        let counted: i64 = rows.first().map_or(Ok(0), |row| get(row, 0))?;
        Ok(usize::try_from(counted).unwrap_or(0))
    }
}
