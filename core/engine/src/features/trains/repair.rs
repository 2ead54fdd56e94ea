//! The sweep of trains: what a fault or a hand has left behind is found and mended, so that no train stands still.
//!
//! Rows are compared without locks first, a slice at a time. What looks wrong is locked, compared again and mended.
use ojs_model::state::Trigger;
use ojs_model::{JobId, JobState, json};

use crate::error::Applied;
use crate::features::trains::records::{CarRow, TrainRow, TrainState};
use crate::features::trains::rules::Stored;
use crate::kernel::hooks::Walk;
use crate::kernel::job::{JobRow, flag};
use crate::kernel::transaction::Transaction;

/// Trains or cars that one slice compares.
const SLICE: usize = 200;
/// Attempts that are counted for a job whose row is gone: more than it can have had.
const UNKNOWN_ATTEMPTS: i64 = 1 << 32;
/// Where the walk through the cars begins. A place with a position of 0 is in the walk through the trains.
const FIRST_CAR: Walk = (0, 1);

impl Transaction<'_> {
    /// One slice: first all trains, then all cars.
    pub(crate) fn repair_trains(&mut self, after: Walk) -> Applied<Option<Walk>> {
        Ok(if after.1 == 0 { self.repair_locomotives(after.0)? } else { self.repair_cars(after)? })
    }

    fn repair_locomotives(&mut self, after: i64) -> Stored<Option<Walk>> {
        let trains = self.tables.trains_after(after, SLICE)?;
        let Some(last) = trains.last().map(|train| train.num) else { return Ok(None) };
        let ids: Vec<JobId> = trains.iter().filter_map(|train| train.locomotive).collect();
        let mut rows = self.tables.outcomes(&ids)?.into_iter();
        for train in trains {
            let row = train.locomotive.and_then(|_| rows.next().flatten()).map(|(row, _)| row);
            if why_wrong(&train, row.as_ref()).is_some() || self.has_lost_its_drain(&train)? {
                self.repair_locomotive(train.num)?;
            }
        }
        Ok(Some(if self.tables.trains_after(last, 1)?.is_empty() { FIRST_CAR } else { (last, 0) }))
    }

    fn repair_locomotive(&mut self, num: i64) -> Stored<()> {
        let Some(seen) = self.tables.train_as_it_is(num)? else { return Ok(()) };
        let row = match seen.locomotive {
            Some(job) => self.tables.row(job)?,
            None => None,
        };
        let Some(mut train) = self.train(num)?.filter(|train| train.locomotive == seen.locomotive) else { return Ok(()) };
        let lost = self.has_lost_its_drain(&train)?.then_some("drain_without_end");
        let Some(reason) = why_wrong(&train, row.as_ref()).or(lost) else { return Ok(()) };
        self.emit_repaired(&train, train.locomotive, reason);
        match (train.locomotive, row) {
            (Some(_), Some(row)) if row.has(flag::WAITS) => {
                // It waits for itself: chosen once more, with all that belongs to it.
                train.locomotive = None;
                self.keep_train(train)?;
            }
            (Some(job), row) => {
                if lost.is_some() {
                    train.state = TrainState::Running;
                }
                train.epoch += row.as_ref().map_or(UNKNOWN_ATTEMPTS, |row| i64::from(row.attempt));
                self.leave_ended(train, job, row.as_ref(), "repaired")?;
            }
            (None, _) => {}
        }
        self.features.trains.open.insert(num);
        self.move_trains_on()
    }

    /// Whether a train drains without a time at which it has drained.
    fn has_lost_its_drain(&mut self, train: &TrainRow) -> Stored<bool> {
        Ok(train.state == TrainState::Draining && self.tables.drain_of(train.num)?.is_none())
    }

    fn repair_cars(&mut self, after: Walk) -> Stored<Option<Walk>> {
        let cars = self.tables.cars_after(after, SLICE)?;
        let next = cars.last().filter(|_| cars.len() == SLICE).map(|car| (car.train, car.position));
        let ids: Vec<JobId> = cars.iter().map(|car| car.job).collect();
        let rows = self.tables.outcomes(&ids)?;
        let mut train: Option<TrainRow> = None;
        for (car, row) in cars.into_iter().zip(rows) {
            if train.as_ref().is_none_or(|train| train.num != car.train) {
                train = self.tables.train_as_it_is(car.train)?;
            }
            let leads = train.as_ref().is_some_and(|train| train.locomotive == Some(car.job));
            let sound = row.is_some_and(|(row, _)| row.has(flag::WAITS) && row.state == JobState::Pending);
            if !leads && !sound {
                self.repair_car(&car)?;
            }
        }
        Ok(next)
    }

    /// A car that does not wait although it is not the locomotive.
    fn repair_car(&mut self, car: &CarRow) -> Stored<()> {
        let row = self.tables.row(car.job)?;
        let Some(mut train) = self.train(car.train)?.filter(|train| train.locomotive != Some(car.job)) else { return Ok(()) };
        if self.tables.car_of(car.job)?.as_ref() != Some(car) {
            return Ok(());
        }
        match row {
            Some(row) if row.has(flag::WAITS) => {}
            Some(row) if row.state == JobState::Available => {
                self.emit_repaired(&train, Some(row.id), "available_before_its_turn");
                self.put_back(&row)?;
            }
            Some(row) if row.state == JobState::Active => {
                self.emit_repaired(&train, Some(row.id), "active_before_its_turn");
                // It runs: the others wait until it has ended. One that is available goes back.
                let other = match train.locomotive {
                    Some(other) => self.tables.row(other)?,
                    None => None,
                };
                if other.as_ref().is_none_or(|other| other.state == JobState::Available) {
                    other.iter().try_for_each(|other| self.put_back(other))?;
                    train.locomotive = Some(row.id);
                    self.keep_train(train)?;
                }
            }
            Some(row) if row.state.is_terminal() => {
                self.emit_repaired(&train, Some(row.id), "car_of_an_ended_job");
                self.tables.update(&row, &JobRow { flags: row.flags & !flag::CAR, ..row.clone() })?;
                self.tables.remove_car_of(row.id)?;
            }
            Some(_) => {}
            None => {
                self.emit_repaired(&train, Some(car.job), "car_without_job");
                self.tables.remove_car_of(car.job)?;
            }
        }
        self.features.trains.open.insert(car.train);
        self.move_trains_on()
    }

    /// An available job waits for its turn again.
    fn put_back(&mut self, row: &JobRow) -> Stored<()> {
        let mut after = row.clone();
        after.flags |= flag::WAITS;
        after.sort_key = 0;
        self.transition(row, after, Trigger::Stage, JobState::Pending).map(drop)
    }

    fn emit_repaired(&mut self, train: &TrainRow, job: Option<JobId>, reason: &str) {
        tracing::warn!(train = &*train.id, job = ?job, reason, "a train was repaired");
        self.emit_train("train.repaired", train, job, |extra| json::push_text(extra, "reason", reason));
    }
}

/// What contradicts what between a train and its locomotive.
fn why_wrong(train: &TrainRow, row: Option<&JobRow>) -> Option<&'static str> {
    match (train.locomotive, row) {
        (None, _) => (train.state == TrainState::Running).then_some("cars_without_locomotive"),
        // Its lease ends the drain.
        (Some(_), _) if train.state == TrainState::Draining => None,
        (Some(_), None) => Some("locomotive_without_job"),
        (Some(_), Some(row)) if row.has(flag::WAITS) => Some("locomotive_waits"),
        (Some(_), Some(row)) => (row.state.is_terminal() && train.state == TrainState::Running).then_some("locomotive_has_ended"),
    }
}
