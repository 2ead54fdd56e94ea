//! Error groups: failures that are the same but for ids, numbers and quoted text, counted together
//! (docs/adr/0063-error-groups.md).
//!
//! A failed attempt is noted in memory after its commit, and the figures' own timer writes what has gathered: a job
//! that succeeds passes no line of this.
mod audit;
pub mod commands;
mod fingerprint;
pub(crate) mod pending;
pub mod records;
pub(crate) mod routes;
mod rules;

use crate::features::feature::Feature;
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature { tables: &[records::ErrorRow::TABLE], hooks: HOOKS, routes: table, ..Feature::NONE };

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    on_error: Some(|transaction, row, error| transaction.note_error(row, error)),
    on_written: Some(|transaction| {
        transaction.counters.handed_over.failures = std::mem::take(&mut transaction.features.errors);
        Ok(())
    }),
    prune: Some(|transaction, _| {
        let now = transaction.now.as_millis();
        Ok(transaction.tables.prune_errors(now)?)
    }),
    audit: Some(audit::CHECKS),
    ..Hooks::NONE
};

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/admin/errors", routes::list).of_tenants(),
        Route::get("/admin/errors/{fingerprint}", routes::get).of_tenants(),
    ]
}
