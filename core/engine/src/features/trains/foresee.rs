//! What would happen to a dead letter of a train that ran again. It follows `Transaction::rejoin_train` and changes
//! nothing.
use super::answer::train_id;
use super::explain::{blocked, of_train};
use super::records::TrainState;
use crate::error::StoreError;
use crate::kernel::forecast::{Effect, Forecast};
use crate::kernel::job::flag;
use crate::store::tables::Tables;

/// A job that holds its train goes on in its old place; any other one joins its train at the end.
pub(super) fn foresee(tables: &mut dyn Tables, found: &mut Forecast<'_>) -> Result<(), StoreError> {
    let row = &found.job.row;
    if !row.has(flag::TRAIN) {
        return Ok(());
    }
    if row.has(flag::CAR)
        && let Some(car) = tables.car_of(row.id)?
        && let Some(train) = tables.train_as_it_is(car.train)?
        && train.locomotive == Some(row.id)
    {
        return Ok(());
    }
    let Some(id) = train_id(&found.job.body.text) else { return Ok(()) };
    let is_first = found.taken.insert(format!("train {} {id}", row.tenant));
    let train = tables.find_train(row.tenant, &id)?;
    let (leads, reason, ahead) = match &train {
        // A train without a record is made by the first job that joins it.
        None => (true, blocked(&id), 0),
        Some(train) => {
            let ahead = tables.count_cars(train.num, i64::MAX)?;
            let is_free = train.locomotive.is_none() && train.state == TrainState::Running && ahead == 0;
            (is_free, of_train(train), ahead)
        }
    };
    if !leads || !is_first {
        let reason = reason.link(format!("/trains/{id}"));
        found.add(Effect::Waits, reason.detail("train", id).detail("ahead", ahead));
    }
    Ok(())
}
