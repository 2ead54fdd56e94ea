//! A claim: what is wanted, and how far it has come.
use std::sync::Arc;

use crate::error::StoreError;
use crate::features::versions::handlers::Handlers;
use crate::kernel::job::{Body, JobRow, JobView};

/// Jobs wanted by a worker.
#[derive(Debug, Clone, Default)]
pub struct Claim {
    /// Queues, strictly in this order.
    pub queues: Vec<String>,
    /// At most this many.
    pub count: usize,
    /// The worker, if it named itself.
    pub worker: Option<String>,
    /// Lease length that overrides the job's own.
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

/// A claim that is being carried out.
pub struct Claiming<'c> {
    /// What is wanted.
    pub(crate) claim: &'c Claim,
    /// Number of the worker; 0 when it named none.
    pub(crate) worker: i64,
    /// Numbers of the job types that the claim names.
    pub(crate) job_type_ids: Option<Vec<i64>>,
    /// What it has got.
    pub(crate) jobs: Vec<JobView>,
    /// Why a queue gives nothing whose settings cannot be read.
    pub(crate) unreadable: Option<StoreError>,
}

/// Jobs of a queue for a claim, best first.
#[derive(Debug)]
pub struct Chosen {
    /// The jobs.
    pub(crate) jobs: Vec<(JobRow, Body)>,
    /// Whether the queue has no more of them now.
    pub(crate) is_last: bool,
}

impl Claiming<'_> {
    /// How many jobs it still wants.
    pub(crate) fn wanted(&self) -> usize {
        self.claim.count.saturating_sub(self.jobs.len())
    }
}
