//! Events of jobs and workers with the members that the catalogue requires (extensions section 2).
use std::fmt::Write;

use ojs_model::json;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::StoreError;
use crate::kernel::command::Heartbeat;
use crate::kernel::job::{Body, JobRow, flag};
use crate::kernel::settings::Settings;
use crate::kernel::transaction::Transaction;
use crate::store::rows::{WorkerPhase, WorkerRow};

/// A worker's heartbeat becomes an event at most once in this time. Otherwise heartbeats would push all other events
/// out of the log.
const HEARTBEAT_EVENT_MS: i64 = 60_000;

/// The members of a worker's description that its events repeat.
#[derive(Deserialize, Default)]
struct About<'a> {
    #[serde(borrow)]
    queues: Option<&'a RawValue>,
    #[serde(borrow)]
    concurrency: Option<&'a RawValue>,
}

/// The members of the request for a job that events repeat.
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
}

/// The type of the job that a request describes; `None` for a request that describes no job.
pub(crate) fn job_type_of(request: &str) -> Option<String> {
    serde_json::from_str::<Request>(request).ok().map(|request| request.r#type)
}
