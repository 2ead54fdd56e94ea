//! Outcomes: ack, nack, release; and heartbeats. Every one is fenced by the lease.
use std::fmt::Write;

use ojs_model::lazy::Lazy;
use ojs_model::limits::{MAX_ERROR_HISTORY, MAX_FETCH_COUNT};
use ojs_model::retry::{OnExhaustion, Verdict};
use ojs_model::state::Trigger;
use ojs_model::{ErrorCode, JobError, JobId, JobState, OjsError, RetryPolicy, Timestamp};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{Applied, StoreError};
use crate::kernel::command::{Beat, Claim, Exchanged, Finished, Heartbeat, Outcome, OutcomeReport};
use crate::kernel::handlers;
use crate::kernel::hooks::call;
use crate::kernel::job::{JobRow, flag};
use crate::kernel::lease;
use crate::kernel::part::Part;
use crate::kernel::transaction::Transaction;
use crate::kernel::wake::Signal;
use crate::kernel::worker::{STALE_AFTER_MS, key_of, with_key};
use crate::spans::step;
use crate::store::rows::{Directive, WorkerPhase, WorkerRow};

static DEFAULT_POLICY: Lazy<RetryPolicy> = Lazy::new(RetryPolicy::default);

impl Transaction<'_> {
    pub(crate) fn exchange(&mut self, outcomes: &[OutcomeReport], claim: Option<&Claim>) -> Applied<Exchanged> {
        // Before the first outcome is written: a refusal changes nothing.
        if let Some((id, key)) = claim.and_then(|claim| Some((claim.worker.as_deref()?, claim.key.as_deref()?))) {
            let worker = self.tables.worker(id)?;
            self.check_key(&worker, Some(key))?;
        }
        let mut results = Vec::with_capacity(outcomes.len());
        for (place, report) in outcomes.iter().enumerate() {
            results.push(match self.part(Part::Outcome(self.command, place), |transaction| transaction.settle(report)) {
                Ok(finished) => Ok(finished),
                Err(refusal) => {
                    let error = refusal.into_error()?;
                    call!(self, on_late_outcome, report.job, report.lease);
                    Err(error)
                }
            });
        }
        (self.retry_at, self.is_picky, self.has_passed) = (None, false, false);
        let jobs = match claim {
            Some(claim) => self.claim(claim)?,
            None => Vec::new(),
        };
        let retry_at = self.retry_at.map(Timestamp::from_millis);
        Ok(Exchanged { results, jobs, retry_at, is_picky: self.is_picky, has_passed: self.has_passed })
    }

    /// Writes one outcome.
    fn settle(&mut self, report: &OutcomeReport) -> Applied<Finished> {
        let row = self.require(report.job)?;
        let row = if let Some(settled) = self.settled_before(&row, report) {
            settled
        } else {
            self.check_holder(&row, report.lease, report.worker.as_deref())?;
            match &report.outcome {
                Outcome::Ack(result) => self.complete(&row, result.as_deref())?,
                Outcome::Nack(error) => self.fail(&row, error)?,
                Outcome::Release(delay) => self.release(&row, *delay)?,
            }
        };
        let job = if report.want_job { Some(Box::new(self.view(row.clone())?)) } else { None };
        Ok(Finished { row, job, at: self.now })
    }

    /// The same outcome again under the same token: its first answer was lost on the wire, so it is answered again.
    fn settled_before(&self, row: &JobRow, report: &OutcomeReport) -> Option<JobRow> {
        let same = report.lease == Some(row.lease) && row.lease != 0;
        let repeated = match &report.outcome {
            Outcome::Ack(_) => row.state == JobState::Completed,
            Outcome::Nack(_) => row.has(flag::ERROR) && matches!(row.state, JobState::Retryable | JobState::Discarded),
            Outcome::Release(_) => matches!(row.state, JobState::Available | JobState::Scheduled | JobState::Retryable),
        };
        (same && repeated).then(|| row.clone())
    }

    /// Refuses an outcome that does not come from the holder of a running job.
    pub(crate) fn check_holder(&mut self, row: &JobRow, lease: Option<i64>, worker: Option<&str>) -> Applied<()> {
        if lease.is_some_and(|lease| lease != row.lease) {
            return Err(OjsError::stale_lease(row.id, "stale_lease").into());
        }
        if row.state != JobState::Active {
            return Err(OjsError::wrong_state(row.id, row.state, "active").into());
        }
        if lease.is_none() && lease::is_fenced(row.lease) {
            return Err(token_required(row).into());
        }
        if let (Some(worker), true) = (worker, row.worker != 0) {
            let holder = self.tables.worker_name(row.worker)?;
            if holder.is_some_and(|holder| *holder != *worker) {
                return Err(OjsError::stale_lease(row.id, "lease_owner").into());
            }
        }
        Ok(())
    }

    fn complete(&mut self, before: &JobRow, result: Option<&[u8]>) -> Applied<JobRow> {
        let mut row = before.clone();
        row.finished_at = self.now.as_millis();
        row.sort_key = row.finished_at;
        row.worker = 0;
        row.flags &= !flag::ERROR;
        if let Some(result) = result {
            call!(self, on_result, &mut row, result);
        }
        let row = self.transition(before, row, Trigger::Ack, JobState::Completed)?;
        let duration = row.finished_at.saturating_sub(row.started_at);
        let extra = format!("\"duration_ms\":{duration},\"attempt\":{}", row.attempt);
        self.emit("job.completed", &row, &extra)?;
        Ok(row)
    }

    /// A failed attempt: history, then retry or discard as the policy says.
    pub(crate) fn fail(&mut self, before: &JobRow, error: &JobError) -> Result<JobRow, StoreError> {
        let _span = step!("ojs.retry.evaluate", ojs.job.id = %before.id, ojs.job.attempt = before.attempt);
        let mut row = before.clone();
        let policy = self.policy(before)?;
        self.remember(&mut row, error)?;
        self.emit_failure(&row, error)?;
        call!(self, on_failure, before, error);
        match policy.judge(error, row.charged(), row.charged(), rand::random()) {
            Verdict::Retry(delay) => {
                row.sort_key = self.now.plus(delay).as_millis();
                self.set_end_of_waiting(&mut row)?;
                if row.expires_at > 0 && row.expires_at <= row.sort_key {
                    self.emit_no_time_left(&row)?;
                    let dead_letter = policy.on_exhaustion == OnExhaustion::DeadLetter;
                    return self.discard(before, row, error, Ending { dead_letter, reason: "total_timeout" });
                }
                row.retry_delay = i64::try_from(delay.as_millis()).unwrap_or(i64::MAX);
                row.worker = 0;
                let row = self.transition(before, row, Trigger::Fail, JobState::Retryable)?;
                let mut extra = format!("\"attempt\":{},\"max_attempts\":{}", row.attempt, row.max_attempts);
                let _ =
                    write!(extra, ",\"next_retry_at\":\"{}\",\"error\":{}", Timestamp::from_millis(row.sort_key), brief(error));
                self.emit("job.retrying", &row, &extra)?;
                Ok(row)
            }
            Verdict::Discard { dead_letter } => {
                let reason = why_final(&row, error);
                // A misspelt type or a worker that was deployed too early is no reason to lose a job: it can be run
                // again.
                let dead_letter = dead_letter || reason == NO_HANDLER;
                self.discard(before, row, error, Ending { dead_letter, reason })
            }
        }
    }

    /// Ends a job for good. The order of the events is fixed: retry_exhausted before dead_lettered (interactions,
    /// section 10).
    pub(crate) fn discard(
        &mut self,
        before: &JobRow,
        mut row: JobRow,
        error: &JobError,
        ending: Ending,
    ) -> Result<JobRow, StoreError> {
        row.finished_at = self.now.as_millis();
        row.sort_key = row.finished_at;
        (row.worker, row.expires_at) = (0, 0);
        if ending.dead_letter {
            row.flags |= flag::DEAD;
        }
        let trigger = if before.state == JobState::Active { Trigger::Exhaust } else { Trigger::Expire };
        let row = self.transition(before, row, trigger, JobState::Discarded)?;
        let error = brief(error);
        if row.charged() >= row.max_attempts || ending.dead_letter {
            let mut extra = format!("\"attempt\":{},\"max_attempts\":{},\"error\":{error}", row.attempt, row.max_attempts);
            ojs_model::json::push_text(&mut extra, "reason", ending.reason);
            self.emit("job.retry_exhausted", &row, &extra)?;
        }
        let totals = format!("\"total_attempts\":{},\"last_error\":{error}", row.attempt);
        self.emit("job.discarded", &row, &totals)?;
        if ending.dead_letter {
            self.emit("job.dead_lettered", &row, &format!("{totals},\"attempt\":{},\"error\":{error}", row.attempt))?;
            self.emit("dead_letter.added", &row, &totals)?;
        }
        Ok(row)
    }

    /// Gives a claim back; no attempt is counted.
    fn release(&mut self, before: &JobRow, delay_ms: u64) -> Result<JobRow, StoreError> {
        let mut row = before.clone();
        row.releases += 1;
        if delay_ms == 0 {
            return self.make_available(before, row, Trigger::Release);
        }
        row.sort_key = self.now.plus_millis(delay_ms).as_millis();
        row.retry_delay = i64::try_from(delay_ms).unwrap_or(i64::MAX);
        row.worker = 0;
        self.set_end_of_waiting(&mut row)?;
        let row = self.transition(before, row, Trigger::Fail, JobState::Retryable)?;
        let at = Timestamp::from_millis(row.sort_key);
        self.emit("job.scheduled", &row, &format!("\"scheduled_at\":\"{at}\""))?;
        Ok(row)
    }

    /// The lease ran out, or the worker died: back in line at once, or discarded when attempts are spent.
    pub(crate) fn lose(&mut self, before: &JobRow, error: &JobError) -> Result<JobRow, StoreError> {
        let mut row = before.clone();
        self.remember(&mut row, error)?;
        if row.charged() < row.max_attempts {
            return self.make_available(before, row, Trigger::Release);
        }
        self.emit_failure(&row, error)?;
        let dead_letter = self.policy(before)?.on_exhaustion == OnExhaustion::DeadLetter;
        self.discard(before, row, error, Ending { dead_letter, reason: "max_attempts" })
    }

    pub(crate) fn emit_failure(&mut self, row: &JobRow, error: &JobError) -> Result<(), StoreError> {
        let duration = self.now.as_millis().saturating_sub(row.started_at);
        let extra = format!("\"attempt\":{},\"duration_ms\":{duration},\"error\":{}", row.attempt, brief(error));
        self.emit("job.failed", row, &extra)
    }

    /// Adds an error to the history and makes it the current one.
    pub(crate) fn remember(&mut self, row: &mut JobRow, error: &JobError) -> Result<(), StoreError> {
        let mut history = if row.has(flag::ERRORS | flag::RESULT) { self.tables.history(row.seq)? } else { Default::default() };
        let mut entries = error_entries(row, &history.errors)?;
        let mut entry = error.to_entry(row.attempt, self.now);
        self.note_attempt(&mut entry, row)?;
        if let Ok(raw) = RawValue::from_string(entry.to_string()) {
            entries.push(raw);
        }
        let surplus = entries.len().saturating_sub(MAX_ERROR_HISTORY);
        entries.drain(..surplus);
        history.errors = serde_json::to_string(&entries).map_err(|error| unreadable(row, "errors", &error))?;
        row.flags |= flag::ERRORS | flag::ERROR;
        self.tables.set_history(row.seq, &history)?;
        call!(self, on_error, row, error);
        Ok(())
    }

    /// Notes with an error when its attempt was available, when it began, and which worker ran it: the row has these of
    /// the latest attempt only. An error of a job that waits is none of an attempt.
    fn note_attempt(&mut self, entry: &mut Value, row: &JobRow) -> Result<(), StoreError> {
        let Some(entry) = entry.as_object_mut().filter(|_| row.state == JobState::Active) else { return Ok(()) };
        entry.insert("started_at".into(), Timestamp::from_millis(row.started_at).to_string().into());
        entry.insert("wait_ms".into(), row.started_at.saturating_sub(row.enqueued_at).into());
        if row.worker != 0
            && let Some(worker) = self.tables.worker_name(row.worker)?
        {
            entry.insert("worker_id".into(), worker.as_ref().into());
        }
        Ok(())
    }

    pub(crate) fn policy(&mut self, row: &JobRow) -> Result<RetryPolicy, StoreError> {
        let Some(own) = self.tables.body(row.seq)?.retry else { return Ok(DEFAULT_POLICY.clone()) };
        let value: Value = serde_json::from_str(&own).map_err(|error| unreadable(row, "retry policy", &error))?;
        RetryPolicy::parse(&value, &DEFAULT_POLICY).map_err(|error| unreadable(row, "retry policy", &error.message))
    }

    pub(crate) fn heartbeat(&mut self, beat: &Heartbeat) -> Applied<Beat> {
        if beat.worker.is_empty() {
            let (extended, cancelled) = self.renew_held(beat, 0)?;
            return Ok(Beat { extended, cancelled, directive: Directive::Run });
        }
        let mut worker = self.tables.worker(&beat.worker)?;
        self.check_key(&worker, beat.key.as_deref())?;
        let known = worker.clone();
        let is_many = self.counters.features.iter().filter_map(|feature| feature.is_many).any(|is_many| is_many(&beat.worker));
        if worker.beat_at == 0 {
            worker.first_at = self.now.as_millis();
        }
        if let Some(info) = &beat.info {
            worker.info = handlers::carried(&worker.info, info).map_or_else(|| info.clone(), Into::into);
        }
        if let Some(key) = &beat.key {
            worker.info = with_key(&worker.info, key)?;
        }
        if !is_many {
            worker.beat_at = self.now.as_millis();
        }
        if worker.phase.is_leaving() && beat.phase == WorkerPhase::Running {
            // A worker that was told to terminate does not run again: this is a new process under the same id, and the
            // directive was for the old one.
            worker.directive = Directive::Run;
        }
        if worker.phase != WorkerPhase::Running && beat.phase == WorkerPhase::Running {
            // A fetch that came before this heartbeat found nothing, and waits.
            self.call_all_waiters()?;
        }
        if beat.phase != WorkerPhase::Running {
            // Its waiting fetch is answered now: otherwise the worker would break it off and lose the jobs in it.
            self.signals.push(Signal::Quiet(beat.worker.clone()));
        }
        worker.phase = beat.phase;
        self.tables.save_worker(&worker)?;
        let mut directive = worker.directive;
        let (extended, cancelled) = self.renew_held(beat, worker.num)?;
        if beat.test_directives {
            directive = self.test_directive(worker.num)?.unwrap_or(directive);
        }
        call!(self, on_heartbeat, &known, &beat.jobs);
        if !is_many {
            self.emit_beat(&known, beat, extended.len());
        }
        Ok(Beat { extended, cancelled, directive })
    }

    /// Renews the leases that a heartbeat names and its worker holds. Returns those, and the jobs that were cancelled
    /// meanwhile.
    fn renew_held(&mut self, beat: &Heartbeat, worker: i64) -> Applied<(Vec<JobId>, Vec<JobId>)> {
        let (mut extended, mut cancelled) = (Vec::new(), Vec::new());
        for (id, lease) in &beat.jobs {
            let Some(before) = self.tables.visible(*id)? else { continue };
            let proven = lease.map_or(!lease::is_fenced(before.lease), |lease| lease == before.lease);
            let held = proven && (before.worker == worker || before.worker == 0);
            match before.state {
                JobState::Active if held => {
                    self.extend(&before, beat)?;
                    extended.push(*id);
                }
                JobState::Cancelled if lease.is_none_or(|lease| lease == before.lease) => cancelled.push(*id),
                _ => {}
            }
        }
        Ok((extended, cancelled))
    }

    /// With keys, the id of a live worker belongs to the key of its heartbeats: another key must neither make it quiet
    /// nor take jobs in its name.
    fn check_key(&self, worker: &WorkerRow, key: Option<&str>) -> Applied<()> {
        let Some(key) = key.filter(|_| worker.beat_at > 0) else { return Ok(()) };
        let alive = !worker.phase.is_leaving() && self.now.as_millis().saturating_sub(worker.beat_at) < STALE_AFTER_MS;
        if !alive || key_of(&worker.info)?.is_none_or(|owner| owner == key) {
            return Ok(());
        }
        let message = format!("The worker id '{}' is in use under another key.", worker.id);
        Err(OjsError::new(ErrorCode::PermissionDenied, message)
            .with_details(serde_json::json!({"field": "worker_id", "worker_id": &*worker.id, "key": key}))
            .with_hint("Give each worker an id of its own.")
            .into())
    }

    /// Sets the lease to its full length again; the execution deadline stays.
    pub(crate) fn renew(&self, row: &mut JobRow) {
        row.lease_until = self.now.as_millis().saturating_add(row.lease_ms);
        row.sort_key = row.lease_until.min(row.deadline);
    }

    /// Renews the lease of a job that a heartbeat names.
    fn extend(&mut self, before: &JobRow, beat: &Heartbeat) -> Result<(), StoreError> {
        let mut row = before.clone();
        if let Some(ms) = beat.visibility_ms {
            row.lease_ms = i64::try_from(ms).unwrap_or(i64::MAX);
            if row.has(flag::STALLS) {
                let stall = self.settings(row.seq)?.stall_ms;
                row.lease_ms = row.lease_ms.min(stall.unwrap_or(i64::MAX));
            }
        }
        self.renew(&mut row);
        self.tables.update(before, &row)?;
        let mut extra = format!("\"attempt\":{},\"visible_until\":\"{}\"", row.attempt, Timestamp::from_millis(row.lease_until));
        if !beat.worker.is_empty() {
            ojs_model::json::push_text(&mut extra, "worker_id", &beat.worker);
        }
        self.emit("job.heartbeat", &row, &extra)
    }

    /// The directive of a job that the worker holds, whether the heartbeat names the job or only counts it (protocol
    /// section 5.2).
    fn test_directive(&mut self, worker: i64) -> Result<Option<Directive>, StoreError> {
        for row in self.tables.held_by(worker, MAX_FETCH_COUNT)? {
            let body = self.tables.body(row.seq)?;
            let envelope: Value = serde_json::from_str(&ojs_model::json::object(&body.text)).unwrap_or_default();
            match envelope.pointer("/meta/test_directive").and_then(Value::as_str) {
                Some("quiet") => return Ok(Some(Directive::Quiet)),
                Some("terminate") => return Ok(Some(Directive::Terminate)),
                _ => {}
            }
        }
        Ok(None)
    }
}

