//! Versions of jobs: each version of a job type has a line of its own in a queue, and a worker that declares what it
//! runs is given the lines that it can run (extensions section 14).
pub(crate) mod answer;
mod audit;
mod judge;
pub mod records;
pub mod rollback;
pub(crate) mod routes;
pub mod routing;
pub(crate) mod rules;

use ojs_model::JobState;

use crate::features::feature::{Extension, Feature};
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::RouteRow::TABLE, records::TallyRow::TABLE, records::VersionedQueue::TABLE],
    hooks: HOOKS,
    routes: table,
    extensions: &[Extension::Own("job-versioning", "urn:ojs:ext:experimental:job-versioning")],
    ..Feature::NONE
};

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    admit: Some(|transaction, jobs, admission| transaction.admit_versions(jobs, admission)),
    complete: Some(|transaction, job| transaction.version_of_step(job)),
    on_claim: Some(|transaction, claim, worker| transaction.note_handlers(claim, worker)),
    add: Some(|transaction, claiming, queue, wanted, jobs| transaction.add_versions(claiming, queue, wanted, jobs)),
    on_move: Some(|transaction, row| transaction.join_version_line(row)),
    on_available: Some(|transaction, row| transaction.join_version_line(row)),
    on_transition: Some(|transaction, before, after| {
        if after.version > 0 && before.state == JobState::Active && after.state == JobState::Completed {
            transaction.count_attempt(before, false)?;
        }
        Ok(())
    }),
    on_failure: Some(|transaction, row, _| if row.version > 0 { transaction.count_attempt(row, true) } else { Ok(()) }),
    before_commit: Some(|transaction| transaction.judge_versions()),
    prune: Some(|transaction, _| transaction.forget_old_attempts()),
    audit: Some(audit::CHECKS),
    ..Hooks::NONE
};

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/admin/routing/{type}", routes::get),
        Route::put("/admin/routing/{type}", routes::put),
        Route::delete("/admin/routing/{type}", routes::delete),
    ]
}
