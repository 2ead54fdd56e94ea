//! What is asked of relays.
use super::records::{RelayRow, RelayTables as _};
use crate::error::Applied;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::store::tables::Tables;

/// The tenant of the caller; empty for none.
fn tenant_of(tables: &mut dyn Tables) -> String {
    tables.names().scope.id().map(|id| id.to_string()).unwrap_or_default()
}

/// Note what a relay says of itself. The tenant is that of the caller.
#[derive(Debug, Clone)]
pub struct BeatRelay(pub RelayRow);

impl Command for BeatRelay {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        let mut row = RelayRow { tenant: tenant_of(transaction.tables), ..self.0.clone() };
        let before = transaction.tables.relay(&row.tenant, &row.id)?;
        if let Some(before) = &before {
            row.follow(before);
        }
        Ok(transaction.tables.put_relay(&row, before.is_none())?)
    }

    /// The next one comes within seconds.
    fn is_durable(&self) -> bool {
        false
    }
}

/// Forget the relay of an id, if the caller has one.
#[derive(Debug, Clone)]
pub struct DropRelay(pub String);

impl Command for DropRelay {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        let tenant = tenant_of(transaction.tables);
        Ok(transaction.tables.delete_relay(&tenant, &self.0)?)
    }

    /// What a power cut brings back is forgotten some minutes later.
    fn is_durable(&self) -> bool {
        false
    }
}

/// The relays that the caller sees and that were heard of after a time, milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct ListRelays {
    /// The time.
    pub since: i64,
}

impl Query for ListRelays {
    type Reply = Vec<RelayRow>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let tenant = tables.names().scope.id().cloned();
        Ok(tables.relays(tenant.as_deref(), self.since)?)
    }

    fn is_search(&self) -> bool {
        true
    }
}
