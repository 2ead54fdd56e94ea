//! What operators ask and order.
pub mod commands;
pub mod filter;
pub(crate) mod job_routes;
pub mod records;
pub(crate) mod rules;
pub(crate) mod system_routes;
pub(crate) mod worker_routes;

use crate::features::feature::{Extension, Feature};
use crate::http::route::Route;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::MaintenanceRow::TABLE],
    routes: table,
    extensions: &[Extension::Official("admin-api")],
    ..Feature::NONE
};

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/workers/{id}/health", worker_routes::health),
        Route::get("/admin/jobs", job_routes::list).of_tenants(),
        Route::get("/admin/jobs/{id}", job_routes::get).of_tenants(),
        Route::post("/admin/jobs/{id}/cancel", job_routes::cancel).of_tenants(),
        Route::post("/admin/jobs/{id}/retry", job_routes::retry).of_tenants(),
        Route::get("/admin/workers", worker_routes::list),
        Route::get("/admin/workers/{id}", worker_routes::get),
        Route::delete("/admin/workers/{id}", worker_routes::delete),
        Route::post("/admin/workers/{id}/{directive}", worker_routes::direct),
        Route::get("/admin/tenants/{id}/jobs", job_routes::list_of_tenant),
        Route::get("/admin/system/audit", system_routes::audit),
        Route::get("/admin/system/maintenance", system_routes::maintenance),
        Route::post("/admin/system/maintenance", system_routes::set_maintenance),
        Route::get("/admin/system/config", system_routes::config),
    ]
}
