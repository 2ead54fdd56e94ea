//! Why a job is not running. Each feature that can hold a job back says so by the hook `explain`; here is what concerns
//! every job: its state, maintenance, workers, and its place in line.
pub(crate) mod answer;
pub mod commands;
mod line;
pub(crate) mod routes;
mod state;
mod workers;

use crate::features::feature::Feature;
use crate::http::route::Route;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature { routes: table, ..Feature::NONE };

/// Its routes.
fn table() -> Vec<Route> {
    vec![Route::get("/jobs/{id}/explain", routes::explain).of_tenants()]
}
