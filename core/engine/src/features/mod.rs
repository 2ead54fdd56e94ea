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

use ojs_model::lazy::Lazy;

use crate::features::feature::Feature;
use crate::kernel::hooks::Hooks;
use crate::store::due::{Due, When};
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
pub(crate) static HOOKS: Lazy<Vec<Hooks>> = Lazy::new(|| ALL.iter().map(|feature| feature.hooks).collect());

/// All declared tables: they are made when a store is opened, and emptied when it is reset.
pub static TABLES: Lazy<Vec<&'static Table>> = Lazy::new(|| {
    let of_features = ALL.iter().flat_map(|feature| feature.tables.iter().copied());
    [JobTypeRow::TABLE, StoredQueue::TABLE, WorkerRow::TABLE].into_iter().chain(of_features).collect()
});

/// Workers whose heartbeats have ended.
const SILENT_WORKERS: Due = Due { table: WorkerRow::TABLE, index: WorkerRow::BEATING, when: When::Silent };

/// All records that time makes due.
pub(crate) fn due() -> impl Iterator<Item = &'static Due> {
    std::iter::once(&SILENT_WORKERS).chain(ALL.iter().flat_map(|feature| feature.due))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::due::statement;
    use crate::store::record::text::Dialect;

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

    #[test]
    fn each_declaration_of_due_records_is_one_question() {
        let due =
            Due { table: crons::records::CronRow::TABLE, index: crons::records::CronRow::WAITING, when: When::Ended("last_job") };
        let text = statement("SELECT 1", Dialect::Sqlite, std::iter::once(&due));
        let wanted = "OR EXISTS (SELECT 1 FROM crons WHERE waiting > 0 AND NOT EXISTS (SELECT 1 FROM jobs WHERE id = crons.last_job \
                      AND state NOT IN (4, 6, 7)))";
        assert_eq!(text.trim_start_matches("SELECT 1").trim(), wanted);
    }

    #[test]
    fn indexes_of_due_records_hold_those_alone_that_have_a_time() {
        for due in super::due() {
            assert!(due.index.positive && due.table.indexes.contains(&due.index), "{}", due.index.name);
        }
    }
}
