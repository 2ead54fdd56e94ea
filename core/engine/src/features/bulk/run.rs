//! Carries out a change of many jobs in slices: others are served in between, and a caller that hangs up stops it between two.
use std::time::Instant;

use ojs_model::json::{push_bare, push_text};
use ojs_model::limits::MAX_BATCH_JOBS;
use ojs_model::{ErrorCode, JobId, JobState, OjsError};
use serde_json::json;

use crate::engine::Engine;
use crate::features::bulk::commands::{Conclude, FindJobs, GetAnswer};
use crate::features::bulk::metrics::Bulk;
use crate::features::bulk::records::{Action, BulkFilter, Order};
use crate::features::bulk::rules::other_request;
use crate::features::idempotency::records::{IdempotencyKey, Remembered};
use crate::http::reply::Failure;

/// Jobs changed by one transaction: about 10 ms of a writer's time.
const SLICE: usize = 500;
/// Rows looked at by one reading.
const LOOK: usize = 1_000;
/// Items of a filter's answer that are listed one by one.
const MAX_ITEMS: usize = 1_000;

/// Which jobs.
pub enum Picked {
    /// These, as they were written.
    Ids(Vec<(String, Option<JobId>)>),
    /// All that a filter finds.
    Filter(Box<BulkFilter>),
}

/// A change to carry out.
pub struct Run {
    /// What to do.
    pub action: Action,
    /// To whom.
    pub picked: Picked,
    /// All or none.
    pub atomic: bool,
    /// Count only.
    pub dry_run: bool,
    /// At most so many jobs of a filter.
    pub limit: usize,
}

/// One job of the answer.
pub struct Item {
    /// Its id.
    pub id: String,
    /// Why nothing was done to it.
    pub fault: Option<OjsError>,
}

/// What came of a change.
#[derive(Default)]
pub struct Done {
    /// Jobs that were named or found.
    pub matched: usize,
    /// Those to which nothing was done.
    pub skipped: usize,
    /// The first of them, and with ids all.
    pub items: Vec<Item>,
    /// The limit was reached before the end.
    pub has_more: bool,
    changes: bool,
}

impl Run {
    /// Does it.
    ///
    /// # Errors
    /// Faults of the store, and an atomic filter that finds more than one transaction takes.
    pub async fn carry_out(self, engine: &Engine) -> Result<Done, Failure> {
        let mut done = Done { changes: !self.dry_run, ..Done::default() };
        match &self.picked {
            Picked::Ids(ids) => self.change_named(engine, ids, &mut done).await?,
            Picked::Filter(filter) if self.atomic && !self.dry_run => self.change_at_once(engine, filter, &mut done).await?,
            Picked::Filter(filter) => self.change_found(engine, filter, &mut done).await?,
        }
        Ok(done)
    }

    async fn change_named(&self, engine: &Engine, ids: &[(String, Option<JobId>)], done: &mut Done) -> Result<(), Failure> {
        if self.dry_run {
            done.matched = ids.len();
            return Ok(());
        }
        let unknown = ids.iter().any(|(_, id)| id.is_none());
        let slice = if self.atomic { ids.len() } else { SLICE };
        for slice in ids.chunks(slice.max(1)) {
            let known: Vec<JobId> = slice.iter().filter_map(|(_, id)| *id).collect();
            // A text that is no id refuses an atomic request before anything is asked of the store.
            let outcomes = if self.atomic && unknown { Vec::new() } else { self.order(engine, known, Vec::new()).await? };
            let mut outcomes = outcomes.into_iter();
            for (text, id) in slice {
                let outcome = match id {
                    None => Err(OjsError::not_found("job", text)),
                    Some(_) => outcomes.next().unwrap_or_else(|| Err(unreadable_neighbour())),
                };
                done.note(text.clone(), outcome, usize::MAX);
            }
        }
        Ok(())
    }

    async fn change_found(&self, engine: &Engine, filter: &BulkFilter, done: &mut Done) -> Result<(), Failure> {
        for state in &filter.states {
            let mut after = 0;
            loop {
                let (mut ids, next) = find(engine, filter, *state, after).await?;
                let room = self.limit - done.matched;
                if ids.len() > room || (ids.len() == room && next.is_some()) {
                    done.has_more = true;
                    ids.truncate(room);
                }
                self.change_slices(engine, ids, filter, done).await?;
                match next {
                    Some(seq) if !done.has_more => after = seq,
                    _ => break,
                }
            }
            if done.has_more {
                break;
            }
        }
        Ok(())
    }

