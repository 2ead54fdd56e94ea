//! Jobs by the clock.
mod audit;
pub mod commands;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;

use crate::features::feature::Feature;
use crate::http::route::Route;
use crate::kernel::hooks::{Hooks, Sweep};
use crate::store::due::{Due, When};
use crate::store::record::Record as _;
use records::CronRow;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature =
    Feature { tables: &[CronRow::TABLE], due: DUE, hooks: HOOKS, routes: table, capabilities: &["cron_jobs"], ..Feature::NONE };

/// Entries whose time has come, and those that wait for their latest job.
const DUE: &[Due] = &[
    Due::reached(CronRow::TABLE, CronRow::NEXT),
    Due { table: CronRow::TABLE, index: CronRow::WAITING, when: When::Ended("last_job") },
];

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    sweep: Some(Sweep { part: "cron entries", in_maintenance: false, run: |transaction| transaction.fire_crons() }),
    audit: Some(audit::CHECKS),
    ..Hooks::NONE
};

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/cron", routes::list).of_tenants(),
        Route::post("/cron", routes::put).of_tenants(),
        Route::get("/cron/{name}", routes::get).of_tenants(),
        Route::patch("/cron/{name}", routes::switch).of_tenants(),
        Route::delete("/cron/{name}", routes::delete).of_tenants(),
        Route::post("/cron/{name}/run", routes::run).of_tenants(),
    ]
}
