//! Where features take part in a transaction. A feature is registered in one line of `features::ALL`; the kernel calls
//! its hooks and names no feature.
//!
//! Hooks are called in the order of the list. A hook that a feature does not have costs one branch.
use std::sync::Arc;

use ojs_model::{JobError, NewJob};

use crate::error::{Applied, StoreError};
use crate::kernel::admission::Admission;
use crate::kernel::job::JobRow;
use crate::kernel::placed::Placed;
use crate::kernel::retention::Retention;
use crate::kernel::transaction::Transaction;

/// What the hooks of one feature answer when only the store can fail.
pub type Hooked = Result<(), StoreError>;
/// Refuses jobs that are to be stored, or notes what storing them needs.
pub type Admit = fn(&mut Transaction<'_>, &[Arc<NewJob>], &mut Admission) -> Applied<()>;
/// Refuses one job, given its type and the members of its envelope as JSON text without braces.
pub type Judge = fn(&mut Transaction<'_>, &str, &str) -> Applied<()>;
/// Goes on with jobs that have been stored.
pub type AfterEnqueue = fn(&mut Transaction<'_>, &mut Admission, &mut [Placed]) -> Hooked;
/// Whether a job may start.
pub type MayClaim = fn(&mut Transaction<'_>, &JobRow) -> Result<bool, StoreError>;

/// What a feature adds to the kernel.
#[derive(Debug, Clone, Copy)]
pub struct Feature {
    /// Jobs are to be stored: refuses all of them, or notes what storing them needs. Nothing has been changed yet.
    pub admit: Option<Admit>,
    /// A job is to be stored, or changed, that no enqueue has brought: a step of a workflow, a cron run, a row
    /// inserted by plain SQL, a dead letter with other arguments. Refuses it. It is asked earlier as well, when a
    /// workflow or a cron entry is stored.
    pub judge: Option<Judge>,
    /// A job is about to get its row.
    pub on_enqueue: Option<fn(&mut Transaction<'_>, &NewJob, &mut JobRow) -> Hooked>,
    /// A job has been stored.
    pub on_stored: Option<fn(&mut Transaction<'_>, &JobRow)>,
    /// All jobs of an enqueue have been stored.
    pub after_enqueue: Option<AfterEnqueue>,
    /// A job joins the line of its queue: a feature adds its reason to `holds` to hold it back there, and later calls
    /// `Transaction::let_go`.
    pub on_available: Option<fn(&mut Transaction<'_>, &mut JobRow) -> Hooked>,
    /// One of several reasons that held an available job is gone: the row with those that are left.
    pub on_release: Option<fn(&mut Transaction<'_>, &JobRow) -> Hooked>,
    /// Jobs are to be claimed; outcomes of the same request have been written.
    pub before_claim: Option<fn(&mut Transaction<'_>) -> Hooked>,
    /// Whether a job at the head of its line may start. A feature that says no has moved it out of the way.
    pub may_claim: Option<MayClaim>,
    /// A claim has found nothing.
    pub on_empty_claim: Option<fn(&mut Transaction<'_>) -> Hooked>,
    /// A job changes its state, and is not written yet: the row before and the row after.
    pub on_transition: Option<fn(&mut Transaction<'_>, &JobRow, &JobRow) -> Hooked>,
    /// An attempt has failed; whether there is another one is not decided yet.
    pub on_failure: Option<fn(&mut Transaction<'_>, &JobRow, &JobError) -> Hooked>,
    /// A command has been carried out, or a sweep.
    pub after_command: Option<fn(&mut Transaction<'_>) -> Hooked>,
    /// The transaction is about to write its counts and events.
    pub before_commit: Option<fn(&mut Transaction<'_>) -> Hooked>,
    /// What time makes due.
    pub sweep: Option<Sweep>,
    /// Removes one slice of what is past its retention; true when there may be more.
    pub prune: Option<fn(&mut Transaction<'_>, &Retention) -> Applied<bool>>,
    /// Everything has been removed (test mode): forgets what it keeps in memory.
    pub reset: Option<fn(&mut Transaction<'_>)>,
}

/// A feature's part of a sweep.
#[derive(Debug, Clone, Copy)]
pub struct Sweep {
    /// What is swept, for the log.
    pub part: &'static str,
    /// Whether it is swept during maintenance, too.
    pub in_maintenance: bool,
    /// One slice of it.
    pub run: fn(&mut Transaction<'_>) -> Applied<()>,
}

impl Feature {
    /// A feature without hooks.
    pub const NONE: Self = Self {
        admit: None,
        judge: None,
        on_enqueue: None,
        on_stored: None,
        after_enqueue: None,
        on_available: None,
        on_release: None,
        before_claim: None,
        may_claim: None,
        on_empty_claim: None,
        on_transition: None,
        on_failure: None,
        after_command: None,
        before_commit: None,
        sweep: None,
        prune: None,
        reset: None,
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
