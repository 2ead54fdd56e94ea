//! What a train keeps its jobs from.
use crate::error::StoreError;
use crate::features::trains::records::{TrainRow, TrainState};
use crate::kernel::explanation::{Explanation, Reason};
use crate::kernel::job::{JobRow, flag};
use crate::store::tables::Tables;

/// A job of a train waits for those before it.
pub(super) fn explain(tables: &mut dyn Tables, row: &JobRow, found: &mut Explanation) -> Result<(), StoreError> {
    if !row.has(flag::CAR) || !row.has(flag::WAITS) {
        return Ok(());
    }
    let Some(car) = tables.car_of(row.id)? else { return Ok(()) };
    let Some(train) = tables.train_as_it_is(car.train)? else { return Ok(()) };
    let ahead = tables.count_cars(car.train, car.position)?;
    let mut reason = of_train(&train).link(format!("/trains/{}", train.id));
    if let Some(locomotive) = train.locomotive {
        reason = reason.detail("locomotive", locomotive.to_string());
        if let Some(leader) = tables.row(locomotive)? {
            reason = reason.detail("locomotive_state", leader.state.as_str());
        }
    }
    found.add(reason.detail("train", &*train.id).detail("position", car.position).detail("ahead", ahead));
    Ok(())
}

/// Why the state of a train keeps a job from running.
pub(super) fn of_train(train: &TrainRow) -> Reason {
    let id = &train.id;
    match train.state {
        TrainState::Held => Reason::new("train_held", format!("Train '{id}' is held by {}.", train.held_by))
            .since(train.held_at)
            .command(format!("ojs trains advance {id}")),
        TrainState::Draining => Reason::new(
            "train_draining",
            format!("The job before it in train '{id}' was cancelled, and its handler may still run."),
        ),
        TrainState::Running => blocked(id),
    }
}

/// Another job of the train comes first.
pub(super) fn blocked(id: &str) -> Reason {
    Reason::new("train_blocked", format!("Train '{id}' runs one job at a time, and others come first."))
        .command(format!("ojs trains show {id}"))
}
