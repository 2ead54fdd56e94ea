//! What is asked of queues.
use std::collections::HashMap;

use ojs_model::OjsError;
use serde_json::{Map, Value};

use crate::error::{Applied, StoreError};
use crate::features::queue_config::records::TEMPLATE;
use crate::kernel::scope::Scope;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::store::rows::{Counts, QueuePhase, QueueRow};
use crate::store::tables::Tables;

/// Stop or start handing out the jobs of a queue.
#[derive(Debug, Clone)]
pub struct SetPaused {
    /// Name of the queue.
    pub queue: String,
    /// Whether it hands out nothing.
    pub paused: bool,
}

impl Command for SetPaused {
    type Reply = (QueueRow, Counts);

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Self::Reply> {
        transaction.set_paused(&self.queue, self.paused)
    }
}

/// Stop or start taking jobs into a queue.
#[derive(Debug, Clone)]
pub struct SetDraining {
    /// Name of the queue.
    pub queue: String,
    /// Whether it takes none.
    pub draining: bool,
}

impl Command for SetDraining {
    type Reply = (QueueRow, Counts);

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Self::Reply> {
        transaction.set_draining(&self.queue, self.draining)
    }
}

/// Set up a queue that does not exist yet.
#[derive(Debug, Clone)]
pub struct CreateQueue {
    /// Name of the queue.
    pub queue: String,
    /// What to set, in canonical names, checked.
    pub settings: Map<String, Value>,
}

impl Command for CreateQueue {
    type Reply = (QueueRow, Counts);

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Self::Reply> {
        transaction.create_queue(&self.queue, &self.settings)
    }
}

/// Change settings of a queue: what is named is set, what is null is left to the template.
#[derive(Debug, Clone)]
pub struct Configure {
    /// Name of the queue.
    pub queue: String,
    /// What to set, in canonical names, checked.
    pub settings: Map<String, Value>,
}

impl Command for Configure {
    type Reply = (QueueRow, Counts);

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Self::Reply> {
        transaction.configure(&self.queue, &self.settings)
    }
}

/// Stop a queue in which nothing runs: it hands out nothing and takes no jobs, so that it can be emptied and deleted.
#[derive(Debug, Clone)]
pub struct CloseQueue(pub String);

impl Command for CloseQueue {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        transaction.close_queue(&self.0)
    }
}

/// Take a slice of the waiting jobs out of a queue: to another, or discarded.
#[derive(Debug, Clone)]
pub struct EmptyQueue {
    /// Name of the queue.
    pub queue: String,
    /// Where they go; `None` discards them.
    pub target: Option<String>,
}

/// What came of one [`EmptyQueue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emptied {
    /// Jobs taken out.
    pub jobs: usize,
    /// Whether there may be more.
    pub has_more: bool,
}

impl Command for EmptyQueue {
    type Reply = Emptied;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Emptied> {
        transaction.empty_queue(&self.queue, self.target.as_deref())
    }
}

/// Delete a queue in which nothing waits or runs.
#[derive(Debug, Clone)]
pub struct DeleteQueue(pub String);

impl Command for DeleteQueue {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        transaction.delete_queue(&self.0)
    }
}

/// Note that an enqueue waited for room in vain.
#[derive(Debug, Clone)]
pub struct EmitFull {
    /// Name of the queue.
    pub queue: String,
    /// Type of the job.
    pub job_type: String,
}

impl Command for EmitFull {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        transaction.emit_full_after_wait(&self.queue, &self.job_type)
    }
}

/// All queues by name, the deleted ones left out.
#[derive(Debug, Clone)]
pub struct ListQueues;

impl Query for ListQueues {
    type Reply = Vec<QueueRow>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Vec<QueueRow>> {
        let mut queues = tables.queues()?;
        queues.retain(|queue| queue.phase != QueuePhase::Deleted && &*queue.name != TEMPLATE);
        if tables.names().scope != Scope::All {
            // A tenant sees the queues in which it has jobs.
            let own: HashMap<i64, Counts> = tables.visible_counts(None)?.into_iter().collect();
            queues.retain(|queue| own.get(&queue.num).is_some_and(|counts| counts.iter().any(|jobs| *jobs != 0)));
        }
        Ok(queues)
    }
}

/// All queues that were ever used, with their counts.
#[derive(Debug, Clone)]
pub struct CountQueues;

impl Query for CountQueues {
    type Reply = Vec<(QueueRow, Counts)>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        Ok(counted(tables)?)
    }
}

/// All queues that were ever used, with their counts.
pub(crate) fn counted(tables: &mut dyn Tables) -> Result<Vec<(QueueRow, Counts)>, StoreError> {
    let counts: HashMap<_, _> = tables.visible_counts(None)?.into_iter().collect();
    let with_counts = |queue: QueueRow| {
        let counts = counts.get(&queue.num).copied().unwrap_or_default();
        (queue, counts)
    };
    Ok(tables.queues()?.into_iter().map(with_counts).collect())
}

/// Jobs of a queue that the caller sees, by state; `None` when there are none.
fn seen_counts(tables: &mut dyn Tables, queue: &QueueRow) -> Result<Option<Counts>, StoreError> {
    let counts = tables.visible_counts(Some(queue.num))?.pop().map(|(_, counts)| counts);
    Ok(counts.filter(|counts| counts.iter().any(|jobs| *jobs != 0)))
}

/// One queue with its counts. A queue that was never used has the number 0.
#[derive(Debug, Clone)]
pub struct GetQueue(pub String);

impl Query for GetQueue {
    type Reply = (QueueRow, Counts);

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let unused = || QueueRow::fresh(0, &self.0, 0);
        let queue = tables.find_queue(&self.0)?.unwrap_or_else(unused);
        let counts = seen_counts(tables, &queue)?;
        // A queue in which a tenant has no jobs is one that it has not used.
        let hidden = tables.names().scope != Scope::All && counts.is_none();
        Ok((if hidden { unused() } else { queue }, counts.unwrap_or_default()))
    }
}

/// One queue that was used before.
#[derive(Debug, Clone)]
pub struct FindQueue(pub String);

impl Query for FindQueue {
    /// The queue, its counts, and when the job that has waited longest became available, milliseconds.
    type Reply = (QueueRow, Counts, Option<i64>);

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let queue = tables.find_queue(&self.0)?.ok_or_else(|| OjsError::not_found("queue", &self.0))?;
        let (counts, oldest) = (tables.counts(queue.num)?, tables.oldest_available(queue.num)?);
        Ok((queue, counts, oldest))
    }
}
