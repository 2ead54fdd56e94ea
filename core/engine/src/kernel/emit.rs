//! Events of jobs, workers and workflows with the members that the catalogue requires (extensions section 2).
use std::fmt::Write;

use ojs_model::json;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::StoreError;
use crate::features::workflows::records::{StepRow, StepState, WorkflowRow, WorkflowState};
use crate::kernel::command::Heartbeat;
use crate::kernel::job::{Body, JobRow, flag};
use crate::kernel::settings::Settings;
use crate::kernel::transaction::Transaction;
use crate::store::rows::{WorkerPhase, WorkerRow};

/// A worker's heartbeat becomes an event at most once in this time. Otherwise heartbeats would push all other events
/// out of the log.
const HEARTBEAT_EVENT_MS: i64 = 60_000;

type Stored<T> = Result<T, StoreError>;

/// The members of a worker's description that its events repeat.
#[derive(Deserialize, Default)]
struct About<'a> {
    #[serde(borrow)]
    queues: Option<&'a RawValue>,
    #[serde(borrow)]
    concurrency: Option<&'a RawValue>,
}

/// The members of a step's request that its events repeat.
#[derive(Deserialize)]
struct Request {
    r#type: String,
}

impl Transaction<'_> {
    /// Notes an event of a job. Every event of a job with a trace names it (extensions section 2).
    pub(crate) fn emit(&mut self, event: &str, row: &JobRow, extra: &str) -> Result<(), StoreError> {
        if !row.has(flag::TRACED) {
            self.journal.job(event, self.now, row, extra);
            return Ok(());
        }
        if !self.traces.contains_key(&row.seq) {
            let body = self.tables.body(row.seq)?;
            self.keep_trace(row.seq, &body);
        }
        let mut traced = extra.to_owned();
        if let Some(id) = self.traces.get(&row.seq) {
            json::push_text(&mut traced, "trace_id", id);
        }
        self.journal.job(event, self.now, row, &traced);
        Ok(())
    }

    pub(crate) fn keep_trace(&mut self, seq: i64, body: &Body) {
        self.traces.insert(seq, Settings::of(body).trace_id.unwrap_or_default());
    }

    /// Events of a heartbeat: the worker's first one, a change to quiet, and now and then a plain heartbeat.
    pub(crate) fn emit_beat(&mut self, before: &WorkerRow, beat: &Heartbeat, active: usize) {
        let info = beat.info.as_ref().unwrap_or(&before.info);
        let about: About<'_> = serde_json::from_str(info).unwrap_or_default();
        let mut queues = String::new();
        json::push_member(&mut queues, "queues", about.queues.map_or("[]", RawValue::get));
        let active = format!("\"active_jobs\":{active}");
        if before.beat_at == 0 {
            json::push_member(&mut queues, "concurrency", about.concurrency.map_or("0", RawValue::get));
            return self.emit_worker("worker.started", &beat.worker, &queues);
        }
        if before.phase == WorkerPhase::Running && beat.phase != WorkerPhase::Running {
            self.emit_worker("worker.quiet", &beat.worker, &active);
        }
        if before.beat_at.div_euclid(HEARTBEAT_EVENT_MS) != self.now.as_millis().div_euclid(HEARTBEAT_EVENT_MS) {
            self.emit_worker("worker.heartbeat", &beat.worker, &format!("{active},{queues}"));
        }
    }

    /// The event of a worker that has stopped, or that sends no heartbeats any more.
    pub(crate) fn emit_stopped(&mut self, worker: &WorkerRow) {
        let reason = if worker.phase == WorkerPhase::Running { "error" } else { "shutdown" };
        let mut extra = format!("\"reason\":\"{reason}\"");
        json::push_bare(&mut extra, "uptime_ms", worker.beat_at.saturating_sub(worker.first_at));
        self.emit_worker("worker.stopped", &worker.id, &extra);
    }

    fn emit_worker(&mut self, event: &str, worker: &str, more: &str) {
        let mut extra = String::new();
        json::push_text(&mut extra, "worker_id", worker);
        let _ = write!(extra, ",{more}");
        self.journal.other(event, self.now, &worker.replace(['|', '\n'], "_"), &extra);
    }

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
    let request = serde_json::from_str::<Request>(&step.request).ok();
    json::push_text(&mut members, kind, &request.map_or("workflow".to_owned(), |request| request.r#type));
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

/// The type of the job that a request describes.
pub(crate) fn job_type_of(request: &str) -> String {
    serde_json::from_str::<Request>(request).map(|request| request.r#type).unwrap_or_default()
}
