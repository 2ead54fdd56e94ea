//! What answers say of the place of a job in its train.
use ojs_model::json::{member, object, push_member, push_text, push_whole, string};

use crate::error::StoreError;
use crate::features::trains::records::{CarPlace, TrainPlace};
use crate::kernel::job::{Body, JobRow, flag};
use crate::store::tables::Tables;

/// Where a job stands.
pub(crate) fn place_of(tables: &mut dyn Tables, row: &JobRow, body: &Body) -> Result<Box<TrainPlace>, StoreError> {
    let car = if row.has(flag::CAR) { tables.car_of(row.id)? } else { None };
    let train = match &car {
        Some(car) => tables.train_as_it_is(car.train)?,
        None => None,
    };
    let (Some(car), Some(train)) = (car, train) else {
        return Ok(Box::new(TrainPlace { id: train_id(&body.text).unwrap_or_default().into(), car: None }));
    };
    let leads = train.locomotive == Some(row.id);
    let ahead = if leads { 0 } else { tables.count_cars(car.train, car.position)? };
    // The attempts of a locomotive that has ended are in the train's own number.
    let attempts = if row.state.is_terminal() { 0 } else { i64::from(row.attempt) };
    let epoch = leads.then(|| train.epoch.saturating_add(attempts));
    let car = CarPlace { position: car.position, leads, ahead, state: train.state, epoch };
    Ok(Box::new(TrainPlace { id: train.id, car: Some(car) }))
}

/// The train that the text of a job names.
pub(super) fn train_id(body: &str) -> Option<String> {
    let whole = object(body);
    member(member(&whole, "meta")?, "train_id").and_then(string).map(std::borrow::Cow::into_owned)
}

/// Appends the member `train` of a job.
pub(crate) fn push_place(out: &mut String, place: &TrainPlace) {
    push_member(out, "train", "{");
    push_text(out, "id", &place.id);
    match &place.car {
        None => push_text(out, "role", "left"),
        Some(car) => {
            push_whole(out, "position", car.position);
            push_text(out, "role", if car.leads { "locomotive" } else { "car" });
            push_whole(out, "ahead", i64::try_from(car.ahead).unwrap_or(i64::MAX));
            push_text(out, "state", car.state.as_str());
            if let Some(epoch) = car.epoch {
                push_whole(out, "epoch", epoch);
            }
        }
    }
    out.push('}');
}