/// 409: the holder of the job reports with lease tokens, and this report has none.
fn token_required(row: &JobRow) -> OjsError {
    let message = format!("Job '{}' was fetched by a client that uses lease tokens: its lease_token is needed.", row.id);
    let details = serde_json::json!({
        "reason": "lease_token_required", "field": "lease_token", "job_id": row.id.to_string(), "current_state": "active",
    });
    OjsError::new(ErrorCode::Conflict, message)
        .with_details(details)
        .with_hint("Send the lease_token that came with the job. Only the client that fetched the job has it.")
}

/// The errors of a job so far. An unreadable history is a fault: treated as empty, it would be written back empty.
pub(crate) fn error_entries(row: &JobRow, errors: &str) -> Result<Vec<Box<RawValue>>, StoreError> {
    // The history of a replayed job no longer counts.
    if errors.is_empty() && !row.has(flag::ERRORS) {
        return Ok(Vec::new());
    }
    serde_json::from_str(errors).map_err(|error| unreadable(row, "errors", &error))
}

fn unreadable(row: &JobRow, what: &str, why: &dyn std::fmt::Display) -> StoreError {
    StoreError::Failed(format!("the stored {what} of job {} cannot be read: {why}", row.id))
}

/// How a job ends for good.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    /// It becomes a dead letter.
    pub dead_letter: bool,
    /// Why there is no further attempt, for `job.retry_exhausted`.
    pub reason: &'static str,
}

/// Code of the error of a worker that has no handler for the job's type.
const NO_HANDLER: &str = "no_handler";

/// Why the retry policy ends a job.
fn why_final(row: &JobRow, error: &JobError) -> &'static str {
    match error.code.as_str() {
        NO_HANDLER => NO_HANDLER,
        "DISCARD" | "FAIL" | "DEAD_LETTER" => "handler_directive",
        _ if row.charged() >= row.max_attempts => "max_attempts",
        _ => "non_retryable",
    }
}

/// The form of the error in events.
pub(crate) fn brief(error: &JobError) -> Value {
    serde_json::json!({"code": error.code, "message": error.message, "type": error.kind, "retryable": error.retryable})
}
