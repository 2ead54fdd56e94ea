//! The audit of workflows: their counters against their steps, and steps against jobs in both directions.
use ojs_model::JobId;

use crate::error::Result;
use crate::features::workflows::records::{StepRow, StepState, WorkflowRow, WorkflowState};
use crate::kernel::audit::{Audit, Checks};
use crate::kernel::job::JobRow;
use crate::store::record::{Records, Scan};

pub(crate) const CHECKS: Checks = Checks { job: Some(|audit, row, _| look_at(audit, row)), whole: Some(compare) };

/// A job of a workflow that has not ended has a step that names it. A job that ended and was run again may outlive its
/// workflow.
fn look_at(audit: &mut Audit<'_>, row: &JobRow) -> Result<()> {
    if row.workflow == 0 || row.state.is_terminal() {
        return Ok(());
    }
    let step = audit.tables.step(row.workflow, row.step)?;
    let named = step.and_then(|step| step.job);
    if named != Some(row.id) && audit.tables.workflow_by_num(row.workflow)?.is_some() {
        let found = named.map_or_else(|| "none".to_owned(), |id| id.to_string());
        let what = format!("the job of step {} of workflow number {}", row.step, row.workflow);
        audit.find("workflow_jobs", format_args!("job {}", row.id), what, row.id, found);
    }
    Ok(())
}

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    let mut seen = 0;
    audit.each_record(
        0,
        |row: &WorkflowRow| row.num,
        |audit, row| {
            let steps = audit.tables.steps(row.num, i64::MIN)?;
            seen += steps.len();
            compare_counters(audit, row, &steps);
            compare_jobs(audit, row, &steps)
        },
    )?;
    let all = Records::<StepRow, _>::of(&mut *audit.tables).count(&Scan::over(StepRow::KEY))?;
    audit.same("workflow_steps", "all workflows", "steps, of workflows and in all", seen, all);
    Ok(())
}

fn compare_counters(audit: &mut Audit<'_>, row: &WorkflowRow, steps: &[StepRow]) {
    let subject = format!("workflow {}", row.id);
    let count = |wanted: fn(&StepRow) -> bool| {
        i64::try_from(steps.iter().filter(|step| step.index >= 0 && wanted(step)).count()).unwrap_or(i64::MAX)
    };
    audit.same("workflow_steps", &subject, "its total", count(|_| true), row.total);
    audit.same(
        "workflow_steps",
        &subject,
        "steps that succeeded",
        count(|step| step.state == StepState::Completed),
        row.completed,
    );
    if row.state == WorkflowState::Running {
        audit.same("workflow_steps", &subject, "steps that ended", count(|step| step.state.is_terminal()), row.ended);
    }
    for step in steps {
        if let Err(fault) = step.waits_for() {
            let what = format!("what step {} waits for", step.index);
            audit.find("workflow_steps", &subject, what, "readable", fault);
        }
    }
    let ended = row.state.is_terminal();
    audit.same("workflow_states", &subject, "finished_at is set when it has ended, and only then", ended, row.finished_at > 0);
    // Versions before this one wrote no time for a callback that was not needed.
    let is_old = |step: &&StepRow| step.index < 0 && step.state == StepState::Cancelled && step.finished_at == 0;
    let wrong = |step: &&StepRow| step.state.is_terminal() != (step.finished_at > 0) && !is_old(step);
    for step in steps.iter().filter(wrong) {
        let what = format!("finished_at of step {} ({})", step.index, step.state.as_str());
        audit.find("workflow_states", &subject, what, step.state.is_terminal(), step.finished_at > 0);
    }
}

/// A step that is under way has a job that has not ended and names the step.
fn compare_jobs(audit: &mut Audit<'_>, row: &WorkflowRow, steps: &[StepRow]) -> Result<()> {
    let started: Vec<(i64, JobId)> = steps
        .iter()
        .filter(|step| step.state == StepState::Started && !row.state.is_terminal())
        .filter_map(|step| Some((step.index, step.job?)))
        .collect();
    let ids: Vec<JobId> = started.iter().map(|(_, id)| *id).collect();
    for ((index, id), found) in started.into_iter().zip(audit.tables.outcomes(&ids)?) {
        let (subject, what) = (format!("workflow {}", row.id), format!("the job {id} of step {index}"));
        match found {
            None => audit.find("workflow_jobs", subject, what, "a row", "none"),
            Some((job, _)) if (job.workflow, job.step) != (row.num, index) || job.state.is_terminal() => {
                let found = format!("a job of step {} of workflow number {} that is {}", job.step, job.workflow, job.state);
                audit.find("workflow_jobs", subject, what, "a job of this step that has not ended", found);
            }
            Some(_) => {}
        }
    }
    Ok(())
}
