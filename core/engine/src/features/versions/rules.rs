//! Which version goes to which worker.
//!
//! An available job with a version does not stand in the line of its queue but in one of its own, with the other jobs
//! of its type and version there. So a claim passes over no job that its worker cannot run, however many wait: it asks
//! which lines there are, and reads the heads of those that the worker runs.
use std::sync::Arc;

use ojs_model::NewJob;

use crate::error::{Applied, StoreError};
use crate::kernel::admission::Admission;
use crate::kernel::claiming::{Claim, Claiming};
use crate::kernel::handlers::Handlers;
use crate::kernel::holds::Holds;
use crate::kernel::job::{Body, JobRow, Line};
use crate::kernel::transaction::Transaction;
use crate::store::heads::Heads;
use crate::store::rows::WorkerRow;

impl Transaction<'_> {
    /// Gives jobs the versions that the rules of their types ask for, and notes that storing jobs notes a queue as
    /// well: the first time that it gets a job with a version.
    pub(crate) fn admit_versions(&mut self, jobs: &[Arc<NewJob>], admission: &mut Admission) -> Applied<()> {
        self.route(jobs, admission)?;
        let routed = admission.filled.clone();
        let jobs = routed.as_deref().unwrap_or(jobs);
        for job in jobs.iter().filter(|job| job.version.is_some()) {
            if admission.makes_more {
                break;
            }
            admission.makes_more = match self.tables.find_queue(&job.queue)? {
                Some(queue) => !self.tables.has_versions(queue.num)?,
                None => true,
            };
        }
        Ok(())
    }

    /// Puts an available job that has a version into the line of its version.
    pub(crate) fn join_version_line(&mut self, row: &mut JobRow) -> Result<(), StoreError> {
        if row.version == 0 {
            return Ok(());
        }
        row.holds = row.holds.with(Holds::VERSION);
        if !self.tables.has_versions(row.queue)? {
            self.tables.note_versions(row.queue, self.now.as_millis())?;
        }
        Ok(())
    }

    /// Notes what the worker of a claim runs: what the claim says, else what the worker has declared in a heartbeat.
    /// When neither says anything it runs every version.
    pub(crate) fn note_handlers(&mut self, claim: &Claim, worker: Option<&WorkerRow>) {
        self.features.runs = claim.handlers.clone();
        if self.features.runs.is_none()
            && let Some(declared) = worker.and_then(|worker| Handlers::of_worker(&worker.info))
        {
            // It may be called for a job that it does not run, so others are called as well.
            self.is_picky = true;
            self.features.runs = Some(Arc::new(declared));
        }
    }

    /// Adds jobs that have a version to those of a queue that have none, and keeps the best.
    pub(crate) fn add_versions(
        &mut self,
        claiming: &Claiming<'_>,
        queue: i64,
        wanted: usize,
        ready: &mut Vec<(JobRow, Body)>,
    ) -> Result<(), StoreError> {
        if !self.tables.has_versions(queue)? {
            return Ok(());
        }
        let lines = self.lines_for(claiming, queue)?;
        if !lines.is_empty() {
            ready.extend(match self.tables.names().scope.num() {
                None => self.tables.ready(&Heads::Versions { lines: &lines, limit: wanted })?,
                Some(tenant) => self.versions_of_tenant(tenant, &lines, wanted)?,
            });
            ready.sort_by_key(|(row, _)| (-row.priority, row.sort_key));
            let left = ready.len().saturating_sub(wanted);
            ready.truncate(wanted);
            if left > 0 && self.tables.is_shared() {
                // This transaction has locked what it leaves, so claims of other writers may have passed over it.
                *self.ready.entry(queue).or_default() += left;
            }
        }
        Ok(())
    }

    /// The lines of versions in a queue that the claim can take jobs from.
    pub(crate) fn lines_for(&mut self, claiming: &Claiming<'_>, queue: i64) -> Result<Vec<Line>, StoreError> {
        let mut lines = self.tables.version_lines(queue)?;
        lines.retain(|line| claiming.job_type_ids.as_ref().is_none_or(|ids| ids.contains(&line.job_type_id)));
        match self.features.runs.clone() {
            Some(runs) => self.runnable(&runs, &lines),
            None => Ok(lines),
        }
    }

    /// The lines that a worker runs.
    fn runnable(&mut self, runs: &Handlers, lines: &[Line]) -> Result<Vec<Line>, StoreError> {
        let mut found = Vec::new();
        for handler in runs.iter() {
            let Some(job_type_id) = self.tables.find_job_type_id(&handler.job_type)? else { continue };
            let fits = |line: &Line| line.job_type_id == job_type_id && handler.runs(line.version);
            found.extend(lines.iter().copied().filter(fits));
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}
