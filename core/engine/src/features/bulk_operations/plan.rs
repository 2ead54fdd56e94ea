//! Which jobs an operation changes, and in which order it comes to them.
use ojs_model::{JobId, OjsError, Timestamp};

use super::records::OperationRow;
use crate::error::StoreError;
use crate::features::admin::commands::walk;
use crate::features::bulk::commands::sift;
use crate::features::bulk::filter::{Plane, Wanted};
use crate::features::bulk::records::{Action, BulkFilter};
use crate::http::terms::invalid;
use crate::kernel::job::JobRow;
use crate::store::listing::{ListPlace, STEP};
use crate::store::rows::JobFilter;
use crate::store::tables::Tables;

/// Jobs changed by one transaction: about 10 ms of a writer's time.
pub(crate) const SLICE: usize = 500;
/// Windows of [`STEP`] rows that one reading looks at when it finds nothing.
const WINDOWS: usize = 10;
/// How often an operation goes through the states of its filter, at most.
const MAX_ROUNDS: i64 = 5;

/// What an operation does.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// To each job.
    pub(crate) action: Action,
    /// To which jobs.
    pub(crate) filter: BulkFilter,
    /// The filter names nothing but a queue and states.
    pub(crate) is_plain: bool,
}

/// A place on the way of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// See [`OperationRow::round`].
    pub round: i64,
    /// See [`OperationRow::state_place`].
    pub state: i64,
    /// See [`OperationRow::after_seq`].
    pub after: i64,
}

impl Place {
    /// Where an operation is.
    pub(crate) fn of(row: &OperationRow) -> Self {
        Self { round: row.round, state: row.state_place, after: row.after_seq }
    }

    /// Notes where an operation is.
    pub(crate) fn note(self, row: &mut OperationRow) {
        (row.round, row.state_place, row.after_seq) = (self.round, self.state, self.after);
    }
}

/// The next jobs of an operation.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Their numbers and ids, in order.
    pub jobs: Vec<(i64, JobId)>,
    /// Where it goes on behind them; `None` when the last state has been gone through.
    pub next: Option<Place>,
}

impl Plan {
    /// The plan of a filter as a request has it. All times in it are relative to the time of the request.
    ///
    /// # Errors
    /// 400 that names the member that cannot be used.
    pub(crate) fn new(action: Action, filter: &str, created_at: i64) -> Result<Self, OjsError> {
        let unreadable = |error| invalid("filter", format!("The filter cannot be read: {error}."));
        let wanted: Wanted = serde_json::from_str(filter).map_err(unreadable)?;
        let is_plain = wanted.is_plain();
        let mut filter = wanted.filter(action, Plane::Admin, Timestamp::from_millis(created_at))?;
        // A job that was run again and has failed since would be found a second time.
        filter.settled_by = (action != Action::Cancel).then_some(created_at);
        Ok(Self { action, filter, is_plain })
    }

    /// The plan of a stored operation.
    ///
    /// # Errors
    /// When its record holds what no request could.
    pub(crate) fn of(row: &OperationRow) -> Result<Self, StoreError> {
        Self::new(row.action, &row.filter, row.created_at)
            .map_err(|error| StoreError::Failed(format!("the filter of bulk operation {} cannot be read: {error}", row.id)))
    }

    /// Whether it goes through the states once more. A job that waits may move to a state that has been gone through
    /// already; the states of the other actions are left only by the action itself.
    pub(crate) fn repeats(&self, round: i64, changed: i64) -> bool {
        let several = self.action == Action::Cancel && self.filter.states.len() > 1;
        several && round + 1 < MAX_ROUNDS && (round == 0 || changed > 0)
    }

    /// One window of the list of a state behind a place, at most so many jobs.
    pub(crate) fn window(
        &self,
        tables: &mut dyn Tables,
        place: Place,
        limit: usize,
    ) -> Result<(Vec<JobRow>, Option<Place>), StoreError> {
        let state = usize::try_from(place.state).ok().and_then(|at| self.filter.states.get(at));
        let Some(state) = state else { return Ok((Vec::new(), None)) };
        let behind = Some(ListPlace { key: 0, seq: place.after });
        let page = JobFilter { state: Some(*state), ascending: true, behind, look: STEP, limit, ..self.filter.filter.clone() };
        let walked = walk(tables, &page)?;
        let next = match walked.next_place() {
            Some(last) => Some(Place { after: last.seq, ..place }),
            None => Some(Place { state: place.state + 1, after: 0, ..place }),
        };
        let next = next.filter(|next| usize::try_from(next.state).is_ok_and(|at| at < self.filter.states.len()));
        Ok((sift(tables, &self.filter, walked.rows)?, next))
    }

    /// The next jobs behind a place. There may be none before the end.
    pub(crate) fn find(&self, tables: &mut dyn Tables, place: Place) -> Result<Found, StoreError> {
        let mut next = Some(place);
        for _ in 0..WINDOWS {
            let Some(place) = next else { break };
            let (rows, behind) = self.window(tables, place, SLICE)?;
            next = behind;
            if !rows.is_empty() {
                return Ok(Found { jobs: rows.into_iter().map(|row| (row.seq, row.id)).collect(), next });
            }
        }
        Ok(Found { jobs: Vec::new(), next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(action: Action, filter: &str) -> Plan {
        Plan::new(action, filter, 1_000).unwrap()
    }

    #[test]
    fn only_states_that_jobs_leave_by_themselves_are_gone_through_again() {
        let cancel = plan(Action::Cancel, "{}");
        assert!(cancel.repeats(0, 0) && cancel.repeats(1, 3) && !cancel.repeats(1, 0) && !cancel.repeats(4, 3));
        assert!(!plan(Action::Cancel, r#"{"state":"scheduled"}"#).repeats(0, 9));
        assert!(!plan(Action::Retry, "{}").repeats(0, 9) && !plan(Action::Delete, "{}").repeats(0, 9));
    }

    #[test]
    fn what_happens_after_the_request_is_not_meant() {
        let retry = plan(Action::Retry, "{}").filter;
        assert_eq!((retry.settled_by, retry.filter.until), (Some(1_000), Some(1_001)));
        assert_eq!(plan(Action::Cancel, "{}").filter.settled_by, None);
        assert!(Plan::new(Action::Retry, r#"{"quue":"mail"}"#, 0).is_err());
    }
}
