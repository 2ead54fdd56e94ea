//! Checkpoints: one JSON document a job, in which its handler keeps how far it has come. It outlives the attempt and is
//! delivered with the next one (extensions section 21).
pub(crate) mod answer;
mod audit;
pub mod commands;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;

use crate::features::feature::{Extension, Feature};
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::CheckpointRow::TABLE],
    hooks: HOOKS,
    routes: table,
    extensions: &[Extension::Official("durable-execution")],
    ..Feature::NONE
};

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    on_lease: Some(|transaction, job| transaction.deliver_checkpoint(job)),
    on_transition: Some(|transaction, _, after| transaction.end_checkpoint(after)),
    on_erase: Some(|transaction, row| transaction.erase_checkpoint(row)),
    audit: Some(audit::CHECKS),
    ..Hooks::NONE
};

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/jobs/{id}/checkpoint", routes::get).of_tenants(),
        Route::put("/jobs/{id}/checkpoint", routes::save).of_tenants(),
        Route::post("/jobs/{id}/checkpoint", routes::save).of_tenants(),
        Route::delete("/jobs/{id}/checkpoint", routes::delete).of_tenants(),
        Route::delete("/checkpoints/{id}", routes::delete).of_tenants(),
    ]
}
