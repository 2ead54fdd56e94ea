//! Enqueue: one job or many, all or none.
use std::fmt::Write;
use std::sync::Arc;

use ojs_model::{JobState, NewJob, OjsError, Timestamp};
use serde_json::json;

use super::{Applied, Turn};
use crate::command::Reply;
use crate::job::{JobRow, JobView, flag};
use crate::tables::{StoreError, fresh_body, fresh_row};

impl Turn<'_> {
    pub(super) fn enqueue(&mut self, jobs: &[Arc<NewJob>]) -> Applied<Reply> {
        let mut stored: Vec<(JobRow, Arc<str>)> = Vec::with_capacity(jobs.len());
        for (index, job) in jobs.iter().enumerate() {
            match self.insert(job)? {
                Some(placed) => stored.push(placed),
                None => {
                    // All or none: take back what this command stored. Nobody has seen it, the transaction is open.
                    for (row, _) in &stored {
                        self.tables.delete(row)?;
                    }
                    return Err(self.duplicate(job, index, jobs.len())?.into());
                }
            }
        }
        let mut views = Vec::with_capacity(stored.len());
        for ((row, queue), job) in stored.into_iter().zip(jobs) {
            self.announce(&row);
            views.push(JobView { row, body: fresh_body(job), history: Default::default(), queue, worker: None });
        }
        Ok(Reply::Enqueued(views))
    }

    /// Stores one job in its first state; `None` when the id exists.
    fn insert(&mut self, job: &NewJob) -> Result<Option<(JobRow, Arc<str>)>, StoreError> {
        let queue = self.tables.queue(&job.queue, self.now)?;
        let kind = self.tables.kind(&job.job_type)?;
        let now = self.now.as_millis();
        let later = job.scheduled_at.map_or(0, Timestamp::as_millis);
        let (state, pos) = if job.expires_at.is_some_and(|at| at <= self.now) {
            (JobState::Discarded, now)
        } else if job.pending {
            (JobState::Pending, later)
        } else if later > now {
            (JobState::Scheduled, later)
        } else {
            (JobState::Available, self.counters.ticket(self.now))
        };
        let mut row = fresh_row(job, queue.num, kind, state, pos, self.now);
        match state {
            JobState::Available => row.enqueued_at = now,
            JobState::Discarded => {
                row.finished_at = now;
                row.flags |= flag::EXPIRED;
            }
            _ => {}
        }
        let fresh = self.tables.insert(job, &mut row)?;
        Ok(fresh.then_some((row, queue.name)))
    }

    fn announce(&mut self, row: &JobRow) {
        self.count(row.queue, row.state, 1);
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
                let _ = write!(extra, "\"scheduled_at\":\"{}\"", Timestamp::from_millis(row.pos));
                "job.scheduled"
            }
            JobState::Discarded => "job.expired",
            _ => return,
        };
        self.journal.job(name, self.now, row, &extra);
    }

    fn duplicate(&mut self, job: &NewJob, index: usize, of: usize) -> Result<OjsError, StoreError> {
        let state = self.tables.row(job.id)?.map_or(JobState::Available, |row| row.state);
        let mut error = OjsError::duplicate_id(job.id, state);
        if let (true, Some(details)) = (of > 1, error.details.as_mut().and_then(|d| d.as_object_mut())) {
            details.insert("index".into(), json!(index));
            details.insert("field".into(), json!(format!("jobs[{index}].id")));
        }
        Ok(error)
    }
}
