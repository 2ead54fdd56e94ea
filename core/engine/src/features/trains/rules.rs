//! Joining a train, leaving it, and who is next.
use ojs_model::state::Trigger;
use ojs_model::{JobId, JobState, NewJob, OjsError, Timestamp, json};

use crate::error::{Applied, StoreError};
use crate::features::trains::answer::{place_of, train_id};
use crate::features::trains::records::{CarRow, DrainRow, PAGE, TrainRow, TrainState};
use crate::kernel::job::{JobRow, flag};
use crate::kernel::placed::Placed;
use crate::kernel::transaction::Transaction;

pub(super) type Stored<T> = Result<T, StoreError>;

/// Who or what holds a train because its locomotive ended: how `held_by` begins then.
pub(super) const BY_JOB: &str = "job.";

impl Transaction<'_> {
    /// A new job joins its train, if it names one and has not expired already.
    pub(crate) fn join_train(&mut self, job: &NewJob, row: &mut JobRow) -> Stored<()> {
        let Some(train) = job.train.as_ref().filter(|_| !row.state.is_terminal()) else { return Ok(()) };
        if self.enter_train(&train.id, row)? {
            row.state = JobState::Pending;
            row.sort_key = job.scheduled_at.map_or(0, Timestamp::as_millis);
        }
        Ok(())
    }

    /// Puts a job at the end of a train. True when it must wait for others.
    pub(super) fn enter_train(&mut self, id: &str, row: &mut JobRow) -> Stored<bool> {
        let now = self.now.as_millis();
        let mut train = self.train_of(row.tenant, id)?;
        let car = CarRow { train: train.num, position: train.next_position, job: row.id, joined_at: now };
        let runs = train.locomotive.is_none() && train.state == TrainState::Running;
        // A train without a locomotive has no cars, unless its next car is chosen at the end of this command.
        let leads = runs && (car.position == 1 || self.tables.cars(train.num, 0, 1)?.is_empty());
        train.next_position += 1;
        row.flags |= flag::CAR;
        self.tables.add_car(&car)?;
        self.emit_train("train.joined", &train, Some(row.id), |extra| json::push_whole(extra, "position", car.position));
        if leads {
            train.locomotive = Some(row.id);
            self.depart(&train, &car);
        } else {
            row.flags |= flag::WAITS;
            if runs {
                self.features.trains.open.insert(train.num);
            }
        }
        self.keep_train(train)?;
        Ok(!leads)
    }

    /// Says that a car has become the locomotive.
    fn depart(&mut self, train: &TrainRow, car: &CarRow) {
        let waited = self.now.as_millis().saturating_sub(car.joined_at).max(0);
        self.features.trains.waited.push(waited);
        self.emit_train("train.departed", train, Some(car.job), |extra| {
            json::push_whole(extra, "position", car.position);
            json::push_whole(extra, "wait_ms", waited);
        });
    }

    /// Says where each job of an enqueue stands.
    pub(crate) fn show_trains(&mut self, placed: &mut [Placed]) -> Stored<()> {
        for job in placed.iter_mut().map(|placed| &mut placed.job).filter(|job| job.row.has(flag::TRAIN)) {
            job.train = Some(place_of(self.tables, &job.row, &job.body)?);
        }
        Ok(())
    }

    /// A job that has a place in its train ends.
    pub(crate) fn end_in_train(&mut self, before: &JobRow, after: &mut JobRow) -> Stored<()> {
        if before.has(flag::WAITS) {
            // It is not the locomotive, so the train is not asked, and not locked.
            after.flags &= !(flag::CAR | flag::WAITS);
            return self.tables.remove_car_of(before.id);
        }
        let train = match self.tables.car_of(before.id)? {
            Some(car) => self.train(car.train)?,
            None => None,
        };
        let Some(mut train) = train.as_ref().filter(|train| train.locomotive == Some(before.id)).cloned() else {
            // After a fault. The train looks for its next car, if it has no locomotive.
            self.features.trains.open.extend(train.map(|train| train.num));
            after.flags &= !flag::CAR;
            return self.tables.remove_car_of(before.id);
        };
        train.epoch += i64::from(before.attempt);
        if after.state == JobState::Cancelled && before.state == JobState::Active && !before.has(flag::LEAVES_ACTIVE) {
            self.tables.put_drain(&DrainRow {
                train: train.num,
                until: before.sort_key,
                deadline: before.deadline,
                lease_ms: before.lease_ms,
                worker: before.worker,
                started_at: before.started_at,
            })?;
            if train.state == TrainState::Running {
                train.state = TrainState::Draining;
            }
            return self.keep_train(train);
        }
        if holds(after) {
            return self.hold_by_job(train, after);
        }
        after.flags &= !flag::CAR;
        self.leave(train, after.id, after.state.as_str())
    }

    /// The locomotive leaves. The next car is chosen at the end of the command.
    pub(super) fn leave(&mut self, mut train: TrainRow, job: JobId, reason: &str) -> Stored<()> {
        self.tables.remove_car_of(job)?;
        train.locomotive = None;
        self.emit_train("train.advanced", &train, Some(job), |extra| json::push_text(extra, "reason", reason));
        if train.state == TrainState::Running {
            self.features.trains.open.insert(train.num);
        }
        self.keep_train(train)
    }

    /// Chooses the next car of each train whose locomotive has left.
    pub(crate) fn move_trains_on(&mut self) -> Stored<()> {
        while let Some(num) = self.features.trains.open.pop_first() {
            self.move_train_on(num)?;
        }
        Ok(())
    }

    fn move_train_on(&mut self, num: i64) -> Stored<()> {
        let Some(train) = self.train(num)? else { return Ok(()) };
        if train.locomotive.is_some() || train.state != TrainState::Running {
            return Ok(());
        }
        let mut after = 0;
        loop {
            let cars = self.tables.cars(num, after, PAGE)?;
            let Some(last) = cars.last().map(|car| car.position) else { break };
            for car in cars {
                // Another writer may have ended a car that waits: its row is read when that writer has committed.
                match self.tables.row(car.job)? {
                    Some(row) if row.has(flag::WAITS) => return self.attach(train, &car, &row),
                    // After a fault: it is under way already.
                    Some(row) if row.has(flag::CAR) && !row.state.is_terminal() => {
                        return self.keep_train(TrainRow { locomotive: Some(row.id), ..train });
                    }
                    _ => {}
                }
            }
            after = last;
        }
        if self.tables.cars(num, 0, 1)?.is_empty() {
            self.features.trains.known.remove(&num);
            self.features.trains.ended = self.features.trains.ended.max(train.epoch);
            return self.tables.delete_train(num);
        }
        Ok(())
    }

    /// A car that waits becomes the locomotive, and its job becomes what its client asked for.
    pub(super) fn attach(&mut self, mut train: TrainRow, car: &CarRow, row: &JobRow) -> Stored<()> {
        train.locomotive = Some(row.id);
        self.depart(&train, car);
        self.keep_train(train)?;
        let mut after = row.clone();
        after.flags &= !flag::WAITS;
        if row.has(flag::STAGED) {
            return self.tables.update(row, &after);
        }
        if row.sort_key > self.now.as_millis() {
            let at = Timestamp::from_millis(row.sort_key);
            let row = self.transition(row, after, Trigger::Activate, JobState::Scheduled)?;
            return self.emit("job.scheduled", &row, &format!("\"scheduled_at\":\"{at}\""));
        }
        self.make_available(row, after, Trigger::Activate).map(drop)
    }

    /// A job that waits for others of its train cannot be activated: its turn has not come.
    pub(crate) fn may_activate(&mut self, row: &JobRow) -> Applied<()> {
        if !row.has(flag::WAITS) {
            return Ok(());
        }
        let body = self.tables.body(row.seq)?;
        let id = train_id(&body.text).unwrap_or_default();
        let message = format!("Job '{}' waits for the jobs before it in train '{id}'.", row.id);
        let details =
            serde_json::json!({"reason": "waits_in_train", "job_id": row.id, "train_id": id, "current_state": "pending"});
        Err(OjsError::new(ojs_model::ErrorCode::Conflict, message)
            .with_details(details)
            .with_hint("It becomes available by itself when its turn comes.")
            .into())
    }

    /// The train of a number, locked.
    pub(super) fn train(&mut self, num: i64) -> Stored<Option<TrainRow>> {
        if let Some(known) = self.features.trains.known.get(&num) {
            return Ok(Some(known.clone()));
        }
        let found = self.tables.train(num)?;
        self.features.trains.known.extend(found.iter().map(|train| (num, train.clone())));
        Ok(found)
    }

    /// The train of an id, locked; a new one where there is none.
    fn train_of(&mut self, tenant: i64, id: &str) -> Stored<TrainRow> {
        let known = self.features.trains.known.values().find(|train| *train.id == *id && train.tenant == tenant);
        if let Some(known) = known {
            return Ok(known.clone());
        }
        if let Some(found) = self.tables.train_of(tenant, id)? {
            return Ok(found);
        }
        // Read when it is certain that there is no train: the one that was there before has raised it, or has ended in
        // this transaction.
        let epoch = self.tables.first_epoch()?.max(self.features.trains.ended);
        self.tables.add_train(&TrainRow {
            num: 0,
            tenant,
            id: id.into(),
            state: TrainState::Running,
            locomotive: None,
            next_position: 1,
            held_at: 0,
            held_by: String::new(),
            updated_at: self.now.as_millis(),
            epoch,
        })
    }

    /// Trains have ended: those that get their ids later go on behind their epochs. Called when nothing else is left to
    /// be locked, so that two writers cannot wait for each other.
    pub(super) fn note_ended_epochs(&mut self) -> Stored<()> {
        match std::mem::take(&mut self.features.trains.ended) {
            0 => Ok(()),
            ended => self.tables.raise_first_epoch(ended),
        }
    }

    /// Writes a train.
    pub(super) fn keep_train(&mut self, mut train: TrainRow) -> Stored<()> {
        train.updated_at = self.now.as_millis();
        self.tables.save_train(&train)?;
        self.features.trains.known.insert(train.num, train);
        Ok(())
    }

    /// Notes an event of a train.
    pub(super) fn emit_train(&mut self, event: &str, train: &TrainRow, job: Option<JobId>, more: impl FnOnce(&mut String)) {
        let mut extra = String::new();
        json::push_text(&mut extra, "train_id", &train.id);
        if let Some(job) = job {
            json::push_text(&mut extra, "job_id", &job.to_string());
        }
        more(&mut extra);
        self.journal.of_tenant(train.tenant, event, self.now, &train.id, &extra);
    }
}

/// Whether a job that has ended holds its train.
pub(super) fn holds(row: &JobRow) -> bool {
    match row.state {
        JobState::Cancelled => row.has(flag::HOLD_CANCELLED),
        JobState::Discarded => row.has(flag::HOLD_DISCARDED),
        _ => false,
    }
}
