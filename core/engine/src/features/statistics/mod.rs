//! Figures over time.
mod audit;
pub mod commands;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
mod spread;
pub(crate) mod types;

use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    on_written: Some(|transaction| transaction.hand_over_facts()),
    prune: Some(|transaction, _| {
        transaction.roll_stats()?;
        transaction.roll_type_stats()?;
        Ok(false)
    }),
    audit: Some(audit::CHECKS),
    ..Feature::NONE
};
