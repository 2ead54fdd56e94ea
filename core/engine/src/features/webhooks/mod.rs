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

use std::sync::Arc;

use crate::engine::Engine;
use crate::error::Applied;
use crate::features::feature::{Extension, Feature};
use crate::features::webhooks::commands::ListSubscriptions;
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::metrics::{Lines, lock};
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::DeliveryRow::TABLE, records::DropRow::TABLE, records::SubscriptionRow::TABLE],
    hooks: HOOKS,
    routes: table,
    extensions: &[Extension::Official("webhooks")],
    figures: Some(|engine, _| Box::pin(figures(engine))),
    ..Feature::NONE
};

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    before_commit: Some(|transaction| transaction.note_deliveries()),
    on_written: Some(|transaction| {
        transaction.counters.handed_over.deltas = std::mem::take(&mut transaction.features.webhooks);
        Ok(())
    }),
    reset: Some(|transaction| transaction.counters.kept.backlog.clear()),
    prune: Some(|transaction, _| transaction.prune_deliveries()),
    audit: Some(audit::CHECKS),
    ..Hooks::NONE
};

/// Its figures for `/metrics`.
async fn figures(engine: &Engine) -> Applied<Lines> {
    let subscriptions = engine.query(ListSubscriptions).await?.len();
    let (metrics, dropped) = (Arc::clone(engine.metrics()), engine.backlog().dropped());
    Ok(Lines::new(move |encoder| lock(&metrics.webhooks).write(encoder, subscriptions, dropped)))
}

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/webhooks/subscriptions", routes::list).of_tenants(),
        Route::post("/webhooks/subscriptions", routes::create).of_tenants(),
        Route::get("/webhooks/subscriptions/{id}", routes::get).of_tenants(),
        Route::patch("/webhooks/subscriptions/{id}", routes::change).of_tenants(),
        Route::delete("/webhooks/subscriptions/{id}", routes::delete).of_tenants(),
        Route::post("/webhooks/subscriptions/{id}/test", routes::test).of_tenants(),
        Route::post("/webhooks/subscriptions/{id}/rotate-secret", routes::rotate).of_tenants(),
        Route::get("/webhooks/deliveries", routes::deliveries).of_tenants(),
        Route::get("/webhooks/deliveries/{id}", routes::delivery).of_tenants(),
        Route::post("/webhooks/deliveries/{id}/retry", routes::retry).of_tenants(),
    ]
}
