//! Pools: queues that share the workers which fetch from several of them, by a strategy (extensions section 22).
mod audit;
pub mod commands;
mod explain;
pub(crate) mod metrics;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
pub(crate) mod shares;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::engine::Engine;
use crate::error::Applied;
use crate::features::admin::records::Gauges;
use crate::features::feature::Feature;
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::metrics::Lines;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::PoolRow::TABLE, records::PoolQueue::TABLE, records::PoolGate::TABLE],
    hooks: HOOKS,
    routes: table,
    figures: Some(|engine, gauges| Box::pin(figures(engine, gauges))),
    ..Feature::NONE
};

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    divide: Some(|transaction, claiming| transaction.claim_by_pools(claiming)),
    on_transition: Some(|transaction, before, after| transaction.free_place_in_pool(before, after.state)),
    reset: Some(|transaction| transaction.forget_shares()),
    audit: Some(audit::CHECKS),
    explain: Some(explain::explain),
    ..Hooks::NONE
};

/// Its figures for `/metrics`.
async fn figures(engine: &Engine, gauges: &Arc<Gauges>) -> Applied<Lines> {
    let (metrics, gauges) = (Arc::clone(engine.metrics()), Arc::clone(gauges));
    Ok(Lines::new(move |encoder| {
        // What the queues of pools have handed out here is what was started of their jobs.
        let waits = if gauges.pools.is_empty() { HashMap::new() } else { metrics.waits() };
        metrics::write(encoder, &gauges, &waits, metrics.starved.load(Ordering::Relaxed))
    }))
}

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/admin/pools", routes::list),
        Route::put("/admin/pools/{name}", routes::put),
        Route::delete("/admin/pools/{name}", routes::delete),
        Route::get("/admin/scheduling/stats", routes::stats),
    ]
}
