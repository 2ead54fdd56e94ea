//! A claim: what is wanted, and what it has found so far.
use std::sync::Arc;

use ojs_model::Timestamp;

use crate::error::StoreError;
use crate::kernel::handlers::Handlers;
use crate::kernel::job::{Body, JobRow, JobView};
use crate::store::tables::Tables;

/// Jobs wanted by a worker.
#[derive(Debug, Clone, Default)]
pub struct Claim {
    /// Queues, strictly in this order.
    pub queues: Vec<String>,
    /// At most this many.
    pub count: usize,
    /// The worker; `None` when the request names none.
    pub worker: Option<String>,
    /// Lease length in place of the job's own.
    pub visibility_ms: Option<u64>,
    /// The client reports with lease tokens: its claims are settled, released and extended by their tokens only.
    pub fenced: bool,
    /// Only jobs of these types; empty for all.
    pub types: Vec<String>,
    /// What the worker runs, by job type and version; `None` when the request does not say.
    pub handlers: Option<Arc<Handlers>>,
    /// Name of the key that the request came with.
    pub key: Option<String>,
}

/// The worker that holds a claimed job.
#[derive(Debug, Clone)]
pub(crate) struct Holder {
    /// Its number; 0 when it named none.
    pub(crate) worker: i64,
    /// Its id; empty when it named none.
    pub(crate) id: Arc<str>,
    /// Length of the lease in milliseconds; `None` for the length that the claim or the job sets.
    pub(crate) lease_ms: Option<i64>,
}

/// Chooses the holder of each job of a claim: for a claim on behalf of several workers.
pub(crate) trait Assign {
    /// Returns the worker that gets a job; `None` leaves the job in its line.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn holder(
        &mut self,
        tables: &mut dyn Tables,
        now: Timestamp,
        row: &JobRow,
        body: &Body,
    ) -> Result<Option<Holder>, StoreError>;

    /// The job for which a worker was chosen last starts there. Without this call, something else holds it back.
    fn started(&mut self) {}
}

/// The one worker that has sent a claim gets all of its jobs.
pub(crate) struct Sender(pub(crate) Holder);

impl Assign for Sender {
    fn holder(&mut self, _: &mut dyn Tables, _: Timestamp, _: &JobRow, _: &Body) -> Result<Option<Holder>, StoreError> {
        Ok(Some(self.0.clone()))
    }
}

/// A claim that is being carried out.
pub struct Claiming<'c> {
    /// What is wanted.
    pub(crate) claim: &'c Claim,
    /// Chooses the holder of each job.
    pub(crate) assign: &'c mut dyn Assign,
    /// Numbers of the job types that the claim names.
    pub(crate) job_type_ids: Option<Vec<i64>>,
    /// The jobs claimed so far.
    pub(crate) jobs: Vec<JobView>,
    /// Numbers of the queues in which it has looked for jobs.
    pub(crate) looked: Vec<i64>,
    /// The error of a queue whose settings cannot be read; such a queue gives no jobs.
    pub(crate) unreadable: Option<StoreError>,
}

/// Jobs of a queue for a claim, best first.
#[derive(Debug)]
pub struct Chosen {
    /// The jobs.
    pub(crate) jobs: Vec<(JobRow, Body)>,
    /// Whether the queue has no further job now.
    pub(crate) is_last: bool,
}

impl Claiming<'_> {
    /// Number of jobs that are still wanted.
    pub(crate) fn wanted(&self) -> usize {
        self.claim.count.saturating_sub(self.jobs.len())
    }
}
