//! The life of a workflow: steps start when those before them have succeeded; the end of one job moves it on, in the same
//! transaction as the ack. So progress is durable, and a restart continues where it stopped (interactions, section 11).
use std::sync::Arc;

use ojs_model::envelope::{DEFAULT_TENANT, TENANT_ID};
use ojs_model::workflow::{Callback, NewWorkflow, Shape, Work};
use ojs_model::{ErrorCode, JobId, JobState, NewJob, OjsError, json};

use crate::error::{Applied, StoreError};
use crate::features::workflows::records::{StepRow, StepState, StepView, WorkflowRow, WorkflowState, WorkflowView};
use crate::kernel::aside::SLICE;
use crate::kernel::enqueue::Link;
use crate::kernel::job::{JobRow, flag};
use crate::kernel::part::Part;
use crate::kernel::retention::Retention;
use crate::kernel::transaction::Transaction;
use crate::spans::step;
use crate::store::tables::Tables;

type Stored<T> = Result<T, StoreError>;

impl Transaction<'_> {
    pub(crate) fn create_workflow(&mut self, new: &NewWorkflow) -> Applied<WorkflowView> {
        if self.tables.workflow(new.id)?.is_some() {
            let error = OjsError::new(ErrorCode::Duplicate, format!("A workflow with id '{}' exists already.", new.id));
            return Err(error.into());
        }
        let tenant = self.tenant_of_workflow(new)?;
        self.judge_steps(new, tenant.as_deref())?;
        let tenant = match tenant.filter(|id| &**id != DEFAULT_TENANT) {
            Some(id) => self.tenant_for_use(&id)?.num,
            None => 0,
        };
        let num = self.insert_tree(new, 0, 0, tenant)?;
        self.start_workflow(num, "[]")?;
        self.advance_workflows()?;
        let row = self.flow(num)?;
        Ok(view(self.tables, row)?)
    }

    /// The tenant of a workflow: that of the caller, else the first one that a step names. All its jobs belong to it.
    fn tenant_of_workflow(&mut self, new: &NewWorkflow) -> Applied<Option<Arc<str>>> {
        if let Some(id) = self.tables.names().scope.id() {
            return Ok(Some(Arc::clone(id)));
        }
        let callbacks = new.callbacks.iter().map(|(_, request)| request);
        let steps = new.steps.iter().filter_map(|step| if let Work::Job(request) = &step.work { Some(request) } else { None });
        for request in steps.chain(callbacks).filter(|request| request.contains(TENANT_ID) || request.contains('\\')) {
            if let Some(id) = NewJob::parse_signed(request, self.now)?.tenant {
                return Ok(Some(id.into()));
            }
        }
        for step in &new.steps {
            if let Work::Workflow(inner) = &step.work
                && let Some(id) = self.tenant_of_workflow(inner)?
            {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Asks features about the jobs of all steps, while the client can still be told.
    fn judge_steps(&mut self, new: &NewWorkflow, tenant: Option<&str>) -> Applied<()> {
        let steps = new.steps.iter().map(|step| &step.work);
        let callbacks = new.callbacks.iter().map(|(_, request)| request);
        for request in
            steps.clone().filter_map(|work| if let Work::Job(request) = work { Some(request) } else { None }).chain(callbacks)
        {
            let job = NewJob::parse_signed_of(request, self.now, tenant)?;
            self.judge(&job.job_type, &job.body)?;
        }
        for work in steps {
            if let Work::Workflow(inner) = work {
                self.judge_steps(inner, tenant)?;
            }
        }
        Ok(())
    }

    /// Stores a workflow and those inside it; all wait.
    fn insert_tree(&mut self, new: &NewWorkflow, parent: i64, parent_step: i64, tenant: i64) -> Stored<i64> {
        let mut row = WorkflowRow {
            num: 0,
            id: new.id,
            shape: new.shape,
            name: new.name.clone(),
            state: WorkflowState::Waiting,
            total: i64::try_from(new.steps.len()).unwrap_or(i64::MAX),
            completed: 0,
            ended: 0,
            callbacks_left: 0,
            callback_failed: false,
            parent,
            parent_step,
            inherited: "[]".to_owned(),
            created_at: self.now.as_millis(),
            started_at: 0,
            finished_at: 0,
            tenant,
        };
        if !self.tables.insert_workflow(&mut row)? {
            return Err(StoreError::Failed(format!("workflow id {} was taken meanwhile", new.id)));
        }
        for (index, step) in (0..).zip(&new.steps) {
            let (request, child) = match &step.work {
                Work::Job(request) => (request.clone(), 0),
                Work::Workflow(inner) => (String::new(), self.insert_tree(inner, row.num, index, tenant)?),
            };
            self.put_waiting(row.num, index, step.name.clone(), request, child, &serde_json::json!(step.after).to_string())?;
        }
        for (callback, request) in &new.callbacks {
            self.put_waiting(row.num, callback_index(*callback), Some(callback.as_str().to_owned()), request.clone(), 0, "[]")?;
        }
        Ok(row.num)
    }

    fn put_waiting(
        &mut self,
        workflow: i64,
        index: i64,
        name: Option<String>,
        request: String,
        child: i64,
        after: &str,
    ) -> Stored<()> {
        let (state, job, after) = (StepState::Waiting, None, after.to_owned());
        self.tables.put_step(&StepRow {
            workflow,
            index,
            name,
            state,
            request,
            child,
            job,
            after,
            result: String::new(),
            finished_at: 0,
        })
    }

    fn start_workflow(&mut self, num: i64, inherited: &str) -> Stored<()> {
        let mut row = self.flow(num)?;
        row.state = WorkflowState::Running;
        row.started_at = self.now.as_millis();
        row.inherited = inherited.to_owned();
        self.tables.update_workflow(&row)?;
        self.emit_workflow("workflow.started", &row, &format!(",\"total_steps\":{}", row.total));
        for step in self.tables.steps(num, 0)? {
            if step.after == "[]" {
                self.start_step(&row, step)?;
            }
        }
        Ok(())
    }

    /// Enqueues a step's job, or starts its workflow.
    fn start_step(&mut self, flow: &WorkflowRow, mut step: StepRow) -> Stored<()> {
        let results = self.results_for(flow, &step)?;
        step.state = StepState::Started;
        if step.child != 0 {
            self.tables.put_step(&step)?;
            return self.start_workflow(step.child, &results);
        }
        match self.enqueue_step(flow, &step, &results)? {
            Ok(job) => {
                step.job = Some(job);
                self.tables.put_step(&step)
            }
            Err(error) => {
                step.state = StepState::Failed;
                step.result = serde_json::json!({"error": error.to_object()}).to_string();
                self.step_ended(flow.num, step)
            }
        }
    }

    fn enqueue_step(&mut self, flow: &WorkflowRow, step: &StepRow, results: &str) -> Stored<Result<JobId, OjsError>> {
        let tenant = if flow.tenant == 0 { None } else { self.tables.tenant_id(flow.tenant)? };
        let mut job = match NewJob::parse_signed_of(&step.request, self.now, tenant.as_deref()) {
            Ok(job) => job,
            Err(error) => return Ok(Err(error)),
        };
        json::push_text(&mut job.body, "workflow_id", &flow.id.to_string());
        json::push_text(&mut job.body, "workflow_type", flow.shape.as_str());
        json::push_bare(&mut job.body, "workflow_step", step.index);
        json::push_member(&mut job.body, "parent_results", results);
        let link = Link { workflow: flow.num, step: step.index };
        let judged = |transaction: &mut Self| {
            transaction.judge(&job.job_type, &job.body)?;
            transaction.place_step(&job, link)
        };
        match self.part(Part::Step(flow.id, step.index), judged) {
            Ok(()) => Ok(Ok(job.id)),
            Err(refusal) => Ok(Err(refusal.into_error()?)),
        }
    }

    /// `parent_results`: of all earlier steps in a chain, of those waited for in a graph, of all jobs for a callback.
    fn results_for(&mut self, flow: &WorkflowRow, step: &StepRow) -> Stored<String> {
        let wanted = step.waits_for()?;
        if step.index >= 0 && wanted.is_empty() {
            return Ok(flow.inherited.clone());
        }
        let all = self.tables.steps(flow.num, 0)?;
        let result = |row: &StepRow| if row.result.is_empty() { "null".to_owned() } else { row.result.clone() };
        let chosen: Vec<String> = match flow.shape {
            _ if step.index < 0 => all.iter().map(result).collect(),
            Shape::Graph => wanted.iter().filter_map(|index| all.iter().find(|row| row.index == *index)).map(result).collect(),
            _ => all.iter().filter(|row| row.index < step.index).map(result).collect(),
        };
        Ok(format!("[{}]", chosen.join(",")))
    }

    /// Removes a slice of the workflows that ended long ago.
    pub(crate) fn prune_workflows(&mut self, keep: &Retention) -> Applied<bool> {
        let period = i64::try_from(keep.finished.as_millis()).unwrap_or(i64::MAX);
        self.tables.prune_workflows(self.now.as_millis().saturating_sub(period), SLICE)?;
        Ok(false)
    }

    /// A job has ended: its workflow moves on after the command.
    pub(crate) fn note_end(&mut self, row: &JobRow) {
        if row.workflow != 0 && row.state.is_terminal() {
            self.features.workflows.jobs.push_back(row.clone());
        }
    }

    /// Moves on the workflows whose jobs have ended in this command.
    pub(crate) fn advance_workflows(&mut self) -> Stored<()> {
        while let Some(row) = self.features.workflows.jobs.pop_front() {
            let Some(mut step) = self.tables.step(row.workflow, row.step)? else { continue };
            // A replayed dead letter ends a second time: its workflow has gone on without it.
            if step.state != StepState::Started {
                continue;
            }
            let _span = step!("ojs.workflow.advance", ojs.job.id = %row.id);
            (step.state, step.result) = self.outcome(&row)?;
            self.step_ended(row.workflow, step)?;
        }
        Ok(())
    }

    fn outcome(&mut self, row: &JobRow) -> Stored<(StepState, String)> {
        Ok(match row.state {
            JobState::Completed if row.has(flag::RESULT) => (StepState::Completed, self.tables.history(row.seq)?.result),
            JobState::Completed => (StepState::Completed, "null".to_owned()),
            JobState::Cancelled => (StepState::Cancelled, "null".to_owned()),
            _ => {
                let history = self.tables.history(row.seq)?;
                let errors = crate::kernel::outcome::error_entries(row, &history.errors)?;
                (StepState::Failed, serde_json::json!({"error": errors.last()}).to_string())
            }
        })
    }

    /// A step has ended: counts, dependents, the end of the whole.
    fn step_ended(&mut self, num: i64, mut step: StepRow) -> Stored<()> {
        step.finished_at = self.now.as_millis();
        self.tables.put_step(&step)?;
        let succeeded = step.state == StepState::Completed;
        let mut flow = self.flow(num)?;
        if step.index < 0 {
            flow.callbacks_left -= 1;
            flow.callback_failed |= !succeeded;
            self.tables.update_workflow(&flow)?;
            if flow.callbacks_left == 0 && flow.state == WorkflowState::Running {
                let state = if flow.callback_failed { WorkflowState::Failed } else { WorkflowState::Completed };
                self.end_workflow(num, state)?;
            }
            return Ok(());
        }
        flow.ended += 1;
        flow.completed += i64::from(succeeded);
        self.tables.update_workflow(&flow)?;
        self.emit_step_ended(&flow, &step)?;
        if flow.state != WorkflowState::Running {
            return Ok(());
        }
        match flow.shape {
            Shape::Group | Shape::Batch => {}
            Shape::Chain | Shape::Graph if succeeded => self.start_dependents(&flow, &step)?,
            Shape::Chain | Shape::Graph => self.cancel_dependents(num, step.index)?,
        }
        self.end_if_done(num)
    }

    fn start_dependents(&mut self, flow: &WorkflowRow, done: &StepRow) -> Stored<()> {
        if flow.shape == Shape::Chain {
            return match self.tables.step(flow.num, done.index + 1)? {
                Some(next) => self.start_step(flow, next),
                None => Ok(()),
            };
        }
        let all = self.tables.steps(flow.num, 0)?;
        let completed = |index: &i64| all.iter().any(|row| row.index == *index && row.state == StepState::Completed);
        let mut ready = Vec::new();
        for step in all.iter().filter(|row| row.state == StepState::Waiting) {
            if step.waits_for()?.iter().all(completed) {
                ready.push(step.clone());
            }
        }
        for step in ready {
            self.start_step(flow, step)?;
        }
        Ok(())
    }

    /// Steps that waited for a failed one, directly or not, are never started.
    fn cancel_dependents(&mut self, num: i64, failed: i64) -> Stored<()> {
        let mut gone = vec![failed];
        let mut flow = self.flow(num)?;
        // In order: a step waits only for what stands before it, or the graph's order is repeated until nothing changes.
        loop {
            let mut changed = false;
            for mut step in self.tables.steps(num, 0)? {
                if step.state == StepState::Waiting && step.waits_for()?.iter().any(|index| gone.contains(index)) {
                    gone.push(step.index);
                    step.state = StepState::Cancelled;
                    step.finished_at = self.now.as_millis();
                    self.tables.put_step(&step)?;
                    flow.ended += 1;
                    changed = true;
                }
            }
            if !changed {
                return self.tables.update_workflow(&flow);
            }
        }
    }

    fn end_if_done(&mut self, num: i64) -> Stored<()> {
        let mut flow = self.flow(num)?;
        // Steps that failed to start may have ended it already.
        if flow.ended < flow.total || flow.state != WorkflowState::Running || flow.callbacks_left > 0 {
            return Ok(());
        }
        let failed = flow.completed < flow.total;
        let callbacks: Vec<StepRow> =
            self.tables.steps(num, -3)?.into_iter().filter(|row| row.index < 0 && row.state == StepState::Waiting).collect();
        let (fire, rest): (Vec<_>, Vec<_>) = callbacks
            .into_iter()
            .partition(|row| Callback::ALL.iter().any(|c| callback_index(*c) == row.index && c.fires(failed)));
        for mut callback in rest {
            callback.state = StepState::Cancelled;
            callback.finished_at = self.now.as_millis();
            self.tables.put_step(&callback)?;
        }
        if fire.is_empty() {
            return self.end_workflow(num, if failed { WorkflowState::Failed } else { WorkflowState::Completed });
        }
        flow.callbacks_left = i64::try_from(fire.len()).unwrap_or(i64::MAX);
        self.tables.update_workflow(&flow)?;
        for callback in fire {
            self.emit_workflow(
                "workflow.callback_fired",
                &flow,
                &format!(",\"callback\":\"{}\"", callback.name.as_deref().unwrap_or_default()),
            );
            self.start_step(&flow, callback)?;
        }
        Ok(())
    }

    fn end_workflow(&mut self, num: i64, state: WorkflowState) -> Stored<()> {
        let mut flow = self.flow(num)?;
        flow.state = state;
        flow.finished_at = self.now.as_millis();
        self.tables.update_workflow(&flow)?;
        self.emit_workflow_ended(&flow)?;
        if flow.parent == 0 {
            return Ok(());
        }
        let Some(mut step) = self.tables.step(flow.parent, flow.parent_step)? else { return Ok(()) };
        step.state = match state {
            WorkflowState::Completed => StepState::Completed,
            WorkflowState::Cancelled => StepState::Cancelled,
            _ => StepState::Failed,
        };
        step.result = self.whole_result(&flow)?;
        self.step_ended(flow.parent, step)
    }

    /// What an inner workflow contributes: a chain its last result, anything else all of them.
    fn whole_result(&mut self, flow: &WorkflowRow) -> Stored<String> {
        let results: Vec<String> = self
            .tables
            .steps(flow.num, 0)?
            .into_iter()
            .map(|row| if row.result.is_empty() { "null".to_owned() } else { row.result })
            .collect();
        Ok(match (flow.shape, results.last()) {
            (Shape::Chain, Some(last)) => last.clone(),
            _ => format!("[{}]", results.join(",")),
        })
    }

    pub(crate) fn cancel_workflow(&mut self, id: JobId) -> Applied<WorkflowView> {
        let seen = self.tables.workflow(id)?;
        let seen = seen.filter(|flow| self.tables.names().scope.sees(flow.tenant));
        let flow = seen.ok_or_else(|| OjsError::not_found("workflow", &id.to_string()))?;
        if flow.state.is_terminal() {
            let message = format!("Workflow '{id}' is {}; only a running one can be cancelled.", flow.state.as_str());
            let details = serde_json::json!({"reason": "invalid_state_transition", "workflow_id": id, "current_state": flow.state.as_str()});
            return Err(OjsError::new(ErrorCode::Conflict, message).with_details(details).into());
        }
        self.cancel_tree(flow.num)?;
        let row = self.flow(flow.num)?;
        Ok(view(self.tables, row)?)
    }

    fn cancel_tree(&mut self, num: i64) -> Stored<()> {
        let mut flow = self.flow(num)?;
        flow.state = WorkflowState::Cancelled;
        flow.finished_at = self.now.as_millis();
        self.tables.update_workflow(&flow)?;
        for mut step in self.tables.steps(num, -3)? {
            if step.child != 0 && !step.state.is_terminal() {
                self.cancel_tree(step.child)?;
            }
            let job = match step.job {
                Some(id) if step.state == StepState::Started => self.tables.row(id)?,
                _ => None,
            };
            match job {
                // A running job may finish; its ack is accepted and starts nothing.
                Some(row) if row.state == JobState::Active => continue,
                Some(row) if !row.state.is_terminal() => _ = self.withdraw(&row, "\"reason\":\"workflow cancelled\"")?,
                _ => {}
            }
            if !step.state.is_terminal() {
                step.state = StepState::Cancelled;
                step.finished_at = self.now.as_millis();
                self.tables.put_step(&step)?;
            }
        }
        self.emit_workflow_ended(&flow)
    }

    fn flow(&mut self, num: i64) -> Stored<WorkflowRow> {
        self.tables.workflow_by_num(num)?.ok_or_else(|| StoreError::Failed(format!("no workflow with number {num}")))
    }
}

/// Place of a callback among the steps.
fn callback_index(callback: Callback) -> i64 {
    -1 - i64::from(callback as u8)
}

/// A workflow with everything needed to print it.
pub fn view(tables: &mut dyn Tables, row: WorkflowRow) -> Stored<WorkflowView> {
    let mut steps = Vec::new();
    for step in tables.steps(row.num, -3)? {
        let job = match step.job {
            Some(id) => tables.row(id)?.map(|row| (row.state, row.started_at)),
            None => None,
        };
        steps.push(StepView { row: step, job });
    }
    Ok(WorkflowView { row, steps })
}
