//! Sessions: a page in a browser shows its key once and gets a cookie, because an `EventSource`, a WebSocket and a
//! link cannot send a key.
pub mod commands;
pub mod cookie;
pub mod records;
pub(crate) mod routes;
pub mod watch;

use crate::features::feature::Feature;
use crate::features::sessions::records::SessionTables as _;
use crate::http::route::Route;
use crate::kernel::hooks::Hooks;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature =
    Feature { tables: &[records::SessionRow::TABLE], hooks: HOOKS, routes: table, ..Feature::NONE };

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    prune: Some(|transaction, _| {
        let now = transaction.now.as_millis();
        transaction.tables.forget_sessions(now)?;
        Ok(false)
    }),
    ..Hooks::NONE
};

/// Its routes.
fn table() -> Vec<Route> {
    vec![
        Route::get("/session", routes::get).of_tenants(),
        Route::post("/session", routes::begin).of_tenants(),
        Route::delete("/session", routes::end).of_tenants(),
    ]
}
