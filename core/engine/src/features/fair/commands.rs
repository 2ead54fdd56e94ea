//! What is asked of shared queues.
use std::sync::Arc;

use ojs_model::OjsError;

use crate::error::Applied;
use crate::features::fair::records::{FairQueue, Share};
use crate::features::fair::weights::Weights;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::store::tables::Tables;

/// Make a queue shared, or change how it is.
#[derive(Debug, Clone)]
pub struct PutFairness {
    /// Name of the queue. It is made when there is none.
    pub queue: String,
    /// What the key of a job is.
    pub share: Share,
    /// Weight of a key that has none of its own.
    pub default_weight: i64,
    /// Weights of keys.
    pub weights: Arc<Weights>,
}

/// A shared queue.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedView {
    /// Name of the queue.
    pub queue: Arc<str>,
    /// How it is shared.
    pub row: FairQueue,
}

impl Command for PutFairness {
    /// How the queue is shared, and whether it was before.
    type Reply = (SharedView, bool);

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Self::Reply> {
        transaction.share_queue(self)
    }
}

/// Serve the jobs of a queue in their order again.
#[derive(Debug, Clone)]
pub struct DeleteFairness(pub String);

impl Command for DeleteFairness {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        transaction.unshare_queue(&self.0)
    }
}

/// How a queue is shared.
#[derive(Debug, Clone)]
pub struct GetFairness(pub String);

impl Query for GetFairness {
    type Reply = SharedView;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<SharedView> {
        let queue = tables.find_queue(&self.0)?.ok_or_else(|| OjsError::not_found("queue", &self.0))?;
        match tables.fair_queue(queue.num)?.filter(FairQueue::is_shared) {
            Some(row) => Ok(SharedView { queue: queue.name, row }),
            None => Err(OjsError::not_found("fairness of queue", &self.0).into()),
        }
    }
}
