//! Pools as stores keep them.
use crate::error::Result;
use crate::store::record::{Read, RecordTables, Records, Scan, record, words};

/// Most pools of a server: every connection keeps them in memory.
pub const MAX_POOLS: usize = 100;
/// Most queues of one pool.
pub const MAX_QUEUES: usize = 1_000;
/// Largest weight of a queue.
pub const MAX_WEIGHT: i64 = 1_000_000;

/// How a claim of several queues of a pool is divided among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Strategy {
    /// One job from each queue in turn; queues without jobs are passed over.
    #[default]
    RoundRobin = 0,
    /// In proportion to the weights of the queues.
    Weighted = 1,
    /// From the queue in which the most jobs wait.
    LeastLoaded = 2,
    /// From the first queue that has jobs, in the order of the pool.
    Strict = 3,
}

words! { Strategy { RoundRobin = "round-robin", Weighted = "weighted", LeastLoaded = "least-loaded", Strict = "strict" } }

impl Strategy {
    /// Reads a word; `_` is read as `-`.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::from_word(&word.replace('_', "-"))
    }
}

record! {
    /// A pool without its queues.
    #[derive(Debug, Clone, PartialEq)]
    pub struct PoolRow in "pools" {
        key ("name");
        remember Everything;
        /// Its name.
        pub name: String,
        /// How claims are divided among its queues.
        pub strategy: Strategy,
        /// Most active jobs of all its queues together; 0 for no limit.
        pub concurrency: i64,
        /// Whether its queues are closed to a fetch that names any other queue.
        pub isolated: bool,
        /// Milliseconds within which each queue that has jobs gets its least share; 0 when no share is guaranteed.
        pub rotation_ms: i64,
        /// That share, in millionths of all jobs that the pool hands out.
        pub least_share: i64,
        /// When it was made, milliseconds.
        pub created_at: i64,
        /// When it was last changed, milliseconds.
        pub updated_at: i64,
    }
}

record! {
    /// A queue of a pool. A queue belongs to one pool at most.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct PoolQueue in "pool_queues" {
        key ("queue");
        remember Everything;
        index PLACE = "pool_queues_place" ("pool", "place");
        /// Name of the queue. There may be no such queue yet.
        pub queue: String,
        /// Name of the pool.
        pub pool: String,
        /// Its place in the pool, from 0.
        pub place: i64,
        /// Its weight, at least 1.
        pub weight: i64,
    }
}

record! {
    /// What a claim holds while it counts the active jobs of a pool that has a limit.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct PoolGate in "pool_gates" {
        key ("pool");
        /// Name of the pool.
        pub pool: String,
    }
}

/// A pool with its queues, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    /// The pool.
    pub row: PoolRow,
    /// Its queues.
    pub queues: Vec<PoolQueue>,
}

/// Pools. A store that cannot be read or written is the error of all.
#[allow(clippy::missing_errors_doc, reason = "all have the same errors, and the line above names them")]
pub trait PoolTables: RecordTables {
    /// Whether there are any. Asked by every claim: connections keep the answer in memory.
    fn has_pools(&mut self) -> Result<bool> {
        Records::<PoolRow, _>::of(self).has_any()
    }

    /// The pool of a name, without its queues.
    fn pool(&mut self, name: &str) -> Result<Option<PoolRow>> {
        Records::of(self).get(&name)
    }

    /// All pools by name, with their queues.
    fn pools(&mut self) -> Result<Vec<Pool>> {
        let rows: Vec<PoolRow> = Records::of(self).scan(&Scan::over(PoolRow::KEY))?;
        let mut pools = Vec::with_capacity(rows.len());
        for row in rows {
            let queues = self.queues_of_pool(&row.name)?;
            pools.push(Pool { row, queues });
        }
        Ok(pools)
    }

    /// The queues of a pool, in their order.
    fn queues_of_pool(&mut self, pool: &str) -> Result<Vec<PoolQueue>> {
        Records::of(self).scan(&Scan::over(PoolQueue::PLACE).under(&pool))
    }

    /// The entry of a queue in its pool.
    fn pooled(&mut self, queue: &str) -> Result<Option<PoolQueue>> {
        Records::of(self).get(&queue)
    }

    /// Writes a pool, new or known, with its queues.
    fn put_pool(&mut self, pool: &Pool) -> Result<()> {
        self.take_queues(&pool.row.name)?;
        Records::of(self).put(&pool.row)?;
        Records::of(self).put_all(&pool.queues)?;
        Records::of(self).put(&PoolGate { pool: pool.row.name.clone() })
    }

    /// Deletes a pool. Its queues stay.
    fn delete_pool(&mut self, name: &str) -> Result<()> {
        self.take_queues(name)?;
        Records::<PoolGate, _>::of(self).delete(&name)?;
        Records::<PoolRow, _>::of(self).delete(&name)
    }

    /// Removes the queues of a pool from it.
    fn take_queues(&mut self, pool: &str) -> Result<()> {
        for queue in self.queues_of_pool(pool)? {
            Records::<PoolQueue, _>::of(self).delete(&queue.queue.as_str())?;
        }
        Ok(())
    }

    /// Other writers wait here until this transaction has ended.
    fn hold_pool(&mut self, name: &str) -> Result<()> {
        let held: Option<PoolGate> = Records::of(self).find(PoolGate::KEY, &name, Read::Reserved)?;
        drop(held);
        Ok(())
    }
}

impl<T: RecordTables + ?Sized> PoolTables for T {}
