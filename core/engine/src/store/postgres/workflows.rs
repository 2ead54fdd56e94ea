//! Workflows in PostgreSQL. Who changes a workflow holds its row: two steps that end at once are counted one after the other.
use ojs_model::JobId;
use ojs_model::workflow::Shape;
use tokio_postgres::Row;

use super::PostgresTables;
use super::params::uuid;
use super::rows::{get, job_id, optional_id, word};
use crate::error::Result;
use crate::features::workflows::records::{StepRow, StepState, WorkflowFilter, WorkflowRow, WorkflowState, WorkflowTables};

fn read_workflow(row: &Row) -> Result<WorkflowRow> {
    Ok(WorkflowRow {
        num: get(row, 0)?,
        id: job_id(row, 1)?,
        shape: word(row, 2, Shape::from_number)?,
        name: get(row, 3)?,
        state: word(row, 4, WorkflowState::from_number)?,
        total: get(row, 5)?,
        completed: get(row, 6)?,
        ended: get(row, 7)?,
        callbacks_left: get(row, 8)?,
        callback_failed: get(row, 9)?,
        parent: get(row, 10)?,
        parent_step: get(row, 11)?,
        inherited: get(row, 12)?,
        created_at: get(row, 13)?,
        started_at: get(row, 14)?,
        finished_at: get(row, 15)?,
    })
}

fn read_step(row: &Row) -> Result<StepRow> {
    Ok(StepRow {
        workflow: get(row, 0)?,
        index: get(row, 1)?,
        name: get(row, 2)?,
        state: word(row, 3, StepState::from_number)?,
        request: get(row, 4)?,
        child: get(row, 5)?,
        job: optional_id(row, 6)?,
        after: get(row, 7)?,
        result: get(row, 8)?,
        finished_at: get(row, 9)?,
    })
}

impl WorkflowTables for PostgresTables {
    fn insert_workflow(&mut self, row: &mut WorkflowRow) -> Result<bool> {
        let (id, shape, state) = (uuid(row.id), row.shape as i64, row.state as i64);
        let made = self.query(
            sql!("insert_workflow"),
            &[
                &id,
                &shape,
                &row.name,
                &state,
                &row.total,
                &row.completed,
                &row.ended,
                &row.callbacks_left,
                &row.callback_failed,
                &row.parent,
                &row.parent_step,
                &row.inherited,
                &row.created_at,
                &row.started_at,
                &row.finished_at,
            ],
        )?;
        if let Some(made) = made.first() {
            row.num = get(made, 0)?;
        }
        Ok(!made.is_empty())
    }

    fn workflow(&mut self, id: JobId) -> Result<Option<WorkflowRow>> {
        let statement = if self.writes() { sql!("lock_workflow_by_id") } else { sql!("workflow_by_id") };
        self.query(statement, &[&uuid(id)])?.first().map(read_workflow).transpose()
    }

    fn workflow_by_num(&mut self, num: i64) -> Result<Option<WorkflowRow>> {
        let statement = if self.writes() { sql!("lock_workflow_by_num") } else { sql!("workflow_by_num") };
        self.query(statement, &[&num])?.first().map(read_workflow).transpose()
    }

    fn update_workflow(&mut self, row: &WorkflowRow) -> Result<()> {
        let state = row.state as i64;
        self.execute(
            sql!("update_workflow"),
            &[
                &row.num,
                &state,
                &row.completed,
                &row.ended,
                &row.callbacks_left,
                &row.callback_failed,
                &row.inherited,
                &row.started_at,
                &row.finished_at,
            ],
        )
        .map(drop)
    }

    fn put_step(&mut self, row: &StepRow) -> Result<()> {
        let (state, job) = (row.state as i64, row.job.map(uuid));
        self.execute(
            sql!("put_step"),
            &[
                &row.workflow,
                &row.index,
                &row.name,
                &state,
                &row.request,
                &row.child,
                &job,
                &row.after,
                &row.result,
                &row.finished_at,
            ],
        )
        .map(drop)
    }

    fn step(&mut self, workflow: i64, index: i64) -> Result<Option<StepRow>> {
        self.query(sql!("step"), &[&workflow, &index])?.first().map(read_step).transpose()
    }

    fn steps(&mut self, workflow: i64, from: i64) -> Result<Vec<StepRow>> {
        self.query(sql!("steps"), &[&workflow, &from])?.iter().map(read_step).collect()
    }

    fn list_workflows(&mut self, filter: &WorkflowFilter) -> Result<Vec<WorkflowRow>> {
        let state = filter.state.map(|state| state as i64);
        let (most, skip) = (super::limit(filter.limit + 1), super::limit(filter.offset));
        self.query(sql!("list_workflows"), &[&state, &most, &skip])?.iter().map(read_workflow).collect()
    }

    fn prune_workflows(&mut self, before: i64, limit: usize) -> Result<()> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.execute(sql!("prune_workflows"), &[&before, &limit]).map(drop)
    }
}