    async fn change_slices(&self, engine: &Engine, ids: Vec<JobId>, filter: &BulkFilter, done: &mut Done) -> Result<(), Failure> {
        if self.dry_run {
            done.matched += ids.len();
            return Ok(());
        }
        for slice in ids.chunks(SLICE) {
            let outcomes = self.order(engine, slice.to_vec(), filter.states.clone()).await?;
            for (id, outcome) in slice.iter().zip(outcomes) {
                done.note(id.to_string(), outcome, MAX_ITEMS);
            }
        }
        Ok(())
    }

    /// All that a filter finds in one transaction.
    async fn change_at_once(&self, engine: &Engine, filter: &BulkFilter, done: &mut Done) -> Result<(), Failure> {
        let mut all = Vec::new();
        for state in &filter.states {
            let mut after = Some(0);
            while let Some(behind) = after {
                let (ids, next) = find(engine, filter, *state, behind).await?;
                all.extend(ids);
                after = next;
                if all.len() > MAX_BATCH_JOBS.min(self.limit) {
                    return Err(too_many().into());
                }
            }
        }
        if all.is_empty() {
            return Ok(());
        }
        let outcomes = self.order(engine, all.clone(), filter.states.clone()).await?;
        for (id, outcome) in all.iter().zip(outcomes) {
            done.note(id.to_string(), outcome, MAX_ITEMS);
        }
        Ok(())
    }

    async fn order(&self, engine: &Engine, ids: Vec<JobId>, states: Vec<JobState>) -> Result<Vec<Result<(), OjsError>>, Failure> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let order = Order { action: self.action, ids, states, atomic: self.atomic };
        Ok(engine.execute(order).await?)
    }
}

impl Done {
    fn note(&mut self, id: String, outcome: Result<(), OjsError>, most: usize) {
        self.matched += 1;
        self.skipped += usize::from(outcome.is_err());
        if self.items.len() < most {
            self.items.push(Item { id, fault: outcome.err() });
        }
    }

    /// Jobs that were changed.
    pub fn succeeded(&self) -> usize {
        if self.changes { self.matched - self.skipped } else { 0 }
    }

    /// For the figures: nothing of it counts as changed in a dry run.
    pub fn figures(&self, action: Action, atomic: bool, began: Instant) -> Bulk {
        let items = vec![(action.done(), self.succeeded()), ("skipped", self.skipped)];
        Bulk { operation: action.verb(), atomic, size: self.matched, items, took: began.elapsed() }
    }

    /// Emits its event, and keeps the answer if the request had a key.
    ///
    /// # Errors
    /// Faults of the store.
    pub async fn conclude(
        &self,
        engine: &Engine,
        action: Action,
        key: Option<IdempotencyKey>,
        status: u16,
        body: &str,
    ) -> Result<(), Failure> {
        if !self.changes {
            return Ok(());
        }
        let mut extra = String::new();
        push_bare(&mut extra, "total", self.matched);
        push_bare(&mut extra, action.done(), self.succeeded());
        push_bare(&mut extra, "skipped", self.skipped);
        push_text(&mut extra, "operation", action.verb());
        let event = format!("bulk.{}.completed", action.verb());
        let answer = key.map(|key| (key, status, body.to_owned()));
        engine.execute(Conclude { event, extra, answer }).await?;
        Ok(())
    }
}

async fn find(engine: &Engine, filter: &BulkFilter, state: JobState, after: i64) -> Result<(Vec<JobId>, Option<i64>), Failure> {
    Ok(engine.query(FindJobs { filter: filter.clone(), state, after, limit: LOOK }).await?)
}

/// The answer that a request got before.
///
/// # Errors
/// 409 when the key was used with another request.
pub async fn known_answer(engine: &Engine, key: &IdempotencyKey) -> Result<Option<Remembered>, Failure> {
    let known = engine.query(GetAnswer(key.name.clone())).await?;
    match known.filter(|known| known.is_recent(engine.now().as_millis())) {
        Some(known) if known.digest != key.digest => Err(other_request(key).into()),
        known => Ok(known),
    }
}

fn unreadable_neighbour() -> OjsError {
    OjsError::new(ErrorCode::Conflict, "Not done: the request is atomic, and another of its ids names no job.")
        .with_details(json!({"reason": "rolled_back"}))
}

fn too_many() -> OjsError {
    let message = format!("The filter finds more than the {MAX_BATCH_JOBS} jobs that one transaction takes.");
    OjsError::new(ErrorCode::BatchSizeExceeded, message)
        .with_details(json!({"field": "filter", "max_batch_size": MAX_BATCH_JOBS}))
        .with_hint("Narrow the filter, or use atomicity partial.")
}
