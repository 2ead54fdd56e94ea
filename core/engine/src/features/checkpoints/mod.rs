//! Checkpoints: one JSON document a job, in which its handler keeps how far it has come. It outlives the attempt and is
//! delivered with the next one (extensions section 21).
pub(crate) mod answer;
mod audit;
pub mod commands;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;

use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    on_lease: Some(|transaction, job| transaction.deliver_checkpoint(job)),
    on_transition: Some(|transaction, _, after| transaction.end_checkpoint(after)),
    on_erase: Some(|transaction, row| transaction.erase_checkpoint(row)),
    audit: Some(audit::CHECKS),
    ..Feature::NONE
};
