//! The slices of an operation: which jobs come next, and their change with the new place of the operation in one
//! transaction.
use ojs_model::{JobId, OjsError};

use super::plan::{Found, Place, Plan};
use super::records::{OperationRow, OperationState, OperationTables as _};
use super::refusals;
use crate::error::{Applied, Refusal, StoreError};
use crate::features::bulk::commands::fits_state;
use crate::kernel::part::Part;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Apart, Command, Query};
use crate::store::record::Read;
use crate::store::tables::Tables;
use crate::store::wanted::Wanted;

/// How long a node keeps an operation to itself after a slice, milliseconds. It is not needed for what is written, only
/// keeps two nodes from looking for the same jobs.
pub(crate) const LEASE_MS: i64 = 10_000;

/// The next jobs of an operation.
#[derive(Debug)]
pub(crate) struct FindSlice(pub(crate) OperationRow);

impl Query for FindSlice {
    type Reply = Found;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Found> {
        Ok(Plan::of(&self.0)?.find(tables, Place::of(&self.0))?)
    }

    fn is_search(&self) -> bool {
        true
    }
}

/// Operations that a node may go on with, or will be able to.
#[derive(Debug)]
pub(crate) struct RunningOperations;

impl Query for RunningOperations {
    type Reply = Vec<OperationRow>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let open = tables.open_operations()?;
        Ok(open.into_iter().filter(|row| row.state == OperationState::Running).collect())
    }
}

/// Changes the jobs of a slice.
#[derive(Debug, Clone)]
pub struct RunSlice {
    /// Of which operation.
    pub id: JobId,
    /// Which node asks.
    pub node: JobId,
    /// Where the operation was when the jobs were found. When it is elsewhere, nothing is changed.
    pub from: Place,
    /// The jobs, and where it goes on.
    pub found: Found,
    /// Jobs at which the store has failed.
    pub failed: Vec<(JobId, String)>,
}

impl Command for RunSlice {
    /// Whether the operation was where it was thought to be, and this node's to go on with.
    type Reply = bool;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<bool> {
        transaction.run_slice(self)
    }

    fn weight(&self) -> usize {
        self.found.jobs.len()
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        self.found.jobs.iter().for_each(|(_, id)| wanted.job(*id));
    }

    /// Job by job: one that cannot be read must not stop the operation.
    fn apply_apart(&self, writer: &mut dyn Apart) -> Option<Applied<bool>> {
        (!self.found.jobs.is_empty()).then(|| self.one_by_one(writer))
    }
}

impl RunSlice {
    fn one_by_one(&self, writer: &mut dyn Apart) -> Applied<bool> {
        let mut from = self.from;
        for (seq, id) in &self.found.jobs {
            let next = Place { after: *seq, ..from };
            let found = Found { jobs: vec![(*seq, *id)], next: Some(next) };
            let part = Self { from, found, failed: Vec::new(), ..self.clone() };
            let is_own = match writer.execute(part.clone()) {
                Err(Refusal::Store(StoreError::Failed(fault))) => {
                    tracing::error!(operation = %self.id, job = %id, fault, "a bulk operation leaves out a job");
                    let found = Found { jobs: Vec::new(), next: Some(next) };
                    writer.execute(Self { found, failed: vec![(*id, fault)], ..part })?
                }
                done => done?,
            };
            if !is_own {
                return Ok(false);
            }
            from = next;
        }
        let found = Found { jobs: Vec::new(), next: self.found.next };
        writer.execute(Self { from, found, ..self.clone() })
    }
}

/// Ends an operation at which the store fails again and again.
#[derive(Debug, Clone)]
pub(crate) struct FailOperation {
    /// Which one.
    pub(crate) id: JobId,
    /// Where it was.
    pub(crate) from: Place,
    /// The latest fault.
    pub(crate) fault: String,
}

impl Command for FailOperation {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        let Some(mut row) = transaction.tables.operation(self.id, Read::Held)? else { return Ok(()) };
        if row.state != OperationState::Running || Place::of(&row) != self.from {
            return Ok(());
        }
        row.fault = Some(self.fault.clone());
        transaction.turn_operation(&mut row, OperationState::Failed);
        transaction.tables.put_operation(&row)?;
        transaction.emit_operation("failed", &row)
    }
}

