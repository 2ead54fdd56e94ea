//! One folder per feature: its records (rows and their tables), its rules, its routes, its metrics.
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

use crate::kernel::hooks::Feature;
use crate::store::due::{Due, When};
use crate::store::names::{JobTypeRow, StoredQueue};
use crate::store::record::{Record, Table};
use crate::store::rows::WorkerRow;

/// The features that take part in transactions, in the order in which their hooks are called.
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
    // Last: before a commit, it turns the events of all others into deliveries.
    webhooks::FEATURE,
];

/// All declared tables: they are made when a store is opened, and emptied when it is reset.
pub const TABLES: &[&Table] = &[
    admin::records::MaintenanceRow::TABLE,
    bulk_operations::records::OperationRow::TABLE,
    checkpoints::records::CheckpointRow::TABLE,
    crons::records::CronRow::TABLE,
    errors::records::ErrorRow::TABLE,
    fair::records::FairQueue::TABLE,
    history::records::CutRow::TABLE,
    idempotency::records::Remembered::TABLE,
    limits::records::LimitRow::TABLE,
    limits::records::StartRow::TABLE,
    progress::records::ProgressRow::TABLE,
    pools::records::PoolRow::TABLE,
    pools::records::PoolQueue::TABLE,
    pools::records::PoolGate::TABLE,
    push::records::EndpointRow::TABLE,
    relays::records::RelayRow::TABLE,
    schemas::records::SchemaRow::TABLE,
    schemas::records::SchemaText::TABLE,
    sessions::records::SessionRow::TABLE,
    statistics::records::StatRow::TABLE,
    statistics::types::TypeRow::TABLE,
    trains::records::CarRow::TABLE,
    trains::records::DrainRow::TABLE,
    trains::records::EpochRow::TABLE,
    trains::records::TrainRow::TABLE,
    tenants::records::CountRow::TABLE,
    tenants::records::RateRow::TABLE,
    tenants::records::TenantRow::TABLE,
    JobTypeRow::TABLE,
    StoredQueue::TABLE,
    versions::records::RouteRow::TABLE,
    versions::records::TallyRow::TABLE,
    versions::records::VersionedQueue::TABLE,
    WorkerRow::TABLE,
    webhooks::records::DeliveryRow::TABLE,
    webhooks::records::DropRow::TABLE,
    webhooks::records::SubscriptionRow::TABLE,
    workflows::records::StepRow::TABLE,
    workflows::records::WorkflowRow::TABLE,
];

/// Workers whose heartbeats have ended.
const SILENT_WORKERS: Due = Due { table: WorkerRow::TABLE, index: WorkerRow::BEATING, when: When::Silent };

/// All records that time makes due.
pub(crate) fn due() -> impl Iterator<Item = &'static Due> {
    std::iter::once(&SILENT_WORKERS).chain(ALL.iter().flat_map(|feature| feature.due))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::due::statement;
    use crate::store::record::text::Dialect;

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
