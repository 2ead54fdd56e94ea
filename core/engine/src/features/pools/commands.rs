//! What is asked of pools.
use crate::error::Applied;
use crate::features::pools::records::Pool;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::store::rows::Counts;
use crate::store::tables::Tables;

/// Register a pool, or replace the one of its name.
#[derive(Debug, Clone)]
pub struct PutPool(pub Pool);

impl Command for PutPool {
    /// The pool as it is kept, and whether its name was known before.
    type Reply = (Pool, bool);

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Self::Reply> {
        transaction.put_pool(&self.0)
    }
}

/// Delete the pool of a name. Its queues and their jobs stay.
#[derive(Debug, Clone)]
pub struct DeletePool(pub String);

impl Command for DeletePool {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        transaction.delete_pool(&self.0)
    }
}

/// A pool with the counts of its queues, in the order of the queues.
#[derive(Debug, Clone)]
pub struct PoolView {
    /// The pool.
    pub pool: Pool,
    /// Number of each queue, 0 for one that no job has used, and its jobs by state.
    pub counts: Vec<(i64, Counts)>,
}

/// All pools by name.
#[derive(Debug, Clone)]
pub struct ListPools;

impl Query for ListPools {
    type Reply = Vec<PoolView>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Vec<PoolView>> {
        let mut views = Vec::new();
        for pool in tables.pools()? {
            let mut counts = Vec::with_capacity(pool.queues.len());
            for entry in &pool.queues {
                counts.push(match tables.find_queue(&entry.queue)? {
                    Some(queue) => (queue.num, tables.counts(queue.num)?),
                    None => (0, Counts::default()),
                });
            }
            views.push(PoolView { pool, counts });
        }
        Ok(views)
    }
}
