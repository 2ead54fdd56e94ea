//! What is asked of workflows.
use ojs_model::workflow::NewWorkflow;
use ojs_model::{JobId, OjsError};

use crate::error::Applied;
use crate::features::workflows::records::{WorkflowFilter, WorkflowRow, WorkflowView};
use crate::features::workflows::rules::view;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::store::tables::Tables;

/// Store a workflow and start its first steps.
#[derive(Debug, Clone)]
pub struct CreateWorkflow(pub NewWorkflow);

impl Command for CreateWorkflow {
    type Reply = WorkflowView;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<WorkflowView> {
        transaction.create_workflow(&self.0)
    }

    fn weight(&self) -> usize {
        self.0.steps.len()
    }
}

/// Cancel a workflow: what has not started never does.
#[derive(Debug, Clone)]
pub struct CancelWorkflow(pub JobId);

impl Command for CancelWorkflow {
    type Reply = WorkflowView;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<WorkflowView> {
        transaction.cancel_workflow(self.0)
    }
}

/// One workflow with its steps.
#[derive(Debug, Clone)]
pub struct GetWorkflow(pub JobId);

impl Query for GetWorkflow {
    type Reply = WorkflowView;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<WorkflowView> {
        let seen = tables.workflow(self.0)?;
        match seen.filter(|row| tables.names().scope.sees(row.tenant)) {
            Some(row) => Ok(view(tables, row)?),
            None => Err(OjsError::not_found("workflow", &self.0.to_string()).into()),
        }
    }
}

/// A page of workflows, the newest first; those inside another workflow are its steps and not listed.
#[derive(Debug, Clone)]
pub struct ListWorkflows(pub WorkflowFilter);

impl Query for ListWorkflows {
    /// The workflows of the page, and whether there is another page.
    type Reply = (Vec<WorkflowRow>, bool);

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let tenant = tables.names().scope.num().or(self.0.tenant);
        let mut workflows = tables.list_workflows(&WorkflowFilter { tenant, ..self.0 })?;
        let has_more = workflows.len() > self.0.limit;
        workflows.truncate(self.0.limit);
        Ok((workflows, has_more))
    }

    fn is_search(&self) -> bool {
        true
    }
}
