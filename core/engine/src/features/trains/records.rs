//! Trains and their cars as stores keep them (extensions section 30).
//!
//! A train is one row for as long as it has jobs. Its locomotive is the one job that may run; all other jobs of the
//! train are pending and have the flag [`WAITS`](crate::kernel::job::flag::WAITS). A car is the place of a job in its
//! train, the locomotive's included.
//!
//! Locks: a transaction locks the row of the train before it changes the locomotive or adds a car. A waiting car that
//! ends removes its own record without that lock, which the lock of its job's row makes safe: the flag says that it is
//! not the locomotive.
use std::sync::Arc;

use ojs_model::JobId;

use crate::error::{Result, StoreError};
use crate::store::record::{Change, Read, RecordTables, Records, Scan, record, words};

/// Cars that are looked at together.
pub(super) const PAGE: usize = 16;
/// Epochs by which the first epoch of new trains is raised at a time, so that few trains raise it when they end.
const EPOCHS: i64 = 64;

/// What a train does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum TrainState {
    /// When its locomotive ends, the next car becomes the locomotive.
    #[default]
    Running = 0,
    /// Its locomotive was cancelled while it was active, and its handler may still run.
    Draining = 1,
    /// No car becomes the locomotive until an operator advances the train, or runs the discarded locomotive again.
    Held = 2,
}

words! { TrainState { Running = "running", Draining = "draining", Held = "held" } }

record! {
    /// A train. Times are milliseconds since the epoch; 0 is "never".
    #[derive(Debug, Clone, PartialEq)]
    pub struct TrainRow in "trains" {
        gathered ("num");
        fixed ("tenant", "id");
        unique NAME = "trains_name" ("tenant", "id");
        index HELD = "trains_held" ("held_at") positive;
        /// Its number.
        pub num: i64,
        /// Number of its tenant; 0 for the default one.
        pub tenant: i64,
        /// Its id, which jobs name.
        pub id: Arc<str>,
        /// What it does.
        pub state: TrainState,
        /// The one job that may run, or that has ended and holds the train.
        pub locomotive: Option<JobId>,
        /// The place of the next job that joins; the first is 1.
        pub next_position: i64,
        /// When it was held.
        pub held_at: i64,
        /// Who or what held it: the name of an operator's key, or `job.cancelled` and `job.discarded`.
        pub held_by: String,
        /// When it changed last.
        pub updated_at: i64,
        /// How often jobs of this id were handed out that have left, or that have ended and hold the train. The
        /// attempts of the locomotive are not in it until it ends.
        pub epoch: i64 = 0,
    }
}

record! {
    /// The epoch with which a train begins that has no row yet: no train that has ended has a larger one. One record.
    #[derive(Debug, Clone, PartialEq)]
    pub struct EpochRow in "train_epochs" {
        key ("num");
        /// Always 0.
        pub num: i64,
        /// The epoch.
        pub epoch: i64,
    }
}

record! {
    /// The place of a job in its train.
    #[derive(Debug, Clone, PartialEq)]
    pub struct CarRow in "train_cars" {
        key ("train", "position");
        unique JOB = "train_cars_job" ("job");
        /// Number of the train.
        pub train: i64,
        /// Jobs run in this order. It never changes.
        pub position: i64,
        /// The job.
        pub job: JobId,
        /// When it joined, milliseconds.
        pub joined_at: i64,
    }
}

record! {
    /// A train whose locomotive was cancelled while it was active: when it may go on at the latest.
    #[derive(Debug, Clone, PartialEq)]
    pub struct DrainRow in "train_drains" {
        key ("train");
        remember Emptiness;
        index UNTIL = "train_drains_until" ("until") positive;
        index WORKER = "train_drains_worker" ("worker") positive;
        /// Number of the train.
        pub train: i64,
        /// End of the job's lease, milliseconds.
        pub until: i64,
        /// End of the attempt's execution time, milliseconds. Heartbeats extend the lease up to this.
        pub deadline: i64,
        /// Milliseconds by which a heartbeat extends it.
        pub lease_ms: i64,
        /// Number of the worker, 0 when it named none.
        pub worker: i64,
        /// When the attempt began, milliseconds.
        pub started_at: i64,
    }
}

