//! Figures over time.
mod audit;
pub mod commands;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
mod spread;
pub(crate) mod types;

use crate::features::feature::Feature;
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature =
    Feature { tables: &[records::StatRow::TABLE, types::TypeRow::TABLE], hooks: HOOKS, routes: table, ..Feature::NONE };

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    on_written: Some(|transaction| transaction.hand_over_facts()),
    prune: Some(|transaction, _| {
        transaction.roll_stats()?;
        transaction.roll_type_stats()?;
        Ok(false)
    }),
    audit: Some(audit::CHECKS),
    ..Hooks::NONE
};

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/admin/stats", routes::now),
        Route::get("/admin/stats/history", routes::history),
        Route::get("/admin/stats/types", routes::types),
    ]
}
