//! Many jobs in one request.
pub mod answer;
pub mod commands;
pub(crate) mod filter;
pub(crate) mod metrics;
pub(crate) mod operator_routes;
pub(crate) mod purge;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
pub(crate) mod run;

use crate::features::feature::{Extension, Feature};
use crate::http::route::Route;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature =
    Feature { routes: table, extensions: &[Extension::Official("bulk-operations")], ..Feature::NONE };

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::post("/jobs/bulk", routes::enqueue).of_tenants(),
        Route::post("/jobs/bulk/cancel", routes::cancel).of_tenants(),
        Route::post("/jobs/bulk/retry", routes::retry).of_tenants(),
        Route::post("/jobs/bulk/delete", routes::delete).of_tenants(),
        Route::delete("/admin/queues/{name}/jobs", operator_routes::purge),
        Route::post("/admin/jobs/bulk/retry", operator_routes::retry).of_tenants(),
        Route::post("/admin/jobs/bulk/cancel", operator_routes::cancel).of_tenants(),
        Route::post("/admin/jobs/bulk/delete", operator_routes::delete).of_tenants(),
    ]
}