/// Lets other nodes go on with the operations of one that closes.
#[derive(Debug, Clone)]
pub(crate) struct ReleaseOperations(pub(crate) JobId);

impl Command for ReleaseOperations {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        for open in transaction.tables.open_operations()? {
            if open.holder != Some(self.0) {
                continue;
            }
            let row = transaction.tables.operation(open.id, Read::Held)?;
            if let Some(row) = row.filter(|row| row.holder == Some(self.0)) {
                transaction.tables.put_operation(&OperationRow { holder: None, lease_until: 0, ..row })?;
                transaction.signals.push(crate::kernel::wake::Signal::Operations);
            }
        }
        Ok(())
    }

    /// The lease ends by itself.
    fn is_durable(&self) -> bool {
        false
    }
}

impl Transaction<'_> {
    fn run_slice(&mut self, slice: &RunSlice) -> Applied<bool> {
        let now = self.now.as_millis();
        let row = self.tables.operation(slice.id, Read::Held)?;
        let row = row.filter(|row| row.is_free_for(slice.node, now) && Place::of(row) == slice.from);
        let Some(mut row) = row else { return Ok(false) };
        let plan = Plan::of(&row)?;
        let mut outcomes = Vec::with_capacity(slice.found.jobs.len());
        for (place, (_, id)) in slice.found.jobs.iter().enumerate() {
            outcomes.push((*id, self.change_one(&plan, place, *id)?));
        }
        let failed = |(id, fault): &(JobId, String)| {
            let message = format!("The store failed at job '{id}': {fault}");
            (*id, Err(OjsError::new(ojs_model::ErrorCode::BackendError, message)))
        };
        outcomes.extend(slice.failed.iter().map(failed));
        tally(&mut row, &outcomes)?;
        (row.holder, row.lease_until, row.updated_at) = (Some(slice.node), now.saturating_add(LEASE_MS), now);
        let next = slice.found.next.or_else(|| {
            let again = plan.repeats(row.round, row.round_changed);
            again.then(|| Place { round: row.round + 1, ..Place::default() })
        });
        match next {
            Some(next) => {
                if next.round != row.round {
                    row.round_changed = 0;
                }
                next.note(&mut row);
                self.tables.put_operation(&row)?;
            }
            None => {
                self.turn_operation(&mut row, OperationState::Completed);
                self.tables.put_operation(&row)?;
                self.emit_operation("completed", &row)?;
            }
        }
        Ok(true)
    }

    /// Changes one job, or says why it cannot be changed. A refusal leaves the others alone.
    fn change_one(&mut self, plan: &Plan, place: usize, id: JobId) -> Applied<Result<(), OjsError>> {
        let Some(row) = self.tables.visible(id)? else { return Ok(Err(OjsError::not_found("job", &id.to_string()))) };
        if let Err(error) = fits_state(plan.action, &plan.filter.states, &row) {
            return Ok(Err(error));
        }
        match self.part(Part::Job(self.command, place), |transaction| transaction.change_row(plan.action, &row)) {
            Ok(()) => Ok(Ok(())),
            Err(refusal) => Ok(Err(refusal.into_error()?)),
        }
    }
}

/// Adds what became of jobs to the counts of an operation. In a later round those that are refused have been counted.
fn tally(row: &mut OperationRow, outcomes: &[(JobId, Result<(), OjsError>)]) -> Result<(), StoreError> {
    let mut known = refusals::read(&row.refusals)?;
    for (id, outcome) in outcomes {
        match outcome {
            Ok(()) => {
                row.seen += 1;
                row.changed += 1;
                row.round_changed += 1;
            }
            Err(error) if row.round == 0 => {
                row.seen += 1;
                row.refused += 1;
                refusals::note(&mut known, *id, error);
            }
            Err(_) => {}
        }
    }
    row.refusals = refusals::write(&known);
    Ok(())
}
