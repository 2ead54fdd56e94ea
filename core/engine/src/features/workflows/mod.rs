//! Chains, groups and batches of jobs.
mod audit;
pub mod commands;
pub(crate) mod ended;
pub(crate) mod operator_routes;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;

use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    on_stored: Some(|transaction, row| transaction.note_end(row)),
    on_transition: Some(|transaction, _, after| {
        transaction.note_end(after);
        Ok(())
    }),
    after_command: Some(|transaction| transaction.advance_workflows()),
    prune: Some(|transaction, keep| transaction.prune_workflows(keep)),
    audit: Some(audit::CHECKS),
    ..Feature::NONE
};
