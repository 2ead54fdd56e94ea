//! What is asked of sessions.
use crate::error::Applied;
use crate::features::sessions::records::{SessionRow, SessionTables as _};
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::kernel::wake::Signal;
use crate::store::tables::Tables;

/// Store a session.
#[derive(Debug, Clone)]
pub struct BeginSession(pub SessionRow);

impl Command for BeginSession {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        for id in transaction.tables.begin_session(&self.0)? {
            transaction.signals.push(Signal::Session(id));
        }
        Ok(())
    }
}

/// End the session of an id, if there is one.
#[derive(Debug, Clone)]
pub struct EndSession(pub String);

impl Command for EndSession {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        transaction.tables.end_session(&self.0)?;
        transaction.signals.push(Signal::Session(self.0.clone()));
        Ok(())
    }
}

/// The session of an id, ended or not.
#[derive(Debug, Clone)]
pub struct GetSession(pub String);

impl Query for GetSession {
    type Reply = Option<SessionRow>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        Ok(tables.session(&self.0)?)
    }
}
