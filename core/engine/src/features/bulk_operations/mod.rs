//! Bulk operations: changes of many jobs that go on in the background (decision 61).
//!
//! An operation is a record: what is to be done to which jobs, how far it is, and what came of it. The `runner` of a
//! node goes on with each operation in slices; the place that an operation has reached is written in the transaction
//! that changes the jobs of the slice, so no crash does a job twice or leaves one out. `plan` says which jobs come next
//! and when the end is reached, `survey` counts a bounded number of them beforehand.
pub(crate) mod answer;
mod audit;
pub mod commands;
pub(crate) mod plan;
pub mod records;
pub(crate) mod refusals;
pub(crate) mod routes;
mod rules;
pub(crate) mod runner;
pub(crate) mod slices;
pub(crate) mod survey;

use crate::features::feature::Feature;
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature =
    Feature { tables: &[records::OperationRow::TABLE], hooks: HOOKS, routes: table, ..Feature::NONE };

/// Where it takes part in transactions.
const HOOKS: Hooks =
    Hooks { prune: Some(|transaction, _| transaction.prune_operations()), audit: Some(audit::CHECKS), ..Hooks::NONE };

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/admin/bulk", routes::list).of_tenants(),
        Route::post("/admin/bulk", routes::create).of_tenants(),
        Route::get("/admin/bulk/{id}", routes::get).of_tenants(),
        Route::post("/admin/bulk/{id}/pause", routes::pause).of_tenants(),
        Route::post("/admin/bulk/{id}/resume", routes::resume).of_tenants(),
        Route::post("/admin/bulk/{id}/cancel", routes::cancel).of_tenants(),
    ]
}
