//! Jobs that failed for good and are kept for an operator.
mod audit;
pub mod commands;
mod counting;
pub(crate) mod operator_routes;
pub(crate) mod preview;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;

use crate::kernel::hooks::{Feature, Sweep};

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    on_transition: Some(|transaction, before, after| transaction.count_dead(before, after)),
    on_erase: Some(|transaction, row| transaction.uncount_dead(row)),
    on_written: Some(|transaction| transaction.write_dead_counts()),
    sweep: Some(Sweep {
        part: "the number of dead letters",
        in_maintenance: true,
        run: |transaction| transaction.recount_dead(),
    }),
    prune: Some(|transaction, keep| transaction.prune_dead_letters(keep)),
    audit: Some(audit::CHECKS),
    ..Feature::NONE
};
