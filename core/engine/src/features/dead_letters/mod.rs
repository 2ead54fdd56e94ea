//! Jobs that failed for good and are kept for an operator.
mod audit;
pub mod commands;
pub(crate) mod operator_routes;
pub(crate) mod preview;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;

use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    prune: Some(|transaction, keep| transaction.prune_dead_letters(keep)),
    audit: Some(audit::CHECKS),
    ..Feature::NONE
};
