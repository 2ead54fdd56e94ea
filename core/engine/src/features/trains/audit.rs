//! The audit of trains: one locomotive, all others wait, and each place has one job (extensions section 30.6).
use crate::error::Result;
use crate::features::trains::records::{CarRow, DrainRow, TrainRow, TrainState};
use crate::kernel::audit::{Audit, Checks, RECORDS};
use crate::kernel::job::{JobRow, flag};
use crate::store::record::{Records, Scan};
use ojs_model::{JobId, JobState};

pub(crate) const CHECKS: Checks = Checks { job: Some(|audit, row, _| look_at(audit, row)), whole: Some(compare) };

/// The flags of a job against its state.
fn look_at(audit: &mut Audit<'_>, row: &JobRow) -> Result<()> {
    let waits = row.has(flag::WAITS);
    if waits && (row.state != JobState::Pending || !row.has(flag::CAR)) {
        audit.find("train_flags", format_args!("job {}", row.id), "its state while it waits in a train", "pending", row.state);
    }
    if row.has(flag::TRAIN) && !row.state.is_terminal() && !row.has(flag::CAR) {
        audit.find("train_flags", format_args!("job {}", row.id), "its place in the train that it names", "one", "none");
    }
    audit.features.trains += usize::from(row.has(flag::CAR));
    Ok(())
}

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    let jobs = std::mem::take(&mut audit.features.trains);
    let mut seen = 0;
    // Cars whose jobs were deleted while their handlers might still run.
    let mut without_job = 0;
    audit.each_record(
        0,
        |row: &TrainRow| row.num,
        |audit, train| {
            let (cars, gone) = compare_cars(audit, train)?;
            seen += cars;
            without_job += gone;
            compare_train(audit, train, cars)
        },
    )?;
    let all = Records::<CarRow, _>::of(&mut *audit.tables).count(&Scan::over(CarRow::KEY))?;
    audit.same("train_cars", "all trains", "cars, of trains and in all", seen, all);
    audit.same("train_cars", "all trains", "jobs that have a place, and cars", jobs + without_job, all);
    audit.each_record(
        0,
        |row: &DrainRow| row.train,
        |audit, drain| {
            if audit.tables.train_as_it_is(drain.train)?.is_none() {
                audit.find("train_drains", format_args!("train number {}", drain.train), "a train that drains", "a row", "none");
            }
            Ok(())
        },
    )
}

/// A train that has cars has a locomotive, or is held.
fn compare_train(audit: &mut Audit<'_>, train: &TrainRow, cars: usize) -> Result<()> {
    let subject = format!("train '{}'", train.id);
    if train.locomotive.is_none() && train.state != TrainState::Held {
        audit.find("train_locomotives", &subject, format_args!("its locomotive, with {cars} cars"), "a job", "none");
    }
    audit.same(
        "train_holds",
        &subject,
        "held_at is set while it is held, and only then",
        train.state == TrainState::Held,
        train.held_at > 0,
    );
    if train.state == TrainState::Draining && audit.tables.drain_of(train.num)?.is_none() {
        audit.find("train_drains", &subject, "when it has drained", "a record", "none");
    }
    if let Some(job) = train.locomotive {
        let place = audit.tables.car_of(job)?.map(|car| car.train);
        if place != Some(train.num) {
            let found = place.map_or_else(|| "none".to_owned(), |num| num.to_string());
            audit.find("train_locomotives", &subject, "the place of its locomotive", format_args!("train {}", train.num), found);
        }
    }
    Ok(())
}

/// All cars of a train but its locomotive wait. Returns how many cars there are, and how many have no job.
fn compare_cars(audit: &mut Audit<'_>, train: &TrainRow) -> Result<(usize, usize)> {
    let (mut after, mut cars, mut gone) = (0, 0, 0);
    loop {
        let page = audit.tables.cars(train.num, after, RECORDS)?;
        let Some(last) = page.last().map(|car| car.position) else { return Ok((cars, gone)) };
        let ids: Vec<JobId> = page.iter().map(|car| car.job).collect();
        for (car, job) in page.iter().zip(audit.tables.outcomes(&ids)?) {
            cars += 1;
            gone += usize::from(job.is_none());
            compare_car(audit, train, car, job.map(|(row, _)| row))?;
        }
        after = last;
    }
}

fn compare_car(audit: &mut Audit<'_>, train: &TrainRow, car: &CarRow, job: Option<JobRow>) -> Result<()> {
    let subject = format!("train '{}'", train.id);
    let what = format!("the job {} at position {}", car.job, car.position);
    if car.position >= train.next_position {
        audit.find("train_positions", &subject, &what, format_args!("below {}", train.next_position), car.position);
    }
    let leads = train.locomotive == Some(car.job);
    match job {
        Some(row) if leads => {
            if row.has(flag::WAITS) {
                audit.find("train_locomotives", subject, what, "the locomotive does not wait", "it does");
            } else if row.state.is_terminal() && train.state == TrainState::Running {
                audit.find("train_locomotives", subject, what, "a job that has not ended", row.state);
            }
        }
        Some(row) if row.has(flag::WAITS) => {}
        Some(row) => audit.find("train_cars", subject, what, "it waits for its turn", row.state),
        None if leads && audit.tables.drain_of(train.num)?.is_some() => {}
        None => audit.find("train_cars", subject, what, "a row", "none"),
    }
    Ok(())
}
