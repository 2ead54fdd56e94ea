//! Pools: queues that share the workers which fetch from several of them, by a strategy (extensions section 22).
mod audit;
pub mod commands;
mod explain;
pub(crate) mod metrics;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
pub(crate) mod shares;

use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    divide: Some(|transaction, claiming| transaction.claim_by_pools(claiming)),
    on_transition: Some(|transaction, before, after| transaction.free_place_in_pool(before, after.state)),
    reset: Some(|transaction| transaction.forget_shares()),
    audit: Some(audit::CHECKS),
    explain: Some(explain::explain),
    ..Feature::NONE
};
