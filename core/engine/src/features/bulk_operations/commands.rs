//! What is asked of bulk operations.
use ojs_model::{JobId, OjsError};

use super::records::{OperationRow, OperationState, OperationTables as _};
use crate::error::Applied;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::store::record::Read;
use crate::store::tables::Tables;

/// Begin an operation.
#[derive(Debug, Clone)]
pub struct CreateOperation(pub OperationRow);

impl Command for CreateOperation {
    type Reply = OperationRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<OperationRow> {
        transaction.create_operation(&self.0)
    }
}

/// What an operator says to an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Wait.
    Pause,
    /// Go on.
    Resume,
    /// End for good.
    Cancel,
}

/// Pause, resume or cancel an operation.
#[derive(Debug, Clone, Copy)]
pub struct DirectOperation {
    /// Which one.
    pub id: JobId,
    /// What it is to do.
    pub word: Word,
}

impl Command for DirectOperation {
    type Reply = OperationRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<OperationRow> {
        transaction.direct_operation(self.id, self.word)
    }
}

/// One operation.
#[derive(Debug, Clone, Copy)]
pub struct GetOperation(pub JobId);

impl Query for GetOperation {
    type Reply = OperationRow;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<OperationRow> {
        let row = tables.operation(self.0, Read::Plain)?;
        row.filter(|row| row.is_seen(&tables.names().scope)).ok_or_else(|| unknown(self.0).into())
    }
}

/// A page of operations, the newest first.
#[derive(Debug, Clone, Default)]
pub struct ListOperations {
    /// Only those in this state.
    pub state: Option<OperationState>,
    /// Only those that are older than this one.
    pub after: Option<JobId>,
    /// At most so many.
    pub limit: usize,
}

impl Query for ListOperations {
    type Reply = Vec<OperationRow>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let tenant = tables.names().scope.id().cloned();
        Ok(tables.operations(tenant.as_deref(), self.state, self.after, self.limit)?)
    }

    fn is_search(&self) -> bool {
        true
    }
}

pub(crate) fn unknown(id: JobId) -> OjsError {
    OjsError::not_found("bulk operation", &id.to_string())
}
