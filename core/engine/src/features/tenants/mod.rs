//! Tenants: to whom jobs belong, who sees them, and how much each tenant may use.
mod audit;
pub mod commands;
mod explain;
pub(crate) mod kept;
pub(crate) mod metrics;
pub mod noisy;
pub(crate) mod noisy_routes;
pub(crate) mod operator_routes;
pub mod quota;
pub mod records;
pub(crate) mod rules;
pub(crate) mod within;

use std::sync::Arc;

use crate::error::Applied;
use crate::features::admin::records::Gauges;
use crate::features::feature::{Extension, Feature};
use crate::http::route::Route;
use crate::kernel::holds::Holds;
use crate::kernel::hooks::Hooks;
use crate::metrics::Lines;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::CountRow::TABLE, records::RateRow::TABLE, records::TenantRow::TABLE],
    hooks: HOOKS,
    routes: table,
    extensions: &[Extension::Official("multi-tenancy")],
    figures: Some(|_, gauges| Box::pin(figures(gauges))),
    ..Feature::NONE
};

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    admit: Some(|transaction, jobs, admission| transaction.admit_tenants(jobs, admission)),
    judge: Some(|transaction, _, envelope| transaction.judge_tenant(envelope)),
    on_enqueue: Some(|transaction, job, row| transaction.join_tenant(job, row)),
    on_stored: Some(|transaction, row| transaction.total(row, 0)),
    after_enqueue: Some(|transaction, _, placed| transaction.take_rates(placed)),
    on_available: Some(|transaction, row| transaction.join_tenant_line(row)),
    on_hold: Some(|transaction, row, reason| if reason == Holds::TENANT { Ok(()) } else { transaction.free_tenant(row.tenant) }),
    on_release: Some(|transaction, row| {
        transaction.look_at_tenant(row);
        Ok(())
    }),
    before_claim: Some(|transaction| transaction.open_tenants()),
    choose: Some(|transaction, claiming, queue, wanted| transaction.choose_of_tenant(claiming, queue, wanted)),
    may_claim: Some(|transaction, row| Ok(row.tenant == 0 || transaction.tenant_may_start(row)?)),
    on_empty_claim: Some(|transaction| transaction.open_changed_tenants()),
    on_transition: Some(|transaction, before, after| transaction.note_tenant(before, after)),
    on_failure: Some(|transaction, row, _| {
        transaction.total(row, 2);
        Ok(())
    }),
    before_commit: Some(|transaction| transaction.open_tenants()),
    on_written: Some(|transaction| transaction.write_tenant_counts()),
    audit: Some(audit::CHECKS),
    explain: Some(explain::explain),
    ..Hooks::NONE
};

/// Its figures for `/metrics`.
async fn figures(gauges: &Arc<Gauges>) -> Applied<Lines> {
    let gauges = Arc::clone(gauges);
    Ok(Lines::new(move |encoder| metrics::write(encoder, &gauges.tenants)))
}

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/admin/stats/tenants/noisy", noisy_routes::list),
        Route::get("/admin/tenants", operator_routes::list),
        Route::get("/admin/tenants/{id}", operator_routes::get),
        Route::put("/admin/tenants/{id}", operator_routes::put),
        Route::delete("/admin/tenants/{id}", operator_routes::delete),
        Route::put("/admin/tenants/{id}/limits", operator_routes::set_limits),
        Route::post("/admin/tenants/{id}/suspend", operator_routes::suspend),
        Route::post("/admin/tenants/{id}/resume", operator_routes::resume),
        Route::get("/admin/tenants/{id}/stats", operator_routes::stats),
    ]
}
