//! A workflow as stores keep it: a row with counters, and a row for each step.
use ojs_model::workflow::Shape;
use ojs_model::{JobId, JobState};

use crate::error::{Result, StoreError};
use crate::store::record::{Change, Read, RecordTables, Records, Scan, record, words};

/// Where a workflow is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum WorkflowState {
    /// Inside another workflow whose turn has not come.
    Waiting = 0,
    /// Under way.
    Running = 1,
    /// Ended well: terminal.
    Completed = 2,
    /// Ended badly: terminal.
    Failed = 3,
    /// Cancelled: terminal.
    Cancelled = 4,
}

/// Where a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum StepState {
    /// Its turn has not come.
    Waiting = 0,
    /// Its job, or its workflow, was started.
    Started = 1,
    /// Succeeded.
    Completed = 2,
    /// Failed for good.
    Failed = 3,
    /// Cancelled, or never started because an earlier one failed.
    Cancelled = 4,
}

words! {
    WorkflowState {
        Waiting = "pending", Running = "running", Completed = "completed", Failed = "failed", Cancelled = "cancelled",
    }
}
words! {
    StepState {
        Waiting = "waiting", Started = "pending", Completed = "completed", Failed = "failed", Cancelled = "cancelled",
    }
}

impl WorkflowState {
    /// True when nothing moves it on.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl StepState {
    /// True when nothing moves it on.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

record! {
    /// A workflow. Times are milliseconds since the epoch; 0 is "never".
    #[derive(Debug, Clone, PartialEq)]
    pub struct WorkflowRow in "workflows" {
        numbered ("num");
        fixed ("id", "shape", "name", "total", "parent", "parent_step", "created_at");
        unique ID = "workflows_id" ("id");
        index ENDED = "workflows_ended" ("finished_at") positive;
        /// Number within the store.
        pub num: i64,
        /// Its id.
        pub id: JobId,
        /// How its steps hang together.
        pub shape: Shape,
        /// For people.
        pub name: Option<String>,
        /// Where it is.
        pub state: WorkflowState,
        /// Steps in all, callbacks not counted.
        pub total: i64,
        /// Steps that succeeded.
        pub completed: i64,
        /// Steps that ended, well or not.
        pub ended: i64,
        /// Callbacks under way.
        pub callbacks_left: i64,
        /// A callback failed.
        pub callback_failed: bool,
        /// Number of the workflow whose step this is; 0 for none.
        pub parent: i64,
        /// Index of that step.
        pub parent_step: i64,
        /// Results that its first steps get, as a JSON array.
        pub inherited: String,
        /// Creation.
        pub created_at: i64,
        /// Start of the first step.
        pub started_at: i64,
        /// End.
        pub finished_at: i64,
        /// Number of its tenant; 0 for the default one.
        pub tenant: i64 = 0,
    }
}

record! {
    /// A step, or a callback of a batch.
    #[derive(Debug, Clone, PartialEq)]
    pub struct StepRow in "steps" {
        key ("workflow", "idx");
        fixed ("name", "request", "child", "after");
        /// Number of its workflow.
        pub workflow: i64,
        /// Place among the steps; callbacks are −1, −2, −3 in the order of their kinds.
        pub index: i64 as "idx",
        /// Its name, if it has one.
        pub name: Option<String>,
        /// Where it is.
        pub state: StepState,
        /// Enqueue request of its job; empty for a workflow.
        pub request: String,
        /// Number of its workflow; 0 for a job.
        pub child: i64,
        /// Its job, once started.
        pub job: Option<JobId>,
        /// Indexes of the steps it waits for, as a JSON array.
        pub after: String,
        /// Result as JSON; `{"error":…}` after a failure; empty before the end.
        pub result: String,
        /// End.
        pub finished_at: i64,
    }
}

impl StepRow {
    /// Indexes of the steps it waits for.
    ///
    /// # Errors
    /// [`StoreError::Failed`] when they cannot be read: a step that waits for nothing would start at once.
    pub fn waits_for(&self) -> Result<Vec<i64>> {
        let fault =
            |error| format!("what step {} of workflow number {} waits for cannot be read: {error}", self.index, self.workflow);
        serde_json::from_str(&self.after).map_err(|error| StoreError::Failed(fault(error)))
    }
}

/// A workflow with everything needed to print it.
#[derive(Debug, Clone)]
pub struct WorkflowView {
    /// The workflow.
    pub row: WorkflowRow,
    /// Its steps and callbacks.
    pub steps: Vec<StepView>,
}

/// A step with everything needed to print it.
#[derive(Debug, Clone)]
pub struct StepView {
    /// The step.
    pub row: StepRow,
    /// State and start of its job, while there is one.
    pub job: Option<(JobState, i64)>,
}

/// Which workflows to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkflowFilter {
    /// Only the tenant of this number.
    pub tenant: Option<i64>,
    /// Only this state.
    pub state: Option<WorkflowState>,
    /// Page size.
    pub limit: usize,
    /// Rows to skip.
    pub offset: usize,
    /// Only workflows with a smaller number than this: the number of the last workflow of the page before.
    pub behind: Option<i64>,
}

