//! Push delivery: jobs are sent to endpoints over HTTP ("Serverless Integration", extensions section 17).
//!
//! Each endpoint has a worker of its own, whose jobs are claimed as those of any worker; only the request goes in the
//! other direction. `line` says which endpoints take jobs of a queue, `claim` claims for them, `sender` sends,
//! `outcomes` and `settle` write what has become of jobs and claim the next ones, `answer` says what an answer means
//! for the job, and `health` what it means for the endpoint. `sqs` is for queues of Amazon as endpoints.
mod answer;
mod audit;
mod claim;
pub(crate) mod commands;
pub(crate) mod delivery;
mod health;
mod line;
pub(crate) mod metrics;
mod outcomes;
mod pattern;
pub mod records;
mod register;
pub(crate) mod routes;
mod routing;
pub(crate) mod sender;
mod settle;
mod sqs;
mod trial;

use std::sync::Arc;

use crate::engine::Engine;
use crate::error::Applied;
use crate::features::feature::Feature;
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::metrics::{Lines, lock};
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::EndpointRow::TABLE],
    hooks: HOOKS,
    routes: table,
    figures: Some(|engine, _| Box::pin(figures(engine))),
    ..Feature::NONE
};

/// Where it takes part in transactions: nowhere. It claims and settles as workers do.
const HOOKS: Hooks = Hooks { is_many: Some(records::is_worker_of_endpoint), audit: Some(audit::CHECKS), ..Hooks::NONE };

/// Its figures for `/metrics`.
async fn figures(engine: &Engine) -> Applied<Lines> {
    let metrics = Arc::clone(engine.metrics());
    Ok(Lines::new(move |encoder| lock(&metrics.push).write(encoder)))
}

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/push/endpoints", routes::list),
        Route::post("/push/endpoints", routes::create),
        Route::get("/push/endpoints/{id}", routes::get),
        Route::patch("/push/endpoints/{id}", routes::change),
        Route::delete("/push/endpoints/{id}", routes::delete),
        Route::post("/push/endpoints/{id}/test", routes::test),
        Route::post("/push/endpoints/{id}/rotate-secret", routes::rotate),
    ]
}
