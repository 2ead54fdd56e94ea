//! Sessions: a page in a browser shows its key once and gets a cookie, because an `EventSource`, a WebSocket and a
//! link cannot send a key.
pub mod commands;
pub mod cookie;
pub mod records;
pub(crate) mod routes;
pub mod watch;

use crate::features::sessions::records::SessionTables as _;
use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    prune: Some(|transaction, _| {
        let now = transaction.now.as_millis();
        transaction.tables.forget_sessions(now)?;
        Ok(false)
    }),
    ..Feature::NONE
};
