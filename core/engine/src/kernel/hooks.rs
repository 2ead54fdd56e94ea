//! The hooks by which features take part in a transaction: `features::ALL` registers a feature, and the kernel calls
//! its hooks. Beside them the kernel uses functions that features offer (their answers, records and figures);
//! `scripts/layers.py` lists which.
//!
//! Hooks are called in the order of the list. A hook that a feature does not have costs one branch.
use std::sync::Arc;

use ojs_model::{JobError, JobId, NewJob};

use crate::error::{Applied, StoreError};
use crate::kernel::admission::Admission;
use crate::kernel::audit::Checks;
use crate::kernel::claiming::{Chosen, Claim, Claiming};
use crate::kernel::explanation::Explanation;
use crate::kernel::forecast::Forecast;
use crate::kernel::holds::Holds;
use crate::kernel::job::{Body, JobRow, JobView};
use crate::kernel::placed::Placed;
use crate::kernel::retention::Retention;
use crate::kernel::transaction::Transaction;
use crate::store::rows::{QueueRow, WorkerRow};
use crate::store::tables::Tables;

/// The result of a hook that fails only when the store fails.
pub type Hooked = Result<(), StoreError>;
/// Refuses jobs that are about to be stored, or notes what storing them needs.
pub type Admit = fn(&mut Transaction<'_>, &[Arc<NewJob>], &mut Admission) -> Applied<()>;
/// Refuses one job, given its type and the members of its envelope as JSON text without braces.
pub type Judge = fn(&mut Transaction<'_>, &str, &str) -> Applied<()>;
/// Acts after jobs have been stored.
pub type AfterEnqueue = fn(&mut Transaction<'_>, &mut Admission, &mut [Placed]) -> Hooked;
/// Fills in the missing members of a job that the engine itself makes.
pub type Complete = fn(&mut Transaction<'_>, &NewJob) -> Applied<Option<NewJob>>;
/// Counts the jobs that may start in a queue.
pub type Slots = fn(&mut Transaction<'_>, &mut QueueRow) -> Result<usize, StoreError>;
/// Sees the result of a job that completes.
pub type OnResult = fn(&mut Transaction<'_>, &mut JobRow, &[u8]) -> Hooked;
/// Sees a job that changes its state; may change flags of the new row.
pub type OnTransition = fn(&mut Transaction<'_>, &JobRow, &mut JobRow) -> Hooked;
/// Sees a discarded job that is to run again; true when it must wait.
pub type OnReplay = fn(&mut Transaction<'_>, &mut JobRow) -> Applied<bool>;
/// Refuses that a pending job is activated.
pub type MayActivate = fn(&mut Transaction<'_>, &JobRow) -> Applied<()>;
/// Sees an error that was added to those of a job.
pub type OnError = fn(&mut Transaction<'_>, &JobRow, &JobError) -> Hooked;
/// Sees an outcome that was refused: its job and its lease token.
pub type OnLateOutcome = fn(&mut Transaction<'_>, JobId, Option<i64>) -> Hooked;
/// Sees a heartbeat: the worker's row before it, and the jobs that it names with their tokens.
pub type OnHeartbeat = fn(&mut Transaction<'_>, &WorkerRow, &[(JobId, Option<i64>)]) -> Hooked;
/// The place at which a slow walk through records continues; `None` at its end.
pub type Repair = fn(&mut Transaction<'_>, Walk) -> Applied<Option<Walk>>;
/// A place in a walk through records. Only the feature knows its meaning; (0, 0) is the beginning.
pub type Walk = (i64, i64);
/// Adds to a job that is handed out.
pub type OnLease = fn(&mut Transaction<'_>, &mut JobView) -> Hooked;
/// Adds why a waiting job is not running.
pub type Explain = fn(&mut dyn Tables, &JobRow, &mut Explanation) -> Hooked;
/// Adds what would happen to a dead letter that ran again.
pub type Foresee = fn(&mut dyn Tables, &mut Forecast<'_>) -> Hooked;
/// A claim begins, of the worker that it names.
pub type OnClaim = fn(&mut Transaction<'_>, &Claim, Option<&WorkerRow>);
/// Claims from the queues by an order of its own; false when it has none for them.
pub type Divide = fn(&mut Transaction<'_>, &mut Claiming<'_>) -> Result<bool, StoreError>;
/// Chooses available jobs of a queue for a claim, best first, up to a number; `None` when this feature does not choose.
pub type Choose = fn(&mut Transaction<'_>, &Claiming<'_>, i64, usize) -> Result<Option<Chosen>, StoreError>;
/// Adds jobs of a queue to the chosen ones, and keeps the best, up to a number.
pub type Add = fn(&mut Transaction<'_>, &Claiming<'_>, i64, usize, &mut Vec<(JobRow, Body)>) -> Hooked;
/// Whether a job may start.
pub type MayClaim = fn(&mut Transaction<'_>, &JobRow) -> Result<bool, StoreError>;

/// The hooks of one feature.
#[derive(Debug, Clone, Copy)]
pub struct Hooks {
    /// Jobs are to be stored: refuses all of them, or notes what storing them needs. Nothing has been changed yet.
    pub admit: Option<Admit>,
    /// A job that no request has enqueued is about to be stored or changed: a step of a workflow, a cron run, a row
    /// inserted by plain SQL, a dead letter with new arguments. May refuse it. Also called earlier, when a workflow or
    /// a cron entry is stored.
    pub judge: Option<Judge>,
    /// The engine makes a job for a step of a workflow: returns the job with missing members filled in, `None` where
    /// none is missing. `admit` does the same for jobs of producers.
    pub complete: Option<Complete>,
    /// A job is about to get its row.
    pub on_enqueue: Option<fn(&mut Transaction<'_>, &NewJob, &mut JobRow) -> Hooked>,
    /// A job has been stored.
    pub on_stored: Option<fn(&mut Transaction<'_>, &JobRow)>,
    /// A pending job is about to be activated. May refuse it.
    pub on_activate: Option<MayActivate>,
    /// A discarded job is about to run again, with this row, which is not written yet. True makes it pending instead of
    /// available.
    pub on_replay: Option<OnReplay>,
    /// An outcome was refused, given its job and its lease token: the job is not active any more, or has another lease.
    pub on_late_outcome: Option<OnLateOutcome>,
    /// A heartbeat was accepted: gets the worker's row before it and the jobs that it names.
    pub on_heartbeat: Option<OnHeartbeat>,
    /// Whether the worker with this id stands for many processes. Silence of one of them says nothing about the others,
    /// so the heartbeats of such a worker are not noted.
    pub is_many: Option<fn(&str) -> bool>,
    /// A worker, given by its number, counts as dead and holds no job any more.
    pub on_worker_death: Option<fn(&mut Transaction<'_>, i64) -> Hooked>,
    /// Repairs contradictions between records after a place, one slice; called at the start and every minute.
    pub repair: Option<Repair>,
    /// All jobs of an enqueue have been stored.
    pub after_enqueue: Option<AfterEnqueue>,
    /// A job joins the line of its queue: a feature adds its reason to `holds` to hold it back there, and later calls
    /// `Transaction::let_go`.
    pub on_available: Option<fn(&mut Transaction<'_>, &mut JobRow) -> Hooked>,
    /// An available job is about to move to another queue, given with the number of that queue and without any reason
    /// that belongs to the line it has left.
    pub on_move: Option<fn(&mut Transaction<'_>, &mut JobRow) -> Hooked>,
    /// A reason is about to hold an available job that nothing has held: the row before.
    pub on_hold: Option<fn(&mut Transaction<'_>, &JobRow, Holds) -> Hooked>,
    /// One of several reasons that held an available job is gone: the row with those that are left.
    pub on_release: Option<fn(&mut Transaction<'_>, &JobRow) -> Hooked>,
    /// Jobs are to be claimed; outcomes of the same request have been written.
    pub before_claim: Option<fn(&mut Transaction<'_>) -> Hooked>,
    /// A claim begins.
    pub on_claim: Option<OnClaim>,
    /// A claim takes jobs out of several queues in an order that the feature decides.
    pub divide: Option<Divide>,
    /// A claim wants jobs of a queue, given the number of the queue. The first feature that chooses is taken; without
    /// one, the jobs come in the order of their queue.
    pub choose: Option<Choose>,
    /// Jobs of a queue have been chosen in its order: adds jobs of its other lines.
    pub add: Option<Add>,
    /// How many more jobs of a queue may be active. The row may be read again, under a lock.
    pub slots: Option<Slots>,
    /// Whether a job at the head of its line may start. A feature that says no has moved it out of the way.
    pub may_claim: Option<MayClaim>,
    /// A job has been claimed and is handed out: adds members to `delivered`, which only this delivery carries.
    pub on_lease: Option<OnLease>,
    /// A claim has found nothing.
    pub on_empty_claim: Option<fn(&mut Transaction<'_>) -> Hooked>,
    /// A job changes its state, and is not written yet: the row before and the row after.
    pub on_transition: Option<OnTransition>,
    /// A job completes with a result, which is JSON text; its row is not written yet.
    pub on_result: Option<OnResult>,
    /// The time in `expires_at` of an ended job has passed.
    pub after_end: Option<fn(&mut Transaction<'_>, &JobRow) -> Hooked>,
    /// An attempt has failed; whether there is another one is not decided yet.
    pub on_failure: Option<fn(&mut Transaction<'_>, &JobRow, &JobError) -> Hooked>,
    /// An error was added to those of a job: of an attempt, whose job is still active in this row, or of a job that
    /// waits.
    pub on_error: Option<OnError>,
    /// A job is about to be removed with all its parts.
    pub on_erase: Option<fn(&mut Transaction<'_>, &JobRow) -> Hooked>,
    /// A command has been carried out, or a sweep.
    pub after_command: Option<fn(&mut Transaction<'_>) -> Hooked>,
    /// The transaction is about to write its counts and events.
    pub before_commit: Option<fn(&mut Transaction<'_>) -> Hooked>,
    /// Counts and events have been written; only the commit is left.
    pub on_written: Option<fn(&mut Transaction<'_>) -> Hooked>,
    /// Work that is due by time.
    pub sweep: Option<Sweep>,
    /// Removes one slice of records past their retention; true when there may be more.
    pub prune: Option<fn(&mut Transaction<'_>, &Retention) -> Applied<bool>>,
    /// Whether an ended job must be kept at a time, in milliseconds, although it is past the retention of its state.
    pub keeps: Option<fn(&JobRow, i64) -> bool>,
    /// A prune has kept an ended job: removes parts of it that are past a retention of their own.
    pub prune_kept: Option<fn(&mut Transaction<'_>, &JobRow) -> Hooked>,
    /// Everything has been removed (test mode): forgets what it keeps in memory.
    pub reset: Option<fn(&mut Transaction<'_>)>,
    /// Compares its records with each other and with the jobs; changes nothing.
    pub audit: Option<Checks>,
    /// Adds the reason for which it holds back a waiting job, if it does; changes nothing.
    pub explain: Option<Explain>,
    /// Adds what would happen to a dead letter that ran again, beside the reasons of `explain`. It changes nothing.
    pub foresee: Option<Foresee>,
}

/// A feature's part of a sweep.
#[derive(Debug, Clone, Copy)]
pub struct Sweep {
    /// Name of the swept items, for the log.
    pub part: &'static str,
    /// Whether it is swept during maintenance, too.
    pub in_maintenance: bool,
    /// One slice of it.
    pub run: fn(&mut Transaction<'_>) -> Applied<()>,
}

impl Hooks {
    /// A feature without hooks.
    pub const NONE: Self = Self {
        admit: None,
        judge: None,
        complete: None,
        on_enqueue: None,
        on_activate: None,
        on_replay: None,
        on_late_outcome: None,
        on_heartbeat: None,
        is_many: None,
        on_worker_death: None,
        repair: None,
        on_stored: None,
        after_enqueue: None,
        on_available: None,
        on_move: None,
        on_hold: None,
        on_release: None,
        before_claim: None,
        on_claim: None,
        divide: None,
        choose: None,
        add: None,
        slots: None,
        may_claim: None,
        on_lease: None,
        on_empty_claim: None,
        on_transition: None,
        on_result: None,
        after_end: None,
        on_failure: None,
        on_error: None,
        on_erase: None,
        after_command: None,
        before_commit: None,
        on_written: None,
        sweep: None,
        prune: None,
        keeps: None,
        prune_kept: None,
        reset: None,
        audit: None,
        explain: None,
        foresee: None,
    };
}

/// Calls a hook of every feature that has it.
macro_rules! call {
    ($transaction:expr, $hook:ident $(, $argument:expr)*) => {
        for feature in $transaction.counters.features {
            if let Some(hook) = feature.$hook {
                hook($transaction $(, $argument)*)?;
            }
        }
    };
}
pub(crate) use call;

#[cfg(test)]
mod tests {
    use ojs_model::{JobState, Timestamp};

    use super::*;
    use crate::kernel::command::{Outcome, OutcomeReport};
    use crate::kernel::counters::Counters;
    use crate::kernel::job::flag;
    use crate::store::memory::MemoryTables;

    /// A job that has completed with a result, that result as it was kept, and the number of figures, in a store in
    /// which these features take part.
    fn completed(features: &'static [Hooks]) -> (JobRow, String, usize) {
        let (mut tables, mut counters) = (MemoryTables::default(), Counters::with(features));
        counters.reserve(&mut tables).unwrap();
        let now = Timestamp::from_millis(1_767_225_600_000);
        let job = Arc::new(NewJob::parse(r#"{"type":"t","args":[]}"#, now).unwrap());
        let mut transaction = Transaction::new(&mut tables, &mut counters, now);
        drop(transaction.enqueue(&[Arc::clone(&job)]).unwrap());
        let claim = Claim { queues: vec!["default".into()], count: 1, worker: None, ..Claim::default() };
        let lease = Some(transaction.claim(&claim).unwrap().remove(0).row.lease);
        let outcome = Outcome::Ack(Some("[1]".into()));
        let report = OutcomeReport { job: job.id, lease, worker: None, outcome, want_job: false };
        drop(transaction.exchange(&[report], None).unwrap());
        transaction.finish().unwrap();
        let row = tables.row(job.id).unwrap().unwrap();
        let result = tables.history(row.seq).unwrap().result;
        (row, result, counters.handed_over.facts.len())
    }

    #[test]
    fn features_decide_what_is_kept_of_a_completed_job_and_the_kernel_works_without_them() {
        let (row, result, figures) = completed(&[]);
        assert_eq!((row.state, row.has(flag::RESULT), result.as_str(), figures), (JobState::Completed, false, "", 0));
        let (row, result, figures) = completed(&crate::features::HOOKS);
        assert_eq!((row.state, row.has(flag::RESULT), result.as_str(), figures), (JobState::Completed, true, "[1]", 1));
    }
}
