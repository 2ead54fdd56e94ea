//! Bulk operations as stores keep them.
use ojs_model::JobId;

use crate::error::Result;
use crate::features::bulk::records::Action;
use crate::kernel::scope::Scope;
use crate::store::record::{Change, Read, RecordTables, Records, Scan, record, words};

/// Most operations of one tenant, or of operators, that have not ended.
pub const MAX_OPEN: usize = 100;
/// Most operations of a store that have not ended.
pub const MAX_OPEN_IN_ALL: usize = 1_000;
/// How long an operation is kept after its end, milliseconds: 30 days.
pub const KEEP_MS: i64 = 30 * 86_400_000;
/// Most operations that are kept after their end; the oldest go first.
pub const MAX_ENDED: usize = 1_000;

/// How far an operation is.
///
/// | from | `pause` | `resume` | `cancel` | the last slice | five faults of the store |
/// |---|---|---|---|---|---|
/// | running | paused | running | cancelled | completed | failed |
/// | paused | paused | running | cancelled | | |
/// | failed | refused | running | cancelled | | |
/// | completed | refused | refused | refused | | |
/// | cancelled | refused | refused | cancelled | | |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum OperationState {
    /// A node goes on with it.
    Running = 0,
    /// It waits until it is resumed.
    Paused = 1,
    /// All jobs have been looked at.
    Completed = 2,
    /// It was stopped for good. What had been changed stays changed.
    Cancelled = 3,
    /// The store failed at it again and again. It can be resumed.
    Failed = 4,
}

words! {
    OperationState {
        Running = "running", Paused = "paused", Completed = "completed", Cancelled = "cancelled", Failed = "failed"
    }
}

/// What a number of jobs says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Relation {
    /// There are as many.
    Exact = 0,
    /// There are at least as many.
    AtLeast = 1,
    /// So many are in the states and the queue of the filter.
    About = 2,
}

words! { Relation { Exact = "eq", AtLeast = "gte", About = "about" } }

record! {
    /// An operation. Times are milliseconds since the epoch; 0 is "never".
    #[derive(Debug, Clone, PartialEq)]
    pub struct OperationRow in "bulk_operations" {
        key ("id");
        fixed ("tenant", "action", "filter", "reason", "created_by", "created_at", "expected", "relation");
        index OPEN = "bulk_operations_open" ("open_at") positive;
        index ENDED = "bulk_operations_ended" ("finished_at") positive;
        index OF_TENANT = "bulk_operations_tenant" ("tenant", "id");
        /// Its id.
        pub id: JobId,
        /// Whose jobs it changes; empty for those of all tenants.
        pub tenant: String,
        /// What it does to each job.
        pub action: Action,
        /// Which jobs, as the request said it.
        pub filter: String,
        /// Why, in the words of the one who asked for it.
        pub reason: Option<String>,
        /// The name of the key that asked for it.
        pub created_by: Option<String>,
        /// When it was asked for. Jobs that were enqueued or have ended since are not meant.
        pub created_at: i64,
        /// Jobs that it found beforehand.
        pub expected: i64,
        /// What that number is.
        pub relation: Relation,
        /// How far it is.
        pub state: OperationState,
        /// When it was asked for, while it has not ended; else 0.
        pub open_at: i64,
        /// When it ended.
        pub finished_at: i64,
        /// When it changed last.
        pub updated_at: i64,
        /// How often it has gone through all states of its filter.
        pub round: i64,
        /// The place in the list of these states.
        pub state_place: i64,
        /// The number of the job behind which it goes on.
        pub after_seq: i64,
        /// Jobs changed in this round.
        pub round_changed: i64,
        /// Jobs that the filter has found.
        pub seen: i64,
        /// Jobs that were changed.
        pub changed: i64,
        /// Jobs that could not be changed.
        pub refused: i64,
        /// Why, as JSON.
        pub refusals: String,
        /// The fault that ended it.
        pub fault: Option<String>,
        /// The node that goes on with it.
        pub holder: Option<JobId>,
        /// Until when no other node does.
        pub lease_until: i64,
    }
}

impl OperationRow {
    /// Whether a caller sees it.
    #[must_use]
    pub fn is_seen(&self, scope: &Scope) -> bool {
        scope.id().is_none_or(|id| **id == *self.tenant)
    }

    /// Its tenant; `None` for an operation on jobs of all tenants.
    #[must_use]
    pub fn of_one(&self) -> Option<&str> {
        Some(self.tenant.as_str()).filter(|tenant| !tenant.is_empty())
    }

    /// Whether a node may go on with it now.
    #[must_use]
    pub fn is_free_for(&self, node: JobId, now: i64) -> bool {
        self.state == OperationState::Running && (self.holder == Some(node) || self.lease_until <= now)
    }
}

/// Bulk operations.
pub trait OperationTables: RecordTables {
    /// One operation. `Read::Held` keeps other writers from it until the end of the transaction.
    ///
    /// # Errors
    /// A store that cannot be read, as everywhere here.
    fn operation(&mut self, id: JobId, read: Read) -> Result<Option<OperationRow>> {
        Records::of(self).find(OperationRow::KEY, &id, read)
    }

    /// Operations that have not ended, the oldest first.
    ///
    /// # Errors
    /// See [`operation`](Self::operation).
    fn open_operations(&mut self) -> Result<Vec<OperationRow>> {
        Records::of(self).scan(&Scan::over(OperationRow::OPEN).limit(2 * MAX_OPEN_IN_ALL))
    }

    /// Operations after one of them, the newest first; of one tenant, where one is named.
    ///
    /// # Errors
    /// See [`operation`](Self::operation).
    fn operations(
        &mut self,
        tenant: Option<&str>,
        state: Option<OperationState>,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Vec<OperationRow>> {
        let scan = match &tenant {
            Some(tenant) => Scan::over(OperationRow::OF_TENANT).under(tenant),
            None => Scan::over(OperationRow::KEY),
        };
        let scan = match &after {
            Some(after) => scan.after(after),
            None => scan,
        };
        let scan = match &state {
            Some(state) => scan.only("state", state),
            None => scan,
        };
        Records::of(self).scan(&scan.descending().limit(limit))
    }

    /// Writes an operation, new or known.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn put_operation(&mut self, row: &OperationRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// Removes operations that ended by this time, and the oldest of those that are too many.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn forget_operations(&mut self, ended_by: i64) -> Result<()> {
        let mut operations = Records::<OperationRow, _>::of(self);
        operations.change(&[Change::Remove(Scan::over(OperationRow::ENDED).to(&ended_by))])?;
        let surplus = Scan::over(OperationRow::ENDED).descending().skip(MAX_ENDED).limit(MAX_ENDED);
        for row in operations.scan(&surplus)? {
            operations.delete(&row.id)?;
        }
        Ok(())
    }
}

impl<T: RecordTables + ?Sized> OperationTables for T {}
