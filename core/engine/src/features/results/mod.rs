//! What came out of jobs: expiry, reading, streaming.
pub mod answer;
mod audit;
pub mod commands;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
pub(crate) mod stream;

use crate::features::feature::Feature;
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature { hooks: HOOKS, routes: table, ..Feature::NONE };

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    on_result: Some(|transaction, row, result| transaction.keep_result(row, result)),
    after_end: Some(|transaction, row| transaction.prune_result(row)),
    keeps: Some(records::holds_result),
    prune_kept: Some(|transaction, row| transaction.prune_old_result(row)),
    audit: Some(audit::CHECKS),
    ..Hooks::NONE
};

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/jobs/{id}/result", routes::get).of_tenants(),
        Route::get("/jobs/{id}/result/stream", stream::open).of_tenants(),
        Route::post("/jobs/results", routes::list).of_tenants(),
    ]
}