/// The place of a job in its train, as answers show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainPlace {
    /// Id of the train.
    pub id: Arc<str>,
    /// Its place; `None` when it has left.
    pub car: Option<CarPlace>,
}

/// The place of a job that is in its train.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarPlace {
    /// Its position.
    pub position: i64,
    /// Whether it is the locomotive.
    pub leads: bool,
    /// Jobs of the train before it.
    pub ahead: usize,
    /// What the train does.
    pub state: TrainState,
    /// The number of the train's latest delivery, which grows with every delivery of any of its jobs; `None` unless the
    /// job is the locomotive.
    pub epoch: Option<i64>,
}

/// A train with some of its cars.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainView {
    /// The train.
    pub row: TrainRow,
    /// A page of its cars by position, each with the state of its job, if there is one.
    pub cars: Vec<(CarRow, Option<ojs_model::JobState>)>,
    /// How many cars it has, the locomotive included.
    pub total: usize,
}

/// Trains. A store that cannot be read or written is the error of all.
#[allow(clippy::missing_errors_doc, reason = "all have the same errors, and the line above names them")]
pub trait TrainTables: RecordTables {
    /// The train of a number, held until the end of the transaction.
    fn train(&mut self, num: i64) -> Result<Option<TrainRow>> {
        Records::of(self).find(TrainRow::KEY, &num, Read::Held)
    }

    /// The train of a number as it is.
    fn train_as_it_is(&mut self, num: i64) -> Result<Option<TrainRow>> {
        Records::of(self).get(&num)
    }

    /// The train of an id, held until the end of the transaction; where there is none, its id is held.
    fn train_of(&mut self, tenant: i64, id: &str) -> Result<Option<TrainRow>> {
        Records::of(self).find(TrainRow::NAME, &(tenant, id), Read::Reserved)
    }

    /// The train of an id as it is.
    fn find_train(&mut self, tenant: i64, id: &str) -> Result<Option<TrainRow>> {
        Records::of(self).find(TrainRow::NAME, &(tenant, id), Read::Plain)
    }

    /// Stores a train that is not there yet.
    fn add_train(&mut self, row: &TrainRow) -> Result<TrainRow> {
        let num = Records::of(self).insert(row)?;
        let taken = || StoreError::Conflict(format!("another writer is storing the train '{}'", row.id));
        Ok(TrainRow { num: num.ok_or_else(taken)?, ..row.clone() })
    }

