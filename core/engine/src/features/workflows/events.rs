//! Events of workflows with the members that the catalogue requires (extensions section 2).
use std::fmt::Write;

use ojs_model::json;

use crate::error::StoreError;
use crate::features::workflows::records::{StepRow, StepState, WorkflowRow, WorkflowState};
use crate::kernel::emit::job_type_of;
use crate::kernel::transaction::Transaction;

type Stored<T> = Result<T, StoreError>;

impl Transaction<'_> {
    pub(crate) fn emit_workflow(&mut self, event: &str, flow: &WorkflowRow, more: &str) {
        let mut extra = String::new();
        json::push_text(&mut extra, "workflow_id", &flow.id.to_string());
        json::push_text(&mut extra, "workflow_name", flow.name.as_deref().unwrap_or_default());
        extra.push_str(more);
        self.journal.of_tenant(flow.tenant, event, self.now, &flow.id.to_string(), &extra);
    }

    pub(crate) fn emit_step_ended(&mut self, flow: &WorkflowRow, step: &StepRow) -> Stored<()> {
        let started = match step.job {
            Some(id) => self.tables.row(id)?.map_or(0, |job| if job.started_at > 0 { job.started_at } else { job.created_at }),
            None if step.child != 0 => self.tables.workflow_by_num(step.child)?.map_or(0, |child| child.started_at),
            None => 0,
        };
        let mut more = String::from(",");
        more.push_str(&step_members(step, "step_id", "step_type"));
        let duration = if started > 0 { step.finished_at.saturating_sub(started) } else { 0 };
        let _ = write!(more, ",\"duration_ms\":{duration},\"steps_remaining\":{}", flow.total.saturating_sub(flow.ended));
        let _ = write!(more, ",\"state\":\"{}\"", step.state.as_str());
        self.emit_workflow("workflow.step_completed", flow, &more);
        Ok(())
    }

    pub(crate) fn emit_workflow_ended(&mut self, flow: &WorkflowRow) -> Stored<()> {
        let duration = flow.finished_at.saturating_sub(flow.started_at);
        let mut more = format!(",\"total_steps\":{},\"duration_ms\":{duration}", flow.total);
        if flow.state == WorkflowState::Failed {
            let steps = self.tables.steps(flow.num, -3)?;
            let failed = |step: &&StepRow| matches!(step.state, StepState::Failed | StepState::Cancelled);
            // The step that failed, not the steps that were cancelled because of it.
            let cause = steps.iter().find(|step| step.state == StepState::Failed).or_else(|| steps.iter().find(failed));
            if let Some(step) = cause {
                let _ = write!(more, ",{}", step_members(step, "failed_step_id", "failed_step_type"));
            }
            json::push_member(&mut more, "error", &cause.map_or("null".to_owned(), step_error));
        }
        self.emit_workflow(&format!("workflow.{}", flow.state.as_str()), flow, &more);
        Ok(())
    }
}

/// Id and type of a step: its name or else its place, its job's type or `workflow`.
fn step_members(step: &StepRow, id: &str, kind: &str) -> String {
    let mut members = String::new();
    let place = || step.index.to_string();
    json::push_text(&mut members, id, &step.name.clone().unwrap_or_else(place));
    json::push_text(&mut members, kind, &job_type_of(&step.request).unwrap_or_else(|| "workflow".to_owned()));
    members
}

/// The error in the result of a failed step.
fn step_error(step: &StepRow) -> String {
    let result: serde_json::Value = serde_json::from_str(&step.result).unwrap_or_default();
    result.get("error").filter(|error| !error.is_null()).map_or_else(
        || {
            serde_json::json!({"code": "dependency_failed", "message": format!("The step was {}.", step.state.as_str())})
                .to_string()
        },
        ToString::to_string,
    )
}
