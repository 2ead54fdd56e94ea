//! Versions of jobs: each version of a job type has a line of its own in a queue, and a worker that declares what it
//! runs is given the lines that it can run (extensions section 14).
pub(crate) mod answer;
mod audit;
pub mod handlers;
pub mod records;
pub(crate) mod routes;
pub mod routing;
pub(crate) mod rules;

use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    admit: Some(|transaction, jobs, admission| transaction.admit_versions(jobs, admission)),
    complete: Some(|transaction, job| transaction.version_of_step(job)),
    on_claim: Some(|transaction, claim, worker| transaction.note_handlers(claim, worker)),
    add: Some(|transaction, claiming, queue, wanted, jobs| transaction.add_versions(claiming, queue, wanted, jobs)),
    on_move: Some(|transaction, row| transaction.join_version_line(row)),
    on_available: Some(|transaction, row| transaction.join_version_line(row)),
    audit: Some(audit::CHECKS),
    ..Feature::NONE
};
