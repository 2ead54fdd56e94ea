//! Trains: jobs for the same resource run one after another (extensions section 30).
pub mod answer;
mod audit;
pub mod commands;
mod explain;
mod foresee;
pub(crate) mod hold;
pub(crate) mod metrics;
pub(crate) mod operator_routes;
pub mod records;
pub(crate) mod repair;
pub(crate) mod routes;
pub(crate) mod rules;
pub(crate) mod touched;

use std::sync::Arc;

use crate::engine::Engine;
use crate::error::Applied;
use crate::features::feature::{Extension, Feature};
use crate::features::trains::commands::CountTrains;
use crate::http::route::Route;
use crate::kernel::hooks::{Hooks, Sweep};
use crate::kernel::job::flag;
use crate::metrics::{Lines, lock};
use crate::store::due::Due;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::CarRow::TABLE, records::DrainRow::TABLE, records::EpochRow::TABLE, records::TrainRow::TABLE],
    due: &[Due::reached(records::DrainRow::TABLE, records::DrainRow::UNTIL)],
    hooks: HOOKS,
    routes: table,
    extensions: &[Extension::Own("job-trains", "urn:ojs:ext:x:openjobspec:job-trains")],
    figures: Some(|engine, _| Box::pin(figures(engine))),
    ..Feature::NONE
};

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    on_enqueue: Some(|transaction, job, row| transaction.join_train(job, row)),
    after_enqueue: Some(|transaction, _, placed| transaction.show_trains(placed)),
    on_transition: Some(|transaction, before, after| {
        if before.has(flag::CAR) && after.state.is_terminal() { transaction.end_in_train(before, after) } else { Ok(()) }
    }),
    on_activate: Some(|transaction, row| transaction.may_activate(row)),
    on_replay: Some(|transaction, row| transaction.rejoin_train(row)),
    on_erase: Some(|transaction, row| if row.has(flag::CAR) { transaction.erase_in_train(row) } else { Ok(()) }),
    on_late_outcome: Some(|transaction, job, lease| transaction.note_late_outcome(job, lease)),
    on_heartbeat: Some(|transaction, worker, jobs| transaction.note_heartbeat(worker, jobs)),
    on_worker_death: Some(|transaction, worker| transaction.end_drains_of(worker)),
    // A claim that a crash undoes would give its epoch away a second time.
    on_lease: Some(|transaction, job| if job.row.has(flag::CAR) { transaction.tables.make_durable() } else { Ok(()) }),
    before_claim: Some(|transaction| transaction.move_trains_on()),
    after_command: Some(|transaction| transaction.move_trains_on()),
    before_commit: Some(|transaction| transaction.move_trains_on()),
    sweep: Some(Sweep { part: "trains", in_maintenance: true, run: |transaction| Ok(transaction.end_due_drains()?) }),
    repair: Some(|transaction, after| transaction.repair_trains(after)),
    on_written: Some(|transaction| {
        transaction.note_ended_epochs()?;
        transaction.counters.handed_over.train_waits.append(&mut transaction.features.trains.waited);
        Ok(())
    }),
    audit: Some(audit::CHECKS),
    explain: Some(explain::explain),
    foresee: Some(foresee::foresee),
    ..Hooks::NONE
};

/// Its figures for `/metrics`.
async fn figures(engine: &Engine) -> Applied<Lines> {
    let counts = engine.query(CountTrains).await?;
    let metrics = Arc::clone(engine.metrics());
    Ok(Lines::new(move |encoder| metrics::write(encoder, counts, &lock(&metrics.train_waits))))
}

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/trains", routes::list).of_tenants(),
        Route::get("/trains/{id}", routes::get).of_tenants(),
        Route::post("/trains/{id}/advance", routes::advance).of_tenants(),
        Route::post("/trains/{id}/hold", routes::hold).of_tenants(),
        Route::get("/admin/trains", operator_routes::list).of_tenants(),
        Route::get("/admin/trains/{id}", routes::get).of_tenants(),
        Route::post("/admin/trains/{id}/advance", routes::advance).of_tenants(),
        Route::post("/admin/trains/{id}/hold", routes::hold).of_tenants(),
    ]
}
