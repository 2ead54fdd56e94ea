//! One folder per feature: its records (rows and their tables), its rules, its routes, its metrics. The `mod.rs` of the
//! folder declares what the feature adds to the engine ([`feature::Feature`]); its line in `ALL` registers it.
pub mod admin;
pub mod bulk;
pub mod bulk_operations;
pub mod checkpoints;
pub mod cloudevents;
pub mod crons;
pub mod dead_letters;
pub mod errors;
pub mod explain;
pub mod fair;
pub(crate) mod feature;
pub mod history;
pub mod idempotency;
pub mod job_types;
pub mod limits;
pub mod pools;
pub mod progress;
pub mod push;
pub mod queue_config;
pub mod relays;
pub mod results;
pub mod schemas;
pub mod sessions;
pub(crate) mod state;
pub mod statistics;
pub mod tenants;
pub mod trains;
pub mod versions;
pub mod webhooks;
pub mod workflows;

use std::sync::LazyLock;

use crate::features::feature::Feature;
use crate::kernel::hooks::Hooks;
use crate::store::names::{JobTypeRow, StoredQueue};
use crate::store::record::{Record, Table};
use crate::store::rows::WorkerRow;

/// All features, in the order in which their hooks are called.
pub(crate) const ALL: &[Feature] = &[
    // First: schemas are chosen by version, and limits ask in which line a job stands, of a version or of a key.
    versions::FEATURE,
    fair::FEATURE,
    schemas::FEATURE,
    queue_config::FEATURE,
    // Before trains: those of two tenants are different ones.
    tenants::FEATURE,
    trains::FEATURE,
    limits::FEATURE,
    workflows::FEATURE,
    crons::FEATURE,
    job_types::FEATURE,
    idempotency::FEATURE,
    sessions::FEATURE,
    results::FEATURE,
    statistics::FEATURE,
    dead_letters::FEATURE,
    errors::FEATURE,
    progress::FEATURE,
    checkpoints::FEATURE,
    history::FEATURE,
    pools::FEATURE,
    push::FEATURE,
    bulk_operations::FEATURE,
    relays::FEATURE,
    // They take part in no transaction.
    admin::FEATURE,
    bulk::FEATURE,
    cloudevents::FEATURE,
    explain::FEATURE,
    // Last: before a commit, it turns the events of all others into deliveries.
    webhooks::FEATURE,
];

/// The hooks of all features, for the kernel.
pub(crate) static HOOKS: LazyLock<Vec<Hooks>> = LazyLock::new(|| ALL.iter().map(|feature| feature.hooks).collect());

/// All declared tables: they are made when a store is opened, and emptied when it is reset.
pub static TABLES: LazyLock<Vec<&'static Table>> = LazyLock::new(|| {
    let of_features = ALL.iter().flat_map(|feature| feature.tables.iter().copied());
    [JobTypeRow::TABLE, StoredQueue::TABLE, WorkerRow::TABLE].into_iter().chain(of_features).collect()
});

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_table_extension_or_capability_is_declared_twice() {
        let tables: Vec<String> = TABLES.iter().map(|table| table.name.to_owned()).collect();
        let extensions = ALL.iter().flat_map(|feature| feature.extensions).map(|extension| extension.urn()).collect();
        let capabilities = ALL.iter().flat_map(|feature| feature.capabilities).map(|name| (*name).to_owned()).collect();
        for declared in [tables, extensions, capabilities] {
            let once: BTreeSet<&String> = declared.iter().collect();
            assert!(!once.is_empty() && once.len() == declared.len(), "{declared:?}");
        }
    }
}
