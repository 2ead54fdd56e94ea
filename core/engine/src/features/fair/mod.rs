//! Shared queues: jobs of one queue are handed out by keys in turn, in proportion to weights (extensions sections 10
//! and 22).
mod audit;
pub(crate) mod choose;
pub mod commands;
pub(crate) mod known;
pub mod records;
pub(crate) mod rounds;
pub(crate) mod routes;
pub(crate) mod rules;
pub(crate) mod sorting;
pub mod weights;

use crate::features::feature::{Extension, Feature};
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::FairQueue::TABLE],
    hooks: HOOKS,
    routes: table,
    extensions: &[Extension::Official("fair-scheduling")],
    ..Feature::NONE
};

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    on_enqueue: Some(|transaction, job, _| {
        transaction.note_fairness_key(job);
        Ok(())
    }),
    on_available: Some(|transaction, row| transaction.join_line_of_key(row)),
    on_move: Some(|transaction, row| transaction.join_line_of_key(row)),
    choose: Some(|transaction, claiming, queue, wanted| transaction.choose_by_key(claiming, queue, wanted)),
    repair: Some(|transaction, after| transaction.repair_shared_queues(after)),
    sweep: Some(crate::kernel::hooks::Sweep {
        part: "shared queues",
        in_maintenance: true,
        run: |transaction| Ok(transaction.sort_changed_queues()?),
    }),
    reset: Some(|transaction| transaction.forget_rounds()),
    audit: Some(audit::CHECKS),
    ..Hooks::NONE
};

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/admin/queues/{name}/fairness", routes::get),
        Route::put("/admin/queues/{name}/fairness", routes::put),
        Route::delete("/admin/queues/{name}/fairness", routes::delete),
    ]
}
