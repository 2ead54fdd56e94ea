//! Relays of outboxes: what each of them says of itself, so that operators see which rows wait in databases that the
//! server does not reach (decision 114).
pub mod commands;
pub mod records;
pub(crate) mod routes;

use crate::features::feature::{Extension, Feature};
use crate::features::relays::records::RelayTables as _;
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature {
    tables: &[records::RelayRow::TABLE],
    hooks: HOOKS,
    routes: table,
    extensions: &[Extension::Own("x-relays", "urn:ojs:ext:x-relays")],
    ..Feature::NONE
};

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    prune: Some(|transaction, _| {
        let now = transaction.now.as_millis();
        transaction.tables.forget_relays(now)?;
        Ok(false)
    }),
    ..Hooks::NONE
};

/// Its routes.
fn table() -> Vec<Route> {
    vec![Route::post("/relays/beat", routes::beat).of_tenants(), Route::get("/admin/relays", routes::list).of_tenants()]
}
