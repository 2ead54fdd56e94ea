//! What is asked of checkpoints.
use ojs_model::{JobId, OjsError};

use crate::error::Applied;
use crate::features::checkpoints::records::{CheckpointRow, CheckpointTables as _};
use crate::kernel::job::flag;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::kernel::view::visible;
use crate::store::tables::Tables;
use crate::store::wanted::Wanted;

/// Save the checkpoint of a job. It is durable when the command has been answered.
#[derive(Debug, Clone)]
pub struct SaveCheckpoint {
    /// The job.
    pub job: JobId,
    /// The document: JSON text of at most [`MAX_CHECKPOINT_BYTES`](ojs_model::limits::MAX_CHECKPOINT_BYTES).
    pub state: String,
    /// Token of the claim under which it is saved, when the worker knows it.
    pub lease: Option<i64>,
    /// The worker, if it named itself.
    pub worker: Option<String>,
    /// Its number, larger than that of the checkpoint before; without it the next one.
    pub sequence: Option<i64>,
    /// Only an active job can be saved, and its checkpoint goes when it ends.
    pub strict: bool,
    /// It came within a report of progress.
    pub by_report: bool,
}

impl Command for SaveCheckpoint {
    type Reply = CheckpointRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<CheckpointRow> {
        transaction.save_checkpoint(self)
    }

    fn weight(&self) -> usize {
        // A large document takes as long as many small rows.
        1 + self.state.len() / 16_384
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        // Without the token, so that the row is read and held: two saves at once count one after the other.
        wanted.job(self.job);
    }
}

/// Remove the checkpoint of a job, if it has one. The next save has the sequence 1 again.
#[derive(Debug, Clone)]
pub struct DeleteCheckpoint(pub JobId);

impl Command for DeleteCheckpoint {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        transaction.delete_checkpoint(self.0)
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        wanted.job(self.0);
    }
}

/// The checkpoint of a job.
#[derive(Debug, Clone)]
pub struct GetCheckpoint(pub JobId);

impl Query for GetCheckpoint {
    type Reply = CheckpointRow;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<CheckpointRow> {
        let row = visible(tables, self.0)?;
        let found = if row.has(flag::CHECKPOINT) { tables.checkpoint(self.0)? } else { None };
        Ok(found.ok_or_else(|| OjsError::not_found("checkpoint", &self.0.to_string()))?)
    }
}
