//! What keeps a train where it is: a hold, and a cancelled job whose handler may still run.
use ojs_model::{ErrorCode, JobId, JobState, OjsError, json};
use serde_json::json;

use crate::error::Applied;
use crate::features::trains::answer::train_id;
use crate::features::trains::records::{DrainRow, TrainRow, TrainState};
use crate::features::trains::rules::{BY_JOB, Stored, holds};
use crate::kernel::aside::SLICE;
use crate::kernel::job::{JobRow, flag};
use crate::kernel::transaction::Transaction;
use crate::store::rows::WorkerRow;

impl Transaction<'_> {
    /// The locomotive has ended and holds its train.
    pub(super) fn hold_by_job(&mut self, mut train: TrainRow, row: &JobRow) -> Stored<()> {
        let by = format!("{BY_JOB}{}", row.state.as_str());
        if train.state != TrainState::Held {
            self.note_hold(&mut train, by);
        }
        self.keep_train(train)
    }

    fn note_hold(&mut self, train: &mut TrainRow, by: String) {
        (train.state, train.held_at, train.held_by) = (TrainState::Held, self.now.as_millis(), by);
        let (job, by) = (train.locomotive, train.held_by.clone());
        self.emit_train("train.held", train, job, |extra| json::push_text(extra, "held_by", &by));
    }

    /// Ends a hold. The train drains again when a cancelled job may still run.
    fn release_train(&mut self, train: &mut TrainRow, by: &str) -> Stored<()> {
        let drains = self.tables.drain_of(train.num)?.is_some();
        train.state = if drains { TrainState::Draining } else { TrainState::Running };
        (train.held_at, train.held_by) = (0, String::new());
        let job = train.locomotive;
        self.emit_train("train.released", train, job, |extra| json::push_text(extra, "released_by", by));
        Ok(())
    }

    /// An operator holds a train.
    pub(crate) fn hold_train(&mut self, tenant: i64, id: &str, by: &str) -> Applied<TrainRow> {
        let mut train = self.require_train(tenant, id)?;
        if train.state != TrainState::Held {
            self.note_hold(&mut train, by.to_owned());
            self.keep_train(train.clone())?;
        }
        Ok(train)
    }

    /// An operator ends a hold. With `job` only when this job is the locomotive.
    pub(crate) fn advance_train(&mut self, tenant: i64, id: &str, job: Option<JobId>, by: &str) -> Applied<TrainRow> {
        // The job first: that is the order in which all others lock.
        let seen = self.tables.find_train(tenant, id)?.ok_or_else(|| OjsError::not_found("train", id))?;
        let row = match seen.locomotive {
            Some(locomotive) => self.tables.row(locomotive)?,
            None => None,
        };
        let mut train = self.require_train(tenant, id)?;
        if job.is_some() && job != train.locomotive || train.locomotive != seen.locomotive {
            return Err(other_locomotive(&train, job).into());
        }
        if train.state != TrainState::Held {
            return Err(not_held(&train).into());
        }
        self.release_train(&mut train, by)?;
        let ended = row.as_ref().is_none_or(|row| row.state.is_terminal());
        match train.locomotive {
            Some(locomotive) if ended && train.state == TrainState::Running => {
                self.leave_ended(train.clone(), locomotive, row.as_ref(), "advanced")?;
            }
            _ => {
                self.features.trains.open.insert(train.num);
                self.keep_train(train.clone())?;
            }
        }
        self.move_trains_on()?;
        Ok(self.train(train.num)?.unwrap_or(TrainRow { locomotive: None, ..train }))
    }

    /// A locomotive that ended before leaves its train.
    pub(super) fn leave_ended(&mut self, train: TrainRow, job: JobId, row: Option<&JobRow>, reason: &str) -> Stored<()> {
        if let Some(row) = row.filter(|row| row.has(flag::CAR)) {
            self.tables.update(row, &JobRow { flags: row.flags & !flag::CAR, ..row.clone() })?;
        }
        self.leave(train, job, reason)
    }

    fn require_train(&mut self, tenant: i64, id: &str) -> Applied<TrainRow> {
        let found = self.tables.find_train(tenant, id)?;
        let train = match found {
            Some(found) => self.train(found.num)?,
            None => None,
        };
        train.ok_or_else(|| OjsError::not_found("train", id).into())
    }

    /// A discarded job is to run again: in its old place if it holds its train, else at the end. True when it must
    /// wait.
    pub(crate) fn rejoin_train(&mut self, row: &mut JobRow) -> Applied<bool> {
        if !row.has(flag::TRAIN) {
            return Ok(false);
        }
        if row.has(flag::CAR)
            && let Some(car) = self.tables.car_of(row.id)?
            && let Some(mut train) = self.train(car.train)?
            && train.locomotive == Some(row.id)
        {
            if train.state == TrainState::Held {
                self.release_train(&mut train, "job.retried")?;
                self.keep_train(train)?;
            }
            return Ok(false);
        }
        // An operator wants it to run: it is not staged a second time.
        row.flags &= !(flag::CAR | flag::WAITS | flag::STAGED);
        let body = self.tables.body(row.seq)?;
        let Some(id) = train_id(&body.text) else { return Ok(false) };
        let waits = self.enter_train(&id, row)?;
        if waits {
            row.sort_key = 0;
        }
        Ok(waits)
    }

    /// An ended job that still has its place is about to be removed: it held its train, or its handler may still run.
    pub(crate) fn erase_in_train(&mut self, row: &JobRow) -> Stored<()> {
        let Some(car) = self.tables.car_of(row.id)? else { return Ok(()) };
        let Some(mut train) = self.train(car.train)?.filter(|train| train.locomotive == Some(row.id)) else {
            return self.tables.remove_car_of(row.id);
        };
        if self.tables.drain_of(train.num)?.is_some() {
            // The train goes on when the lease of the removed job is over.
            return Ok(());
        }
        if train.held_by.starts_with(BY_JOB) {
            self.release_train(&mut train, "job.deleted")?;
        }
        self.leave(train, row.id, "deleted")
    }

    /// A worker has reported a job that is not its own any more. If it was cancelled, its handler has returned.
    pub(crate) fn note_late_outcome(&mut self, job: JobId, lease: Option<i64>) -> Stored<()> {
        let row = self.tables.row(job)?;
        let Some(row) = row.filter(|row| row.has(flag::CAR) && row.state == JobState::Cancelled) else { return Ok(()) };
        if lease.is_some_and(|lease| lease != row.lease) {
            return Ok(());
        }
        match self.tables.car_of(job)? {
            Some(car) => self.end_drain(car.train),
            None => Ok(()),
        }
    }

    /// A worker has sent a heartbeat: the drains of jobs that it names go on, those of others end.
    pub(crate) fn note_heartbeat(&mut self, worker: &WorkerRow, jobs: &[(JobId, Option<i64>)]) -> Stored<()> {
        for drain in self.tables.drains_of(worker.num)? {
            let locomotive = self.tables.train_as_it_is(drain.train)?.and_then(|train| train.locomotive);
            if locomotive.is_some_and(|job| jobs.iter().any(|(named, _)| *named == job)) {
                let until = self.now.as_millis().saturating_add(drain.lease_ms).min(drain.deadline);
                self.tables.put_drain(&DrainRow { until: until.max(drain.until), ..drain })?;
            } else if worker.beat_at > drain.started_at {
                // Not the first heartbeat since the job began: that one may have been on its way before.
                self.end_drain(drain.train)?;
            }
        }
        Ok(())
    }

    /// A worker is dead: nothing of it runs any more.
    pub(crate) fn end_drains_of(&mut self, worker: i64) -> Stored<()> {
        for drain in self.tables.drains_of(worker)? {
            self.end_drain(drain.train)?;
        }
        Ok(())
    }

    /// Ends the drains whose leases are over.
    pub(crate) fn end_due_drains(&mut self) -> Stored<()> {
        for drain in self.tables.drained_by(self.now.as_millis(), SLICE)? {
            self.end_drain(drain.train)?;
        }
        Ok(())
    }

    /// The handler of a cancelled locomotive has ended: the train goes on, or is held.
    fn end_drain(&mut self, num: i64) -> Stored<()> {
        let Some(mut train) = self.train(num)? else { return self.tables.delete_drain(num) };
        if self.tables.drain_of(num)?.is_none() {
            return Ok(());
        }
        self.tables.delete_drain(num)?;
        if train.state == TrainState::Draining {
            train.state = TrainState::Running;
        }
        let Some(locomotive) = train.locomotive else { return self.keep_train(train) };
        let row = self.tables.row(locomotive)?;
        match row.as_ref().filter(|row| holds(row)) {
            Some(row) => self.hold_by_job(train, row),
            None => self.leave_ended(train, locomotive, row.as_ref(), "cancelled"),
        }
    }
}

fn other_locomotive(train: &TrainRow, job: Option<JobId>) -> OjsError {
    let told = train.locomotive.map_or_else(|| "no job".to_owned(), |job| format!("job '{job}'"));
    let message = match job {
        Some(job) => format!("Job '{job}' is not the locomotive of train '{}': {told} is.", train.id),
        None => format!("The locomotive of train '{}' has changed meanwhile: it is {told} now.", train.id),
    };
    OjsError::new(ErrorCode::Conflict, message)
        .with_details(
            json!({"reason": "other_locomotive", "field": "job_id", "train_id": &*train.id, "locomotive": train.locomotive}),
        )
        .with_hint("Read the train again.")
}

fn not_held(train: &TrainRow) -> OjsError {
    let state = train.state.as_str();
    OjsError::new(ErrorCode::Conflict, format!("Train '{}' is {state}; only a held train can be advanced.", train.id))
        .with_details(json!({"reason": "train_not_held", "train_id": &*train.id, "current_state": state}))
}
