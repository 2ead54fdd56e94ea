//! What is asked of progress.
use std::sync::Arc;

use ojs_model::{JobId, JobState};

use crate::error::Applied;
use crate::features::checkpoints::commands::SaveCheckpoint;
use crate::features::progress::board::Board;
pub use crate::features::progress::board::Proof;
use crate::features::progress::records::{ProgressRow, Report};
use crate::features::progress::rules::standing;
pub use crate::features::progress::workflow::{GetWorkflowProgress, StepProgress, WorkflowProgress};
use crate::kernel::job::JobRow;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::kernel::view::visible;
use crate::store::tables::Tables;
use crate::store::wanted::Wanted;

/// Write a report. One about a job that is not active is ignored.
#[derive(Debug, Clone)]
pub struct ReportProgress {
    /// The job.
    pub job: JobId,
    /// Where it comes from.
    pub proof: Proof,
    /// What it says.
    pub report: Report,
    /// What was reported before, and kept in the memory of this process under a claim.
    pub earlier: Option<(i64, Report)>,
    /// A checkpoint that it carries.
    pub checkpoint: Option<SaveCheckpoint>,
    /// The claim under which it was accepted a moment ago, when it comes from the memory of this process.
    pub accepted_under: Option<i64>,
}

/// The progress of a job.
#[derive(Debug, Clone)]
pub struct Standing {
    /// The job.
    pub row: JobRow,
    /// Its latest attempt's; `None` when that has reported nothing.
    pub progress: Option<ProgressRow>,
    /// Whether a report was taken in.
    pub accepted: bool,
}

impl Standing {
    /// The state, as answers show it.
    #[must_use]
    pub fn state(&self) -> JobState {
        self.row.state
    }
}

impl Command for ReportProgress {
    type Reply = Standing;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Standing> {
        transaction.report_progress(self)
    }

    fn is_durable(&self) -> bool {
        self.checkpoint.is_some()
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        // Without the token, so that the row is read and held: reports of two nodes are taken in one after the other.
        wanted.job(self.job);
    }
}

/// The progress of a job, with what this process has not written yet.
#[derive(Debug, Clone)]
pub struct GetProgress {
    /// The job.
    pub job: JobId,
    /// What is not written yet.
    pub board: Arc<Board>,
}

impl Query for GetProgress {
    type Reply = Standing;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Standing> {
        let row = visible(tables, self.job)?;
        Ok(standing(tables, &self.board, row)?)
    }
}
