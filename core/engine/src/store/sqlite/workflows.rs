//! Workflows in SQLite.
use ojs_model::JobId;
use ojs_model::workflow::Shape;
use rusqlite::{OptionalExtension, Row, params};

use super::SqliteTables;
use crate::error::Result;
use crate::features::workflows::records::{StepRow, StepState, WorkflowFilter, WorkflowRow, WorkflowState, WorkflowTables};

fn out_of_range(column: usize, value: u8) -> rusqlite::Error {
    rusqlite::Error::IntegralValueOutOfRange(column, i64::from(value))
}

fn read_workflow(row: &Row<'_>) -> rusqlite::Result<WorkflowRow> {
    let (shape, state): (u8, u8) = (row.get(2)?, row.get(4)?);
    Ok(WorkflowRow {
        num: row.get(0)?,
        id: JobId::from_bytes(row.get(1)?),
        shape: Shape::from_number(shape).ok_or_else(|| out_of_range(2, shape))?,
        name: row.get(3)?,
        state: WorkflowState::from_number(state).ok_or_else(|| out_of_range(4, state))?,
        total: row.get(5)?,
        completed: row.get(6)?,
        ended: row.get(7)?,
        callbacks_left: row.get(8)?,
        callback_failed: row.get(9)?,
        parent: row.get(10)?,
        parent_step: row.get(11)?,
        inherited: row.get(12)?,
        created_at: row.get(13)?,
        started_at: row.get(14)?,
        finished_at: row.get(15)?,
    })
}

fn read_step(row: &Row<'_>) -> rusqlite::Result<StepRow> {
    let state: u8 = row.get(3)?;
    let job: Option<[u8; 16]> = row.get(6)?;
    Ok(StepRow {
        workflow: row.get(0)?,
        index: row.get(1)?,
        name: row.get(2)?,
        state: StepState::from_number(state).ok_or_else(|| out_of_range(3, state))?,
        request: row.get(4)?,
        child: row.get(5)?,
        job: job.map(JobId::from_bytes),
        after: row.get(7)?,
        result: row.get(8)?,
        finished_at: row.get(9)?,
    })
}

impl WorkflowTables for SqliteTables {
    fn insert_workflow(&mut self, row: &mut WorkflowRow) -> Result<bool> {
        let inserted = self.execute(
            include_str!("sql/insert_workflow.sql"),
            params![
                &row.id.as_bytes()[..],
                row.shape as u8,
                row.name,
                row.state as u8,
                row.total,
                row.completed,
                row.ended,
                row.callbacks_left,
                row.callback_failed,
                row.parent,
                row.parent_step,
                row.inherited,
                row.created_at,
                row.started_at,
                row.finished_at,
            ],
        )?;
        row.num = self.connection.last_insert_rowid();
        Ok(inserted > 0)
    }

    fn workflow(&mut self, id: JobId) -> Result<Option<WorkflowRow>> {
        let mut statement = self.statement(include_str!("sql/workflow_by_id.sql"))?;
        Ok(statement.query_row([&id.as_bytes()[..]], read_workflow).optional()?)
    }

    fn workflow_by_num(&mut self, num: i64) -> Result<Option<WorkflowRow>> {
        Ok(self.statement(include_str!("sql/workflow_by_num.sql"))?.query_row([num], read_workflow).optional()?)
    }

    fn update_workflow(&mut self, row: &WorkflowRow) -> Result<()> {
        let params = params![
            row.num,
            row.state as u8,
            row.completed,
            row.ended,
            row.callbacks_left,
            row.callback_failed,
            row.inherited,
            row.started_at,
            row.finished_at,
        ];
        self.execute(include_str!("sql/update_workflow.sql"), params).map(drop)
    }

    fn put_step(&mut self, row: &StepRow) -> Result<()> {
        let params = params![
            row.workflow,
            row.index,
            row.name,
            row.state as u8,
            row.request,
            row.child,
            row.job.as_ref().map(|id| &id.as_bytes()[..]),
            row.after,
            row.result,
            row.finished_at,
        ];
        self.execute(include_str!("sql/put_step.sql"), params).map(drop)
    }

    fn step(&mut self, workflow: i64, index: i64) -> Result<Option<StepRow>> {
        Ok(self.statement(include_str!("sql/step.sql"))?.query_row([workflow, index], read_step).optional()?)
    }

    fn steps(&mut self, workflow: i64, from: i64) -> Result<Vec<StepRow>> {
        let mut statement = self.statement(include_str!("sql/steps.sql"))?;
        let rows = statement.query_map([workflow, from], read_step)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn list_workflows(&mut self, filter: &WorkflowFilter) -> Result<Vec<WorkflowRow>> {
        let mut statement = self.statement(include_str!("sql/list_workflows.sql"))?;
        let state = filter.state.map(|state| state as u8);
        let rows = statement.query_map(params![state, filter.limit + 1, filter.offset], read_workflow)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn prune_workflows(&mut self, before: i64, limit: usize) -> Result<()> {
        let mut statement = self.statement(include_str!("sql/ended_workflows.sql"))?;
        let ended: Vec<i64> = statement.query_map(params![before, limit], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        drop(statement);
        for num in ended {
            self.execute(include_str!("sql/delete_steps.sql"), [num])?;
            self.execute(include_str!("sql/delete_workflow.sql"), [num])?;
        }
        Ok(())
    }
}
