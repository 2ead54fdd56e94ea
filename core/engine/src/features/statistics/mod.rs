//! Figures over time.
pub mod commands;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
mod spread;

use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    prune: Some(|transaction, _| {
        transaction.roll_stats()?;
        Ok(false)
    }),
    ..Feature::NONE
};