    /// Writes a train.
    fn save_train(&mut self, row: &TrainRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// Removes a train.
    fn delete_train(&mut self, num: i64) -> Result<()> {
        Records::<TrainRow, _>::of(self).delete(&num)
    }

    /// The epoch with which a new train begins.
    fn first_epoch(&mut self) -> Result<i64> {
        Ok(Records::<EpochRow, _>::of(self).get(&0)?.map_or(0, |row| row.epoch))
    }

    /// Trains that begin later have a larger epoch than this one.
    fn raise_first_epoch(&mut self, ended: i64) -> Result<()> {
        // Most trains have an epoch that is known to be passed: no writer waits for another one then.
        if ended <= self.first_epoch()? {
            return Ok(());
        }
        let known = Records::<EpochRow, _>::of(self).find(EpochRow::KEY, &0, Read::Reserved)?.map_or(0, |row| row.epoch);
        let epoch = (ended / EPOCHS + 1) * EPOCHS;
        if epoch > known { Records::of(self).put(&EpochRow { num: 0, epoch }) } else { Ok(()) }
    }

    /// A page of trains by id, or of those in one state, and how many there are in all.
    fn trains(
        &mut self,
        tenant: i64,
        state: Option<TrainState>,
        behind: Option<&str>,
        limit: usize,
        offset: usize,
    ) -> Result<(Vec<TrainRow>, usize)> {
        let all = match &state {
            None => Scan::over(TrainRow::NAME).under(&tenant),
            Some(TrainState::Held) => Scan::over(TrainRow::HELD).only("tenant", &tenant),
            Some(state) => Scan::over(TrainRow::NAME).under(&tenant).only("state", state),
        };
        let mut page = all.clone().limit(limit).skip(offset);
        if let Some(id) = &behind {
            page = page.above(id);
        }
        let mut records = Records::of(self);
        Ok((records.scan(&page)?, records.count(&all)?))
    }

    /// Trains with a larger number, in order.
    fn trains_after(&mut self, num: i64, limit: usize) -> Result<Vec<TrainRow>> {
        Records::of(self).scan(&Scan::over(TrainRow::KEY).above(&num).limit(limit))
    }

    /// All trains, those that are held, and all cars.
    fn count_trains(&mut self) -> Result<[usize; 3]> {
        let trains = Records::<TrainRow, _>::of(self).count(&Scan::over(TrainRow::KEY))?;
        let held = Records::<TrainRow, _>::of(self).count(&Scan::over(TrainRow::HELD))?;
        Ok([trains, held, Records::<CarRow, _>::of(self).count(&Scan::over(CarRow::KEY))?])
    }

    /// The place of a job in its train.
    fn car_of(&mut self, job: JobId) -> Result<Option<CarRow>> {
        Records::of(self).find(CarRow::JOB, &job, Read::Plain)
    }

    /// Stores a place.
    fn add_car(&mut self, car: &CarRow) -> Result<()> {
        match Records::of(self).insert(car)? {
            Some(_) => Ok(()),
            None => Err(StoreError::Conflict(format!("another writer has put job {} into a train", car.job))),
        }
    }

    /// Removes the place of a job.
    fn remove_car_of(&mut self, job: JobId) -> Result<()> {
        Records::<CarRow, _>::of(self).change(&[Change::Remove(Scan::over(CarRow::JOB).under(&job))])
    }

    /// Cars of a train behind a position, in order.
    fn cars(&mut self, train: i64, after: i64, limit: usize) -> Result<Vec<CarRow>> {
        Records::of(self).scan(&Scan::over(CarRow::KEY).under(&train).above(&after).limit(limit))
    }

    /// Cars of a train before a position.
    fn count_cars(&mut self, train: i64, before: i64) -> Result<usize> {
        Records::<CarRow, _>::of(self).count(&Scan::over(CarRow::KEY).under(&train).below(&before))
    }

    /// Cars behind a place, in order.
    fn cars_after(&mut self, place: (i64, i64), limit: usize) -> Result<Vec<CarRow>> {
        Records::of(self).scan(&Scan::over(CarRow::KEY).after(&place).limit(limit))
    }

    /// Notes that a train drains.
    fn put_drain(&mut self, row: &DrainRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// Notes that a train does not drain any more.
    fn delete_drain(&mut self, train: i64) -> Result<()> {
        Records::<DrainRow, _>::of(self).delete(&train)
    }

    /// How a train drains. Read from the store even where no train is known to drain: another node may just have
    /// noted the first one, and a train that goes on too early runs two jobs side by side.
    fn drain_of(&mut self, train: i64) -> Result<Option<DrainRow>> {
        Records::of(self).find(DrainRow::KEY, &train, Read::Held)
    }

    /// Trains that have drained by a time.
    fn drained_by(&mut self, now: i64, limit: usize) -> Result<Vec<DrainRow>> {
        Records::of(self).scan(&Scan::over(DrainRow::UNTIL).to(&now).limit(limit))
    }

    /// Trains that drain until a worker lets go. Costs nothing while no train drains.
    fn drains_of(&mut self, worker: i64) -> Result<Vec<DrainRow>> {
        Records::of(self).scan(&Scan::over(DrainRow::WORKER).under(&worker))
    }

    /// When the next train has drained.
    fn next_drain_end(&mut self) -> Result<Option<i64>> {
        let first: Option<DrainRow> = Records::of(self).first(Scan::over(DrainRow::UNTIL))?;
        Ok(first.map(|row| row.until))
    }
}

impl<T: RecordTables + ?Sized> TrainTables for T {}
