//! Jobs by the clock.
mod audit;
pub mod commands;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;

use crate::kernel::hooks::{Feature, Sweep};

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    sweep: Some(Sweep { part: "cron entries", in_maintenance: false, run: |transaction| transaction.fire_crons() }),
    audit: Some(audit::CHECKS),
    ..Feature::NONE
};
