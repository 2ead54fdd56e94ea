//! Jobs that failed for good and are kept for an operator.
mod audit;
pub mod commands;
mod counting;
pub(crate) mod operator_routes;
pub(crate) mod preview;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;

use crate::features::feature::{Extension, Feature};
use crate::http::route::Route;
use crate::kernel::hooks::{Hooks, Sweep};

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    hooks: HOOKS,
    routes: table,
    extensions: &[Extension::Official("dead-letter")],
    capabilities: &["dead_letter"],
    ..Feature::NONE
};

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    on_transition: Some(|transaction, before, after| transaction.count_dead(before, after)),
    on_erase: Some(|transaction, row| transaction.uncount_dead(row)),
    on_written: Some(|transaction| transaction.write_dead_counts()),
    sweep: Some(Sweep {
        part: "the number of dead letters",
        in_maintenance: true,
        run: |transaction| transaction.recount_dead(),
    }),
    prune: Some(|transaction, keep| transaction.prune_dead_letters(keep)),
    audit: Some(audit::CHECKS),
    ..Hooks::NONE
};

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/dead-letter", routes::list).of_tenants(),
        Route::delete("/dead-letter", routes::delete_many).of_tenants(),
        Route::get("/dead-letter/preview", routes::preview).of_tenants(),
        Route::get("/dead-letter/stats", routes::stats).of_tenants(),
        Route::post("/dead-letter/retry", routes::retry_many).of_tenants(),
        Route::get("/dead-letter/{id}", routes::get).of_tenants(),
        Route::delete("/dead-letter/{id}", routes::delete).of_tenants(),
        Route::post("/dead-letter/{id}/retry", routes::retry).of_tenants(),
        Route::get("/admin/dead-letter", operator_routes::list).of_tenants(),
        Route::delete("/admin/dead-letter", routes::delete_many).of_tenants(),
        Route::get("/admin/dead-letter/preview", routes::preview).of_tenants(),
        Route::get("/admin/dead-letter/stats", routes::stats).of_tenants(),
        Route::post("/admin/dead-letter/retry", routes::retry_many).of_tenants(),
        Route::get("/admin/dead-letter/{id}", routes::get).of_tenants(),
        Route::delete("/admin/dead-letter/{id}", operator_routes::delete).of_tenants(),
        Route::post("/admin/dead-letter/{id}/retry", routes::retry).of_tenants(),
    ]
}
