//! Pools: queues that share the workers which fetch from several of them, by a strategy (extensions section 22).
mod audit;
pub mod commands;
mod explain;
pub(crate) mod metrics;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
pub(crate) mod shares;

use crate::features::feature::Feature;
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::PoolRow::TABLE, records::PoolQueue::TABLE, records::PoolGate::TABLE],
    hooks: HOOKS,
    routes: table,
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

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/admin/pools", routes::list),
        Route::put("/admin/pools/{name}", routes::put),
        Route::delete("/admin/pools/{name}", routes::delete),
        Route::get("/admin/scheduling/stats", routes::stats),
    ]
}
