//! Many jobs in one command: enqueued each on its own, cancelled, run again, removed.
//!
//! One command is one slice: who wants a million jobs changed sends many, and others are served in between.
use std::collections::HashSet;
use std::slice;
use std::sync::Arc;

use ojs_model::json::{push_bare, push_text};
use ojs_model::state::Trigger;
use ojs_model::{ErrorCode, JobId, JobState, NewJob, OjsError};
use serde_json::json;

use crate::error::{Applied, StoreError};
use crate::features::bulk::answer::enqueue_answer;
use crate::features::bulk::records::{Action, Batch, BulkFilter, Order, Stored};
use crate::features::idempotency::records::{IdempotencyKey, Remembered};
use crate::kernel::job::{JobRow, flag};
use crate::kernel::part::Part;
use crate::kernel::placed::Placed;
use crate::kernel::transaction::Transaction;
use crate::store::rows::JobFilter;
use crate::store::tables::Tables;

/// What became of each job of a batch.
type Results = Vec<Result<Placed, OjsError>>;

impl Transaction<'_> {
    /// Tells that a request is done, and keeps its answer if it had a key.
    pub(crate) fn conclude(&mut self, event: &str, extra: &str, answer: Option<&(IdempotencyKey, u16, String)>) -> Applied<()> {
        self.journal.other(event, self.now, "bulk", extra);
        if let Some((key, status, body)) = answer {
            self.keep_answer(key, *status, body)?;
        }
        Ok(())
    }

    /// Stores jobs, each on its own or all together.
    pub(crate) fn enqueue_many(&mut self, batch: &Batch) -> Applied<Stored> {
        if let Some(key) = &batch.key
            && let Some(known) = known_answer(self.tables, key, self.now.as_millis())?
        {
            return Ok(Stored::Known(known));
        }
        let results = if batch.atomic { self.enqueue_all_or_none(batch)? } else { self.enqueue_each(batch)? };
        let failed = results.iter().filter(|result| result.is_err()).count();
        let mut extra = String::new();
        push_bare(&mut extra, "total", results.len());
        push_bare(&mut extra, "succeeded", results.len() - failed);
        push_bare(&mut extra, "failed", failed);
        push_text(&mut extra, "atomicity", if batch.atomic { "atomic" } else { "partial" });
        self.journal.other("bulk.enqueue.completed", self.now, "bulk", &extra);
        // A request that stored nothing may be sent again, and may fare better.
        if let Some(key) = batch.key.as_ref().filter(|_| failed < results.len()) {
            let (status, body) = enqueue_answer(&results, batch.atomic);
            self.keep_answer(key, status, &body)?;
        }
        Ok(Stored::Placed(results))
    }

    fn enqueue_each(&mut self, batch: &Batch) -> Applied<Results> {
        let mut results = Vec::with_capacity(batch.jobs.len());
        for (place, job) in batch.jobs.iter().enumerate() {
            results.push(match job {
                Ok(job) => self.enqueue_some(place, slice::from_ref(job))?.map(|mut placed| placed.pop()).and_then(|placed| {
                    placed.ok_or_else(|| OjsError::new(ErrorCode::InternalError, "The job was stored and not found again."))
                }),
                Err(error) => Err(error.clone()),
            });
        }
        Ok(results)
    }

    fn enqueue_all_or_none(&mut self, batch: &Batch) -> Applied<Results> {
        let jobs: Vec<Arc<NewJob>> = batch.jobs.iter().flatten().cloned().collect();
        if jobs.len() == batch.jobs.len() {
            return Ok(match self.enqueue_some(0, &jobs)? {
                Ok(placed) => placed.into_iter().map(Ok).collect(),
                Err(error) => {
                    // Where the fault lies with one of them, the error says which.
                    let index = error.details.as_ref().and_then(|details| details.get("index")?.as_u64());
                    let guilty = |at: usize| index.is_none_or(|index| index == at as u64);
                    let told = |at| Err(if guilty(at) { error.clone() } else { rolled_back() });
                    (0..jobs.len()).map(told).collect()
                }
            });
        }
        Ok(batch.jobs.iter().map(|job| Err(job.as_ref().err().cloned().unwrap_or_else(rolled_back))).collect())
    }

    /// Stores jobs, all or none; a refusal is the inner error.
    fn enqueue_some(&mut self, place: usize, jobs: &[Arc<NewJob>]) -> Applied<Result<Vec<Placed>, OjsError>> {
        match self.part(Part::Job(self.command, place), |transaction| transaction.enqueue(jobs)) {
            Ok(placed) => Ok(Ok(placed)),
            Err(refusal) => Ok(Err(refusal.into_error()?)),
        }
    }

    fn keep_answer(&mut self, key: &IdempotencyKey, status: u16, body: &str) -> Result<(), StoreError> {
        let (name, digest, at) = (key.name.clone(), key.digest.to_vec(), self.now.as_millis());
        self.tables.remember(&Remembered { name, digest, status, body: body.to_owned(), at })
    }

    pub(crate) fn change_many(&mut self, order: &Order) -> Applied<Vec<Result<(), OjsError>>> {
        let mut seen = HashSet::with_capacity(order.ids.len());
        let mut found = Vec::with_capacity(order.ids.len());
        // All are looked at before the first is changed: what an atomic order refuses has changed nothing.
        for id in &order.ids {
            found.push(if seen.insert(*id) { self.fit(order, *id)? } else { Err(named_twice(*id)) });
        }
        let refused = order.atomic && found.iter().any(Result::is_err);
        let mut results = Vec::with_capacity(found.len());
        for row in found {
            results.push(match row {
                Ok(_) if refused => Err(rolled_back()),
                Ok(row) => {
                    self.change_row(order.action, &row)?;
                    Ok(())
                }
                Err(error) => Err(error),
            });
        }
        Ok(results)
    }

    /// The row of a job that the order may change.
    fn fit(&mut self, order: &Order, id: JobId) -> Result<Result<JobRow, OjsError>, StoreError> {
        let Some(row) = self.tables.visible(id)? else { return Ok(Err(OjsError::not_found("job", &id.to_string()))) };
        Ok(fits_state(order.action, &order.states, &row).map(|()| row))
    }

    pub(crate) fn change_row(&mut self, action: Action, row: &JobRow) -> Applied<()> {
        match action {
            Action::Cancel => {
                self.withdraw(row, "")?;
            }
            Action::Retry if row.state == JobState::Discarded => {
                self.replay_row(row, None)?;
            }
            Action::Retry => {
                self.make_available(row, row.clone(), Trigger::Promote)?;
            }
            Action::Delete => self.remove(row)?,
            Action::Purge if row.state.is_terminal() => self.remove(row)?,
            Action::Purge => {
                let ended = self.withdraw(row, "\"reason\":\"purged\"")?;
                self.remove(&ended)?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, row: &JobRow) -> Applied<()> {
        let event = if row.has(flag::DEAD) { "dead_letter.deleted" } else { "job.deleted" };
        self.emit(event, row, "")?;
        self.erase(row)
    }
}

/// Refuses a job whose state is not in `states`. An empty list means every state that the action allows.
pub(crate) fn fits_state(action: Action, states: &[JobState], row: &JobRow) -> Result<(), OjsError> {
    let wanted = states.is_empty() || states.contains(&row.state);
    if action.allows(row.state) && wanted { Ok(()) } else { Err(OjsError::wrong_state(row.id, row.state, &action.states())) }
}

/// The answer that a request got before, when it was the same request.
fn known_answer(tables: &mut dyn Tables, key: &IdempotencyKey, now: i64) -> Applied<Option<Remembered>> {
    match tables.answer_under(&key.name)?.filter(|known| known.is_recent(now)) {
        Some(known) if known.digest != key.digest => Err(other_request(key).into()),
        known => Ok(known),
    }
}

/// 409: the key belongs to another request.
pub(crate) fn other_request(key: &IdempotencyKey) -> OjsError {
    let name = key.name.split_once(':').map_or(key.name.as_str(), |(_, name)| name);
    OjsError::new(ErrorCode::Conflict, format!("Idempotency key '{name}' was used with another request in the last 24 hours."))
        .with_details(json!({"reason": "idempotency_key_reused", "idempotency_key": name}))
        .with_hint("Send the first request again as it was, or take a new key.")
}

fn rolled_back() -> OjsError {
    OjsError::new(ErrorCode::Conflict, "Not done: the request is atomic, and another of its jobs was refused.")
        .with_details(json!({"reason": "rolled_back"}))
        .with_hint("Correct the jobs that carry another error, and send the request again.")
}

fn named_twice(id: JobId) -> OjsError {
    OjsError::new(ErrorCode::Conflict, format!("Job '{id}' is named twice in this request."))
        .with_details(json!({"job_id": id.to_string(), "reason": "named_twice"}))
}

/// The next jobs that a filter lets through: ids, and the number to go on behind.
pub(crate) fn find(
    tables: &mut dyn Tables,
    filter: &BulkFilter,
    state: JobState,
    after: i64,
    limit: usize,
) -> Result<(Vec<JobId>, Option<i64>), StoreError> {
    let page = JobFilter { state: Some(state), ascending: true, after, limit, ..filter.filter.clone() };
    let mut rows = tables.jobs(&page)?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|row| row.seq);
    Ok((sift(tables, filter, rows)?.into_iter().map(|row| row.id).collect(), next))
}

/// Those of these rows that the filter lets through.
pub(crate) fn sift(tables: &mut dyn Tables, filter: &BulkFilter, rows: Vec<JobRow>) -> Result<Vec<JobRow>, StoreError> {
    let mut fit = Vec::with_capacity(rows.len());
    for row in rows.into_iter().filter(|row| filter.fits(row)) {
        let passes = filter.meta.is_empty() || filter.fits_meta(&tables.body(row.seq)?);
        if passes && (filter.error_type.is_none() || filter.fits_errors(&tables.history(row.seq)?)) {
            fit.push(row);
        }
    }
    if filter.search.is_empty() {
        return Ok(fit);
    }
    Ok(filter.search.sift(tables, fit, usize::MAX, usize::MAX)?.0)
}
