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

use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    admit: Some(|transaction, jobs, admission| transaction.admit(jobs, admission)),
    after_enqueue: Some(|transaction, admission, placed| transaction.after_admission(admission, placed)),
    complete: Some(|transaction, job| transaction.fitted(job)),
    slots: Some(|transaction, queue| transaction.free_slots(queue)),
    before_commit: Some(|transaction| transaction.emit_relief()),
    audit: Some(audit::CHECKS),
    explain: Some(explain::explain),
    foresee: Some(explain::foresee),
    on_replay: Some(|transaction, row| transaction.reopen_queue(row)),
    ..Feature::NONE
};
