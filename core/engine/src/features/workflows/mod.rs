//! Chains, groups and batches of jobs.
mod audit;
pub mod commands;
pub(crate) mod ended;
pub(crate) mod events;
pub(crate) mod operator_routes;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;

use crate::features::feature::Feature;
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::StepRow::TABLE, records::WorkflowRow::TABLE],
    hooks: HOOKS,
    routes: table,
    capabilities: &["workflows"],
    ..Feature::NONE
};

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    on_stored: Some(|transaction, row| transaction.note_end(row)),
    on_transition: Some(|transaction, _, after| {
        transaction.note_end(after);
        Ok(())
    }),
    after_command: Some(|transaction| transaction.advance_workflows()),
    prune: Some(|transaction, keep| transaction.prune_workflows(keep)),
    audit: Some(audit::CHECKS),
    ..Hooks::NONE
};

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::post("/workflows", routes::create).of_tenants(),
        Route::get("/workflows/{id}", routes::get).of_tenants(),
        Route::delete("/workflows/{id}", routes::cancel).of_tenants(),
        Route::get("/admin/workflows", operator_routes::list).of_tenants(),
    ]
}
