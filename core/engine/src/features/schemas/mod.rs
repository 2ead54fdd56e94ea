//! The schema registry: what the arguments of a job type look like, version by version, and what happens to jobs that
//! do not match.
mod audit;
pub(crate) mod commands;
mod compatible_with;
mod compiled;
mod foresee;
mod json_schema;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;

use crate::features::feature::{Extension, Feature};
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::SchemaRow::TABLE, records::SchemaText::TABLE],
    hooks: HOOKS,
    routes: table,
    extensions: &[Extension::Official("schema-registry")],
    capabilities: &["schema_validation"],
    ..Feature::NONE
};

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    admit: Some(|transaction, jobs, admission| transaction.admit_by_schema(jobs, admission)),
    judge: Some(|transaction, job_type, envelope| transaction.judge_by_schema(job_type, envelope)),
    foresee: Some(foresee::foresee),
    audit: Some(audit::CHECKS),
    ..Hooks::NONE
};

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/schemas", routes::list).of_tenants(),
        Route::post("/schemas", routes::register).of_tenants(),
        Route::get("/schemas/{type}", routes::get).of_tenants(),
        Route::delete("/schemas/{type}", routes::delete_by_uri).of_tenants(),
        Route::get("/schemas/{type}/versions", routes::versions).of_tenants(),
        Route::get("/schemas/{type}/{version}", routes::get_version).of_tenants(),
        Route::patch("/schemas/{type}/{version}", routes::set_mode).of_tenants(),
        Route::delete("/schemas/{type}/{version}", routes::delete).of_tenants(),
        Route::get("/admin/schemas/{type}", routes::show).of_tenants(),
        Route::get("/admin/schemas/{type}/versions", routes::versions).of_tenants(),
        Route::get("/admin/schemas/{type}/{version}", routes::show_version).of_tenants(),
        Route::put("/admin/schemas/{type}/{version}", routes::put).of_tenants(),
        Route::delete("/admin/schemas/{type}/{version}", routes::delete).of_tenants(),
    ]
}
