//! What operators order and ask beside the protocol's own calls (extensions section 19).
use crate::error::Applied;
use crate::features::admin::filter::Search;
use crate::features::admin::records::{Gauges, JobPage, JobStep, Maintenance};
use crate::features::admin::rules;
pub(crate) use crate::features::admin::rules::walk;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::store::rows::{Directive, JobFilter, WorkerRow};
use crate::store::tables::Tables;

/// Begin or end maintenance.
#[derive(Debug, Clone)]
pub struct Maintain(pub Option<Maintenance>);

impl Command for Maintain {
    /// What holds now.
    type Reply = Option<Maintenance>;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Self::Reply> {
        transaction.maintain(self.0.as_ref())?;
        Ok(self.0.clone())
    }
}

/// Forget a worker that is silent, and hand its jobs out again.
#[derive(Debug, Clone)]
pub struct DropWorker(pub String);

impl Command for DropWorker {
    /// How many jobs were handed back.
    type Reply = usize;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<usize> {
        transaction.drop_worker(&self.0)
    }
}

/// Tell a worker at its next heartbeat what to do.
#[derive(Debug, Clone)]
pub struct Direct {
    /// The worker's id.
    pub worker: String,
    /// What it shall do.
    pub directive: Directive,
}

impl Command for Direct {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        transaction.direct(&self.worker, self.directive)
    }
}

/// A page of jobs and how many there are.
#[derive(Debug, Clone)]
pub struct ListJobs(pub JobFilter);

impl Query for ListJobs {
    type Reply = JobPage;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<JobPage> {
        rules::list_jobs(tables, &self.0)
    }

    fn is_search(&self) -> bool {
        true
    }
}

/// A page of jobs by cursor: it looks at a bounded number of rows and counts nothing.
#[derive(Debug, Clone)]
pub struct StepJobs(pub JobFilter);

impl Query for StepJobs {
    type Reply = JobStep;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<JobStep> {
        rules::step_jobs(tables, &self.0)
    }

    fn is_search(&self) -> bool {
        true
    }
}

/// A page of a search by cursor: it looks at a bounded number of jobs, and of bytes in them, and counts nothing.
#[derive(Debug, Clone)]
pub struct SearchJobs(pub JobFilter, pub Search);

impl Query for SearchJobs {
    type Reply = JobStep;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<JobStep> {
        rules::search_jobs(tables, &self.0, &self.1)
    }

    fn is_search(&self) -> bool {
        true
    }
}

/// All workers by id, and the number of jobs that each holds.
#[derive(Debug, Clone)]
pub struct ListWorkers;

impl Query for ListWorkers {
    type Reply = Vec<(WorkerRow, usize)>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        Ok(tables.workers()?)
    }
}

/// Whether there is maintenance.
#[derive(Debug, Clone)]
pub struct GetMaintenance;

impl Query for GetMaintenance {
    type Reply = Option<Maintenance>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        Ok(tables.maintenance()?)
    }
}

/// What `/metrics` shows beside its counters.
#[derive(Debug, Clone)]
pub struct ReadGauges {
    /// The time, milliseconds.
    pub now: i64,
}

impl Query for ReadGauges {
    type Reply = Gauges;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Gauges> {
        Ok(rules::gauges(tables, self.now)?)
    }
}
