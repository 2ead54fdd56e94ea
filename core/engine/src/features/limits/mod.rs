//! Keyed limits: concurrency, rate and throttle by key.
mod audit;
pub mod commands;
mod explain;
pub(crate) mod gate;
pub(crate) mod metrics;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::engine::Engine;
use crate::error::Applied;
use crate::features::admin::records::Gauges;
use crate::features::feature::{Extension, Feature};
use crate::features::limits::commands::ListLimits;
use crate::features::limits::records::LimitPage;
use crate::http::route::Route;
use crate::kernel::hooks::{Hooks, Sweep};
use crate::metrics::Lines;
use crate::store::due::Due;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::LimitRow::TABLE, records::StartRow::TABLE],
    due: &[Due::reached(records::LimitRow::TABLE, records::LimitRow::OPEN)],
    hooks: HOOKS,
    routes: table,
    extensions: &[Extension::Official("rate-limiting")],
    capabilities: &["rate_limiting"],
    figures: Some(|engine, gauges| Box::pin(figures(engine, gauges))),
};

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    on_enqueue: Some(|transaction, job, row| transaction.join_key(job, row)),
    after_enqueue: Some(|transaction, _, placed| transaction.show_keys(placed)),
    on_available: Some(|transaction, row| transaction.join_line(row)),
    on_release: Some(|transaction, row| transaction.look_at_key(row)),
    before_claim: Some(|transaction| {
        // What outcomes of the same request have freed is there for its claim.
        transaction.open_limits()?;
        transaction.open_due_limits(false)
    }),
    may_claim: Some(|transaction, row| Ok(row.limit == 0 || transaction.may_start(row)?)),
    on_empty_claim: Some(|transaction| transaction.wait_for_opening()),
    on_transition: Some(|transaction, before, after| transaction.note_key(before, after.state)),
    on_failure: Some(|transaction, job, error| transaction.hold_key(job, error)),
    before_commit: Some(|transaction| transaction.open_limits()),
    sweep: Some(Sweep { part: "rate limits", in_maintenance: true, run: |transaction| Ok(transaction.open_due_limits(true)?) }),
    audit: Some(audit::CHECKS),
    explain: Some(explain::explain),
    ..Hooks::NONE
};

/// Its figures for `/metrics`.
async fn figures(engine: &Engine, gauges: &Arc<Gauges>) -> Applied<Lines> {
    let page = LimitPage { limit: metrics::MAX_KEYS, ..LimitPage::default() };
    let (limits, _) = engine.query(ListLimits { key: None, page, at: engine.now() }).await?;
    let (metrics, gauges) = (Arc::clone(engine.metrics()), Arc::clone(gauges));
    Ok(Lines::new(move |encoder| metrics::write(encoder, &gauges.queues, &limits, metrics.exceeded.load(Ordering::Relaxed))))
}

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/rate-limits", routes::list).of_tenants(),
        Route::get("/rate-limits/{key}", routes::get).of_tenants(),
        Route::put("/rate-limits/{key}", routes::put),
    ]
}
