//! Relays of outboxes: what each of them says of itself, so that operators see which rows wait in databases that the
//! server does not reach (decision 114).
pub mod commands;
pub mod records;
pub(crate) mod routes;

use crate::features::relays::records::RelayTables as _;
use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    prune: Some(|transaction, _| {
        let now = transaction.now.as_millis();
        transaction.tables.forget_relays(now)?;
        Ok(false)
    }),
    ..Feature::NONE
};
