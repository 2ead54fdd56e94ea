//! Execution history: what happened to a job, read from what is stored already (extensions section 23).
//!
//! Nothing is written for it. The row of a job has its times, the entries of `errors` have one failed attempt each, and
//! the event log has the details of the last start and of a cancellation while it is kept. So a history costs the jobs
//! that are never looked at nothing, and is there for as long as its job (docs/adr/0046-history.md). The only record is
//! that of a history that was deleted (docs/adr/0072-deleted-histories.md).
pub(crate) mod answer;
mod attempts;
mod audit;
pub mod commands;
mod lineage;
pub mod records;
pub(crate) mod routes;
mod rules;
mod search;
mod timeline;

use crate::features::feature::Feature;
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature { tables: &[records::CutRow::TABLE], hooks: HOOKS, routes: table, ..Feature::NONE };

/// Where it takes part in transactions.
const HOOKS: Hooks =
    Hooks { on_erase: Some(|transaction, row| transaction.erase_history_cut(row)), audit: Some(audit::CHECKS), ..Hooks::NONE };

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/history", routes::search).of_tenants(),
        Route::get("/history/stats", routes::stats),
        Route::get("/jobs/{id}/history", routes::get).of_tenants(),
        Route::delete("/jobs/{id}/history", routes::delete).of_tenants(),
        Route::get("/jobs/{id}/lineage", routes::lineage).of_tenants(),
    ]
}
