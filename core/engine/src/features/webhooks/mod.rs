//! Webhooks: events are sent over HTTP to the addresses of subscriptions (extensions section 18).
//!
//! An event that a subscription wants becomes a delivery, a record, in the transaction of the event. The `sender` of
//! each node claims deliveries that are due, sends them, and settles them; `schedule` says what an answer means.
//! `backlog` bounds how many wait for one subscription.
mod audit;
pub(crate) mod backlog;
pub(crate) mod commands;
pub(crate) mod event;
pub(crate) mod metrics;
pub mod records;
pub(crate) mod request;
pub(crate) mod routes;
pub(crate) mod rules;
pub(crate) mod schedule;
pub(crate) mod sender;
pub(crate) mod subscribe;

use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    before_commit: Some(|transaction| transaction.note_deliveries()),
    on_written: Some(|transaction| {
        transaction.counters.deltas = std::mem::take(&mut transaction.features.webhooks);
        Ok(())
    }),
    reset: Some(|transaction| transaction.counters.backlog.clear()),
    prune: Some(|transaction, _| transaction.prune_deliveries()),
    audit: Some(audit::CHECKS),
    ..Feature::NONE
};
