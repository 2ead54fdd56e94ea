//! What came out of jobs: expiry, reading, streaming.
pub mod answer;
mod audit;
pub mod commands;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
pub(crate) mod stream;

use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    on_result: Some(|transaction, row, result| transaction.keep_result(row, result)),
    after_end: Some(|transaction, row| transaction.prune_result(row)),
    keeps: Some(records::holds_result),
    prune_kept: Some(|transaction, row| transaction.prune_old_result(row)),
    audit: Some(audit::CHECKS),
    ..Feature::NONE
};