/// Workflows and their steps. A store that cannot be read or written is the error of all.
#[allow(clippy::missing_errors_doc, reason = "all have the same errors, and the line above names them")]
pub trait WorkflowTables: RecordTables {
    /// Stores a workflow and sets its number; false when the id exists.
    fn insert_workflow(&mut self, row: &mut WorkflowRow) -> Result<bool> {
        let number = Records::of(self).insert(row)?;
        row.num = number.unwrap_or(row.num);
        Ok(number.is_some())
    }

    /// The workflow of an id. A transaction that writes holds it until its end: two steps that end at once are
    /// counted one after the other.
    fn workflow(&mut self, id: JobId) -> Result<Option<WorkflowRow>> {
        Records::of(self).find(WorkflowRow::ID, &id, Read::Held)
    }

    /// The workflow of a number, held in the same way.
    fn workflow_by_num(&mut self, num: i64) -> Result<Option<WorkflowRow>> {
        Records::of(self).find(WorkflowRow::KEY, &num, Read::Held)
    }

    /// Writes a workflow.
    fn update_workflow(&mut self, row: &WorkflowRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// Writes a step, new or known.
    fn put_step(&mut self, row: &StepRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// One step.
    fn step(&mut self, workflow: i64, index: i64) -> Result<Option<StepRow>> {
        Records::of(self).get(&(workflow, index))
    }

    /// Steps with an index of at least `from`, in order.
    fn steps(&mut self, workflow: i64, from: i64) -> Result<Vec<StepRow>> {
        Records::of(self).scan(&Scan::over(StepRow::KEY).under(&workflow).from(&from))
    }

    /// A page of workflows that are not part of another one, the newest first, and one more row when there are more.
    fn list_workflows(&mut self, filter: &WorkflowFilter) -> Result<Vec<WorkflowRow>> {
        let newest = Scan::over(WorkflowRow::KEY).descending().limit(filter.limit + 1).skip(filter.offset);
        let mut wanted = newest.only("parent", &0_i64);
        if let Some(num) = &filter.behind {
            wanted = wanted.after(num);
        }
        if let Some(tenant) = &filter.tenant {
            wanted = wanted.only("tenant", tenant);
        }
        if let Some(state) = &filter.state {
            wanted = wanted.only("state", state);
        }
        Records::of(self).scan(&wanted)
    }

    /// Deletes workflows that ended before a time, at most `limit`, with their steps.
    fn prune_workflows(&mut self, before: i64, limit: usize) -> Result<()> {
        let ended: Vec<WorkflowRow> = Records::of(self).take(&Scan::over(WorkflowRow::ENDED).below(&before).limit(limit))?;
        let steps = ended.iter().map(|flow| Change::Remove(Scan::over(StepRow::KEY).under(&flow.num)));
        Records::<StepRow, _>::of(self).change(&steps.collect::<Vec<_>>())
    }
}

impl<T: RecordTables + ?Sized> WorkflowTables for T {}
