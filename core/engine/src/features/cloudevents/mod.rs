//! CloudEvents 1.0: events are given out as CloudEvents, and a CloudEvent may enqueue a job (extensions section 24).
//!
//! Jobs are never CloudEvents. Events are, where a client asks for that form: `/events`, `/events/stream` and webhooks.
pub mod answer;
mod commands;
mod data;
pub(crate) mod routes;
mod trigger;

use crate::features::feature::Feature;
use crate::http::route::Route;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature { routes: table, ..Feature::NONE };

/// Its routes.
fn table() -> Vec<Route> {
    vec![Route::post("/jobs", routes::enqueue).of_tenants()]
}
