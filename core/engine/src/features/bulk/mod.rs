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

use std::sync::Arc;

use crate::engine::Engine;
use crate::error::Applied;
use crate::features::feature::{Extension, Feature};
use crate::http::route::Route;
use crate::metrics::{Lines, lock};

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    routes: table,
    extensions: &[Extension::Official("bulk-operations")],
    figures: Some(|engine, _| Box::pin(figures(engine))),
    ..Feature::NONE
};

/// Its figures for `/metrics`.
async fn figures(engine: &Engine) -> Applied<Lines> {
    let metrics = Arc::clone(engine.metrics());
    Ok(Lines::new(move |encoder| lock(&metrics.bulk).write(encoder)))
}

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
