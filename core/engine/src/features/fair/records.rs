//! Shared queues: what stores keep of them, and the lines of keys.
//!
//! [`JobRow::fair`] holds the number of the key of an available job. An index sorts the jobs of a queue by priority,
//! key and ticket. With it a claim finds the next keys, and the first jobs of each, and reads no other jobs.
use crate::error::Result;
use crate::features::fair::weights::StoredWeights;
pub(crate) use crate::features::fair::weights::weight;
use crate::store::record::{Read, RecordTables, Records, Scan, record, words};

/// What the key of a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Share {
    /// Nothing: the queue is not shared any more.
    Off = 0,
    /// The tenant of the job.
    #[default]
    Tenant = 1,
    /// The job's `fairness_key`, and its tenant where it names none.
    Key = 2,
}

words! { Share { Off = "off", Tenant = "tenant", Key = "key" } }

impl Share {
    /// Reads the word of a request, which cannot be `off`.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::from_word(word).filter(|share| *share != Self::Off)
    }
}

record! {
    /// A queue that is shared, or was. Claims look for lines of keys in such queues only.
    #[derive(Debug, Clone, PartialEq)]
    pub struct FairQueue in "fair_queues" {
        key ("queue");
        remember Everything;
        index SORTING = "fair_queues_sorting" ("sorting") positive;
        /// Number of the queue.
        pub queue: i64,
        /// What the key of a job is.
        pub share: Share,
        /// Weight of a key that has none of its own.
        pub default_weight: i64,
        /// Weights of keys.
        pub weights: StoredWeights,
        /// 1 while jobs may stand in lines that are not theirs: the queue has just become shared, or has ceased to be.
        pub sorting: i64,
        /// When it was first shared, milliseconds.
        pub created_at: i64,
        /// When that was last changed, milliseconds.
        pub updated_at: i64,
    }
}

impl FairQueue {
    /// Whether the queue is shared now.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.share != Share::Off
    }
}

/// Shared queues. Connections keep them in memory. A store that cannot be read or written is the error of all.
#[allow(clippy::missing_errors_doc, reason = "all have the same errors, and the line above names them")]
pub trait FairQueueTables: RecordTables {
    /// Whether any queue is shared, or was.
    fn has_fair_queues(&mut self) -> Result<bool> {
        Records::<FairQueue, _>::of(self).has_any()
    }

    /// How a queue is shared; `None` for one that never was.
    fn fair_queue(&mut self, queue: i64) -> Result<Option<FairQueue>> {
        Records::of(self).get(&queue)
    }

    /// The same as it is now, held until the end of the transaction: who writes the row keeps what others have changed.
    fn fair_queue_held(&mut self, queue: i64) -> Result<Option<FairQueue>> {
        Records::of(self).find(FairQueue::KEY, &queue, Read::Held)
    }

    /// All queues that are shared, or were.
    fn fair_queues(&mut self) -> Result<Vec<FairQueue>> {
        Records::of(self).scan(&Scan::over(FairQueue::KEY))
    }

    /// Those in which jobs may stand in lines that are not theirs.
    fn unsorted_queues(&mut self) -> Result<Vec<FairQueue>> {
        Records::of(self).scan(&Scan::over(FairQueue::SORTING))
    }

    /// Writes how a queue is shared.
    fn put_fair_queue(&mut self, row: &FairQueue) -> Result<()> {
        Records::of(self).put(row)
    }
}

impl<T: RecordTables + ?Sized> FairQueueTables for T {}

/// A key that has jobs in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FairKey {
    /// The key, as [`JobRow::fair`].
    pub key: i64,
    /// Number of the tenant to whom all its jobs belong.
    pub tenant: i64,
}

/// Lines of keys. All see what their own transaction has changed.
pub trait FairTables {
    /// The smallest rank, from `from` up to and without `to`, that jobs in the lines of a queue have.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn fair_rank(&mut self, queue: i64, from: i32, to: i32) -> Result<Option<i32>>;

    /// The next keys after `after` that have jobs of a rank in a queue, in the order of their numbers. It costs one
    /// look-up for each, however many jobs they have.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn fair_keys(&mut self, queue: i64, rank: i32, after: i64, limit: usize) -> Result<Vec<FairKey>>;
}
