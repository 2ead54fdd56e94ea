//! The progress of a workflow: what its steps add up to (extensions section 20).
//!
//! | shape | progress |
//! |---|---|
//! | chain | completed steps and the fraction of the current one, by all steps |
//! | group | the mean of all steps |
//! | batch | ended jobs by all jobs |
use std::sync::Arc;

use ojs_model::workflow::Shape;
use ojs_model::{JobId, OjsError};

use crate::error::{Applied, Result};
use crate::features::progress::board::Board;
use crate::features::progress::rules::standing;
use crate::features::workflows::records::{StepRow, StepState, WorkflowRow, WorkflowState};
use crate::kernel::typed::Query;
use crate::store::tables::Tables;

/// Workflows within workflows that are looked at: more than can be enqueued.
const MAX_DEPTH: usize = 32;

/// The progress of a workflow.
#[derive(Debug, Clone)]
pub struct WorkflowProgress {
    /// How its steps hang together.
    pub shape: Shape,
    /// Where it is.
    pub state: WorkflowState,
    /// From 0 to 1.
    pub fraction: f64,
    /// Its steps in order, callbacks left out.
    pub steps: Vec<StepProgress>,
}

/// The progress of a step.
#[derive(Debug, Clone)]
pub struct StepProgress {
    /// Its place.
    pub index: i64,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its job, once started.
    pub job: Option<JobId>,
    /// The state of its job; before there is one, that of the step.
    pub state: &'static str,
    /// From 0 to 1; `None` when it has reported nothing and has not completed.
    pub fraction: Option<f64>,
}

/// The progress of a workflow, with what this process has not written yet.
#[derive(Debug, Clone)]
pub struct GetWorkflowProgress {
    /// The workflow.
    pub workflow: JobId,
    /// What is not written yet.
    pub board: Arc<Board>,
}

impl Query for GetWorkflowProgress {
    type Reply = WorkflowProgress;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<WorkflowProgress> {
        let row = tables.workflow(self.workflow)?.filter(|row| tables.names().scope.sees(row.tenant));
        let row = row.ok_or_else(|| OjsError::not_found("workflow", &self.workflow.to_string()))?;
        Ok(of_workflow(tables, &self.board, row, 0)?)
    }
}

fn of_workflow(tables: &mut dyn Tables, board: &Board, row: WorkflowRow, depth: usize) -> Result<WorkflowProgress> {
    let mut steps = Vec::new();
    let mut ended = 0;
    for step in tables.steps(row.num, 0)? {
        ended += usize::from(step.state.is_terminal());
        steps.push(of_step(tables, board, step, depth)?);
    }
    // A workflow has at least one step.
    let total = steps.len().max(1) as f64;
    let fraction = match row.shape {
        _ if row.state == WorkflowState::Completed => 1.0,
        Shape::Batch => ended as f64 / total,
        // Steps of a chain that are not current have the fraction 0 or 1. The sum of no numbers is -0.0, hence the 0.0.
        _ => (0.0 + steps.iter().filter_map(|step| step.fraction).sum::<f64>()) / total,
    };
    Ok(WorkflowProgress { shape: row.shape, state: row.state, fraction, steps })
}

fn of_step(tables: &mut dyn Tables, board: &Board, step: StepRow, depth: usize) -> Result<StepProgress> {
    let (mut state, mut fraction) = (step.state.as_str(), None);
    if step.state == StepState::Completed {
        fraction = Some(1.0);
    } else if let Some(id) = step.job {
        if let Some(row) = tables.row(id)? {
            state = row.state.as_str();
            fraction = standing(tables, board, row)?.progress.and_then(|progress| progress.fraction);
        }
    } else if step.child != 0
        && depth < MAX_DEPTH
        && let Some(child) = tables.workflow_by_num(step.child)?
    {
        fraction = Some(of_workflow(tables, board, child, depth + 1)?.fraction);
    }
    Ok(StepProgress { index: step.index, name: step.name, job: step.job, state, fraction })
}
