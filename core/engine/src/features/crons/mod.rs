//! Jobs by the clock.
mod audit;
pub mod commands;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;

use crate::kernel::hooks::{Feature, Sweep};
use crate::store::due::{Due, When};
use crate::store::record::Record;
use records::CronRow;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    due: &[
        Due::reached(CronRow::TABLE, CronRow::NEXT),
        Due { table: CronRow::TABLE, index: CronRow::WAITING, when: When::Ended("last_job") },
    ],
    sweep: Some(Sweep { part: "cron entries", in_maintenance: false, run: |transaction| transaction.fire_crons() }),
    audit: Some(audit::CHECKS),
    ..Feature::NONE
};
