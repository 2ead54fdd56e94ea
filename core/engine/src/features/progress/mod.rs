//! Progress: how far a running job has come, as its worker reports it (extensions section 20).
//!
//! Reports are collected in the memory of each process and written at most once a second for each job
//! ([`board`], decision 39).
mod answer;
mod audit;
pub mod board;
pub mod commands;
pub(crate) mod metrics;
pub mod records;
mod reports;
pub(crate) mod routes;
pub(crate) mod rules;
pub(crate) mod stream;
mod workflow;

use std::sync::Arc;

use crate::engine::Engine;
use crate::error::Applied;
use crate::features::admin::records::Gauges;
use crate::features::feature::{Extension, Feature};
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::metrics::{Lines, lock};
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::ProgressRow::TABLE],
    hooks: HOOKS,
    routes: table,
    extensions: &[Extension::Official("progress")],
    figures: Some(|engine, gauges| Box::pin(figures(engine, gauges))),
    ..Feature::NONE
};

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    on_transition: Some(|transaction, before, after| transaction.end_progress(before, after)),
    on_erase: Some(|transaction, row| transaction.erase_progress(row)),
    reset: Some(|transaction| transaction.counters.kept.progress.clear()),
    audit: Some(audit::CHECKS),
    ..Hooks::NONE
};

/// Its figures for `/metrics`.
async fn figures(engine: &Engine, gauges: &Arc<Gauges>) -> Applied<Lines> {
    let (metrics, gauges) = (Arc::clone(engine.metrics()), Arc::clone(gauges));
    Ok(Lines::new(move |encoder| lock(&metrics.progress).write(encoder, gauges.now, gauges.stalled)))
}

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/jobs/{id}/progress", routes::get).of_tenants(),
        Route::put("/jobs/{id}/progress", routes::put).of_tenants(),
        Route::get("/jobs/{id}/progress/stream", stream::open).of_tenants(),
        Route::get("/workflows/{id}/progress", routes::workflow).of_tenants(),
    ]
}
