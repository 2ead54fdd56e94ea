//! What an operator asks and orders beside the protocol's own calls (extensions section 19): the rows behind `/admin`.

use ojs_model::Timestamp;

use crate::error::Result;
use crate::features::pools::records::Pool;
use crate::features::tenants::records::Usage;
use crate::kernel::job::JobView;
use crate::store::listing::ListPlace;
use crate::store::record::{RecordTables, Records, record};
use crate::store::rows::{Counts, QueueRow};

/// Most jobs counted one by one for the total of a filtered list: bounds what one look at a list costs.
pub const MAX_COUNTED: usize = 10_000;

/// Nothing is handed out, promoted or fired; jobs are still accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maintenance {
    /// Why, in the operator's words.
    pub reason: String,
    /// Since when, milliseconds.
    pub since: i64,
    /// When it is expected to end; 0 when it is not known.
    pub until: i64,
}

record! {
    /// [`Maintenance`] as stores keep it: one record, or none.
    #[derive(Debug, Clone)]
    pub struct MaintenanceRow in "maintenance" {
        key ("one");
        remember Everything;
        /// Always true.
        pub one: bool,
        /// Why.
        pub reason: String,
        /// Since when.
        pub since: i64,
        /// When it is expected to end.
        pub until: i64,
    }
}

/// Maintenance.
pub trait MaintenanceTables: RecordTables {
    /// The current maintenance. Asked by every claim: connections keep it in memory.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn maintenance(&mut self) -> Result<Option<Maintenance>> {
        let row: Option<MaintenanceRow> = Records::of(self).get(&true)?;
        Ok(row.map(|row| Maintenance { reason: row.reason, since: row.since, until: row.until }))
    }

    /// Begins or ends maintenance.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn set_maintenance(&mut self, maintenance: Option<&Maintenance>) -> Result<()> {
        match maintenance.cloned() {
            Some(Maintenance { reason, since, until }) => {
                Records::of(self).put(&MaintenanceRow { one: true, reason, since, until })
            }
            None => Records::<MaintenanceRow, _>::of(self).delete(&true),
        }
    }
}

impl<T: RecordTables + ?Sized> MaintenanceTables for T {}

/// A page of jobs.
#[derive(Debug, Clone)]
pub struct JobPage {
    /// The page.
    pub jobs: Vec<JobView>,
    /// How many there are; at least so many when the count would have gone beyond [`MAX_COUNTED`].
    pub total: usize,
    /// Whether there are more behind the page.
    pub has_more: bool,
    /// Where the list goes on, when it does.
    pub next: Option<ListPlace>,
    /// False when the bound of a look ended the page: further rows may belong to the page and to the total.
    pub is_complete: bool,
}

/// One step along a list: a page by cursor, without a count.
#[derive(Debug, Clone)]
pub struct JobStep {
    /// The jobs; a page may be short, or empty, and go on all the same.
    pub jobs: Vec<JobView>,
    /// Where the list goes on, when it does.
    pub next: Option<ListPlace>,
    /// False when the bound of a look ended the page before it was full.
    pub is_complete: bool,
}

/// What `/metrics` shows beside its counters.
#[derive(Debug, Clone, Default)]
pub struct Gauges {
    /// Queues with their counts.
    pub queues: Vec<(QueueRow, Counts)>,
    /// Workers that hold jobs, by number of the queue.
    pub busy: Vec<(i64, i64)>,
    /// Workers that are known.
    pub workers: usize,
    /// Those of them that send heartbeats and have been silent for a while.
    pub stale: usize,
    /// Dead letters.
    pub dead: usize,
    /// Active jobs that have reported progress and then nothing for a while.
    pub stalled: usize,
    /// When.
    pub now: Timestamp,
    /// Tenants with what they have, those with the most jobs first.
    pub tenants: Vec<(String, Usage)>,
    /// Pools with their queues.
    pub pools: Vec<Pool>,
}

/// Active jobs of one queue that one worker holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Number of the queue.
    pub queue: i64,
    /// Number of the worker.
    pub worker: i64,
    /// How many.
    pub jobs: usize,
}

/// Who holds jobs.
pub trait AdminTables {
    /// One entry for each queue and worker that have active jobs in common.
    fn holders(&mut self) -> Result<Vec<Holder>>;
}
