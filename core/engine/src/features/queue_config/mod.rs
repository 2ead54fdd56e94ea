//! What operators set for a queue: bounds, job types, retention, defaults.
pub(crate) mod admission;
mod audit;
pub mod commands;
mod explain;
pub(crate) mod operator_routes;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
pub mod tables;
mod values;

use crate::features::feature::{Extension, Feature};
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    hooks: HOOKS,
    routes: table,
    extensions: &[Extension::Official("backpressure")],
    capabilities: &["pause_resume"],
    ..Feature::NONE
};

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    admit: Some(|transaction, jobs, admission| transaction.admit(jobs, admission)),
    after_enqueue: Some(|transaction, admission, placed| transaction.after_admission(admission, placed)),
    complete: Some(|transaction, job| transaction.fitted(job)),
    slots: Some(|transaction, queue| transaction.free_slots(queue)),
    before_commit: Some(|transaction| transaction.emit_relief()),
    audit: Some(audit::CHECKS),
    explain: Some(explain::explain),
    foresee: Some(explain::foresee),
    on_replay: Some(|transaction, row| transaction.reopen_queue(row)),
    ..Hooks::NONE
};

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::post("/queues", routes::create),
        Route::get("/queues/{name}", routes::get).of_tenants(),
        Route::delete("/queues/{name}", routes::delete),
        Route::put("/queues/{name}/config", routes::configure),
        Route::get("/admin/queues", operator_routes::list),
        Route::get("/admin/queues/{name}", operator_routes::get),
        Route::post("/admin/queues/{name}/pause", operator_routes::pause),
        Route::post("/admin/queues/{name}/resume", operator_routes::resume),
        Route::put("/admin/queues/{name}/config", routes::configure),
        Route::put("/admin/queues/{name}/rate-limit", routes::rate_limit),
    ]
}
