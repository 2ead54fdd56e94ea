//! Enqueue: one job or many, all or none.
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

use ojs_model::unique::OnConflict;
use ojs_model::{ErrorCode, JobState, NewJob, OjsError, Timestamp, UniquePolicy};
use serde_json::json;

use crate::error::{Applied, StoreError};
use crate::kernel::admission::Admission;
use crate::kernel::hooks::call;
use crate::kernel::job::{JobRow, JobView, flag};
use crate::kernel::placed::Placed;
use crate::kernel::rate::Rate;
use crate::kernel::transaction::Transaction;
use crate::store::rows::{QueuePhase, fresh_body, fresh_row};
use crate::store::wanted::Wanted;

/// The workflow and step that a job belongs to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Link {
    /// Number of the workflow; 0 for a job outside of workflows.
    pub workflow: i64,
    /// Index of the step.
    pub step: i64,
}

/// The reason in the event of a withdrawn job.
const REPLACED: &str = "\"reason\":\"replaced\"";

/// The result of the uniqueness check of a job.
enum Unique {
    /// No other job like it.
    Fresh,
    /// An earlier job exists and stays.
    Existing(JobRow),
    /// An earlier job exists and is replaced.
    Replaces(JobRow),
}

impl Transaction<'_> {
    pub(crate) fn enqueue(&mut self, jobs: &[Arc<NewJob>]) -> Applied<Vec<Placed>> {
        let mut admission = Admission::default();
        call!(self, admit, jobs, &mut admission);
        let filled = admission.filled.take();
        let mut placed = self.store_all(filled.as_deref().unwrap_or(jobs), admission.makes_more)?;
        call!(self, after_enqueue, &mut admission, &mut placed);
        for (index, warning) in admission.warnings {
            placed.get_mut(index).into_iter().for_each(|placed| placed.warnings.push(warning.clone()));
        }
        Ok(placed)
    }

    /// Asks features about a job that was not enqueued by a request.
    pub(crate) fn judge(&mut self, job_type: &str, envelope: &str) -> Applied<()> {
        call!(self, judge, job_type, envelope);
        Ok(())
    }

    /// Stores jobs, all or none.
    fn store_all(&mut self, jobs: &[Arc<NewJob>], makes_more: bool) -> Applied<Vec<Placed>> {
        if makes_more || jobs.iter().any(|job| job.unique.is_some() || job.rate_limit.is_some() || job.train.is_some()) {
            return self.enqueue_unique(jobs);
        }
        let mut rows = Vec::with_capacity(jobs.len());
        let mut queues = Vec::with_capacity(jobs.len());
        for job in jobs {
            let (row, queue) = self.first_row(job, Link::default())?;
            rows.push(row);
            queues.push(queue);
        }
        let all: Vec<&NewJob> = jobs.iter().map(Arc::as_ref).collect();
        if let Some(index) = self.tables.insert_all(&all, &mut rows)? {
            // All or none: a refusal also undoes the jobs before it.
            return match all.get(index) {
                Some(job) => Err(self.duplicate(job, index, jobs.len())?.into()),
                None => Err(StoreError::Failed(format!("no job {index} in a batch of {}", jobs.len())).into()),
            };
        }
        let mut placed = Vec::with_capacity(jobs.len());
        for ((row, queue), job) in rows.into_iter().zip(queues).zip(jobs) {
            self.announce(&row, job)?;
            placed.push(Placed::fresh(row, queue, job));
        }
        Ok(placed)
    }

    /// One by one: a job may replace one that stands before it in the same batch, and storing it may change more than jobs.
    fn enqueue_unique(&mut self, jobs: &[Arc<NewJob>]) -> Applied<Vec<Placed>> {
        // Everything that can be refused is found before anything is changed: a replaced job could not be brought back.
        self.check_conflicts(jobs)?;
        let mut placed: Vec<Placed> = Vec::with_capacity(jobs.len());
        for (index, job) in jobs.iter().enumerate() {
            let Some(stored) = self.place(job, Link::default())? else {
                return Err(StoreError::Failed(format!("id {} of element {index} was free a moment ago", job.id)).into());
            };
            if !stored.deduplicated {
                self.announce(&stored.job.row, job)?;
            }
            placed.push(stored);
        }
        Ok(placed)
    }

    /// Ids that exist and uniqueness conflicts that refuse, among the stored jobs and within the batch.
    fn check_conflicts(&mut self, jobs: &[Arc<NewJob>]) -> Applied<()> {
        let mut wanted = Wanted::default();
        jobs.iter().for_each(|job| wanted.job(job.id));
        self.tables.prepare(&wanted)?;
        let mut ids = HashSet::new();
        let mut keys = HashSet::new();
        for (index, job) in jobs.iter().enumerate() {
            if !ids.insert(job.id) || self.tables.row(job.id)?.is_some() {
                return Err(self.duplicate(job, index, jobs.len())?.into());
            }
            let Some(policy) = &job.unique else { continue };
            if matches!(policy.on_conflict, OnConflict::Replace | OnConflict::ReplaceExceptSchedule)
                && job.own_only
                && let Some(existing) = self.conflicting(policy)?
                && self.is_foreign(job, &existing)?
            {
                let error = not_unique(&existing, policy).with_hint("Another key enqueued it: this key may not replace it.");
                return Err(located(error, "unique", index, jobs.len()).into());
            }
            if policy.on_conflict != OnConflict::Reject {
                continue;
            }
            if let Some(existing) = self.conflicting(policy)? {
                let error = not_unique(&existing, policy);
                return Err(located(error, "unique", index, jobs.len()).into());
            }
            if !keys.insert(policy.key) {
                let error = OjsError::new(ErrorCode::Duplicate, "Two jobs of this batch have the same uniqueness key.")
                    .with_details(json!({"uniqueness_key": policy.key.to_string(), "unique_key": policy.key.to_string()}));
                return Err(located(error, "unique", index, jobs.len()).into());
            }
        }
        Ok(())
    }

    /// Whether the job was enqueued with another API key than this one.
    fn is_foreign(&mut self, job: &NewJob, existing: &JobRow) -> Result<bool, StoreError> {
        let body = self.tables.body(existing.seq)?;
        Ok(crate::kernel::owner::is_foreign(job.enqueued_by.as_deref(), &body.text))
    }

    /// Enqueues the job of a step.
    pub(crate) fn place_step(&mut self, job: &NewJob, link: Link) -> Applied<()> {
        if let Some(policy) =
            job.unique.as_ref().filter(|policy| matches!(policy.on_conflict, OnConflict::Reject | OnConflict::Ignore))
            && let Some(existing) = self.conflicting(policy)?
        {
            return Err(not_unique(&existing, policy).into());
        }
        let mut own = Cow::Borrowed(job);
        for complete in self.counters.features.iter().filter_map(|feature| feature.complete) {
            own = complete(self, &own)?.map_or(own, Cow::Owned);
        }
        let job = &*own;
        if self.changes_others(job)? && self.tables.row(job.id)?.is_some() {
            return Err(self.duplicate(job, 0, 1)?.into());
        }
        match self.place(job, link)? {
            Some(placed) => {
                self.announce(&placed.job.row, job)?;
                Ok(())
            }
            None => Err(self.duplicate(job, 0, 1)?.into()),
        }
    }

    /// Whether storing the job also changes another job or a limit, or creates a queue or a job type.
    fn changes_others(&mut self, job: &NewJob) -> Result<bool, StoreError> {
        Ok(job.unique.is_some()
            || job.rate_limit.is_some()
            || job.max_per_second.is_some()
            || job.train.is_some()
            || job.version.is_some()
            || self.tables.find_queue(&job.queue)?.is_none_or(|queue| queue.phase == QueuePhase::Deleted)
            || self.tables.find_job_type_id(&job.job_type)?.is_none()
            || job.tenant.is_some())
    }

    /// Applies the conflict policy to an earlier job with the same uniqueness key: refuse, return it, or replace it.
    pub(crate) fn conflicting(&mut self, policy: &UniquePolicy) -> Result<Option<JobRow>, StoreError> {
        let since = policy.since(self.now);
        if matches!(policy.on_conflict, OnConflict::Reject | OnConflict::Ignore) {
            return self.tables.find_unique(&policy.key, &policy.states, since);
        }
        // Only a job that has not ended can be replaced.
        self.tables.find_unique(&policy.key, &policy.live_states(), since)
    }

    fn judge_unique(&mut self, job: &NewJob) -> Result<Unique, StoreError> {
        // Refusals were found earlier.
        let Some(policy) = job.unique.as_ref().filter(|policy| policy.on_conflict != OnConflict::Reject) else {
            return Ok(Unique::Fresh);
        };
        let Some(existing) = self.conflicting(policy)? else { return Ok(Unique::Fresh) };
        Ok(match policy.on_conflict {
            OnConflict::Ignore => Unique::Existing(existing),
            OnConflict::Reject | OnConflict::Replace | OnConflict::ReplaceExceptSchedule => Unique::Replaces(existing),
        })
    }

    /// Stores one job, or finds the one it duplicates; `None` when the id exists.
    fn place(&mut self, job: &NewJob, link: Link) -> Result<Option<Placed>, StoreError> {
        let moved = match self.judge_unique(job)? {
            Unique::Fresh => None,
            Unique::Existing(row) => {
                let foreign = job.own_only && self.is_foreign(job, &row)?;
                return Ok(Some(Placed {
                    job: self.view(row)?,
                    deduplicated: true,
                    foreign,
                    pressure: None,
                    warnings: Vec::new(),
                    key: None,
                }));
            }
            Unique::Replaces(existing) => {
                self.withdraw(&existing, REPLACED)?;
                self.withdraw_others(job)?;
                self.take_over_schedule(&existing, job)?
            }
        };
        let job = moved.as_ref().unwrap_or(job);
        let (mut row, queue) = self.first_row(job, link)?;
        let known = self.tables.insert_all(&[job], std::slice::from_mut(&mut row))?;
        Ok(known.is_none().then(|| Placed::fresh(row, queue, job)))
    }

    /// Withdraws further jobs with the same key as the one that replaces them. They exist when an operator has run one
    /// of them again.
    fn withdraw_others(&mut self, job: &NewJob) -> Result<(), StoreError> {
        let Some(policy) = &job.unique else { return Ok(()) };
        while let Some(other) = self.conflicting(policy)? {
            if job.own_only && self.is_foreign(job, &other)? {
                // Another key enqueued it.
                break;
            }
            self.withdraw(&other, REPLACED)?;
        }
        Ok(())
    }

    /// The job at the time of the scheduled one it replaces, when its policy spares the schedule.
    fn take_over_schedule(&mut self, existing: &JobRow, job: &NewJob) -> Result<Option<NewJob>, StoreError> {
        let spares = job.unique.as_ref().is_some_and(|policy| policy.on_conflict == OnConflict::ReplaceExceptSchedule);
        if !spares || existing.state != JobState::Scheduled {
            return Ok(None);
        }
        let at = Timestamp::from_millis(existing.sort_key);
        let whole = ojs_model::json::object(&self.tables.body(existing.seq)?.text);
        let shown = ojs_model::json::member(&whole, "scheduled_at").and_then(ojs_model::json::string);
        Ok(Some(job.moved_to(at, &shown.map_or_else(|| at.to_string(), |text| text.into_owned()))))
    }

    /// The row of a job in its first state, not stored yet, and the name of its queue.
    fn first_row(&mut self, job: &NewJob, link: Link) -> Result<(JobRow, Arc<str>), StoreError> {
        let mut queue = self.queue_for_use(&job.queue)?;
        if let Some(limit) = job.max_per_second.filter(|rate| *rate != queue.rate) {
            // The latest rate is the queue's (protocol section 8.8).
            queue = self.tables.lock_queue(queue.num)?;
            queue.limit(Rate { limit, period_ms: 1000 }, self.now.as_millis());
            self.tables.save_queue(&queue)?;
        }
        let job_type_id = self.tables.job_type_id(&job.job_type)?;
        let now = self.now.as_millis();
        let later = job.scheduled_at.map_or(0, Timestamp::as_millis);
        let (state, sort_key) = if job.expires_at.is_some_and(|at| at <= self.now) {
            (JobState::Discarded, now)
        } else if job.pending {
            (JobState::Pending, later)
        } else if later > now {
            (JobState::Scheduled, later)
        } else {
            (JobState::Available, self.counters.ticket(self.now))
        };
        let mut row = fresh_row(job, queue.num, job_type_id, state, sort_key, self.now);
        (row.workflow, row.step) = (link.workflow, link.step);
        call!(self, on_enqueue, job, &mut row);
        match row.state {
            JobState::Available => {
                row.enqueued_at = now;
                call!(self, on_available, &mut row);
            }
            JobState::Discarded => {
                (row.finished_at, row.expires_at) = (now, 0);
                row.flags |= flag::EXPIRED;
            }
            _ => {}
        }
        Ok((row, queue.name))
    }

    fn announce(&mut self, row: &JobRow, job: &NewJob) -> Result<(), StoreError> {
        self.count(row, row.state, 1);
        for on_stored in self.counters.features.iter().filter_map(|feature| feature.on_stored) {
            on_stored(self, row);
        }
        self.journal.tally.accepted(row);
        if let Some(trace) = &job.trace_id {
            self.traces.insert(row.seq, trace.clone());
        }
        self.journal.moved(self.now, None, row);
        let mut extra = String::new();
        let name = match row.state {
            JobState::Available => {
                *self.ready.entry(row.queue).or_default() += 1;
                if row.priority != 0 {
                    let _ = write!(extra, "\"priority\":{}", row.priority);
                }
                "job.enqueued"
            }
            JobState::Scheduled => {
                self.counters.note_due(row.sort_key);
                let _ = write!(extra, "\"scheduled_at\":\"{}\"", Timestamp::from_millis(row.sort_key));
                "job.scheduled"
            }
            JobState::Discarded => return self.emit_stillborn(row, job.expires_at),
            _ => return Ok(()),
        };
        self.emit(name, row, &extra)
    }

    fn duplicate(&mut self, job: &NewJob, index: usize, of: usize) -> Result<OjsError, StoreError> {
        // The answer shows nothing about a job of another tenant, not even its state.
        let state = self.tables.visible(job.id)?.map_or(JobState::Available, |row| row.state);
        Ok(located(OjsError::duplicate_id(job.id, state), "id", index, of))
    }
}

impl Placed {
    fn fresh(row: JobRow, queue: Arc<str>, job: &NewJob) -> Self {
        let (body, history) = (fresh_body(job), Default::default());
        let job = JobView { row, body, history, queue, worker: None, train: None, delivered: String::new() };
        Self { job, deduplicated: false, foreign: false, pressure: None, warnings: Vec::new(), key: None }
    }
}

/// Adds the index of the element of a batch.
fn located(mut error: OjsError, field: &str, index: usize, of: usize) -> OjsError {
    if let (true, Some(details)) = (of > 1, error.details.as_mut().and_then(|d| d.as_object_mut())) {
        details.insert("index".into(), json!(index));
        details.insert("field".into(), json!(format!("jobs[{index}].{field}")));
    }
    error
}

pub(crate) fn not_unique(existing: &JobRow, policy: &UniquePolicy) -> OjsError {
    let key = policy.key.to_string();
    OjsError::new(ErrorCode::Duplicate, format!("Job '{}' with the same uniqueness key is {}.", existing.id, existing.state))
        .with_details(json!({
            "existing_job_id": existing.id.to_string(), "existing_job_state": existing.state.as_str(),
            "uniqueness_key": key, "unique_key": key,
        }))
}
