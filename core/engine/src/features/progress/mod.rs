//! Progress: how far a running job has come, as its worker reports it (extensions section 20).
//!
//! Reports are collected in the memory of each process and written at most once a second for each job
//! ([`board`], decision 39).
mod answer;
mod audit;
pub mod board;
pub mod commands;
pub(crate) mod metrics;
pub mod records;
mod reports;
pub(crate) mod routes;
pub(crate) mod rules;
pub(crate) mod stream;
mod workflow;

use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    on_transition: Some(|transaction, before, after| transaction.end_progress(before, after)),
    on_erase: Some(|transaction, row| transaction.erase_progress(row)),
    reset: Some(|transaction| transaction.counters.progress.clear()),
    audit: Some(audit::CHECKS),
    ..Feature::NONE
};
