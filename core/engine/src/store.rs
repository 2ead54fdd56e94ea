//! The seam between the engine and whatever keeps jobs.
use futures_util::future::BoxFuture;
use ojs_model::OjsError;

use crate::command::{Command, Query, Reply};
use crate::tables::StoreError;

/// Keeps jobs. Grouping of commands into transactions is the store's own business (decision record 3).
pub trait Store: Send + Sync + 'static {
    /// Applies a command; answers after it is as durable as it asked to be.
    fn execute(&self, command: Command) -> BoxFuture<'_, Result<Reply, Refusal>>;
    /// Answers a query from a snapshot that holds every command confirmed before.
    fn query(&self, query: Query) -> BoxFuture<'_, Result<Reply, Refusal>>;
    /// Does now what time has made due: promotion, lease expiry, time-outs, pruning. Stores do it on their own as well; tests that
    /// move the clock do not want to wait for that.
    fn sweep(&self) -> BoxFuture<'_, Result<Reply, Refusal>>;
    /// Finishes what was accepted, then releases files. Later calls answer [`StoreError::Closed`].
    fn close(&self) -> BoxFuture<'_, ()>;
    /// `memory`, `sqlite`: for manifest and health.
    fn name(&self) -> &'static str;
}

/// Why a command was not carried out.
#[derive(Debug, Clone)]
pub enum Refusal {
    /// The rules forbid it.
    Ojs(Box<OjsError>),
    /// The store failed.
    Store(StoreError),
}

impl From<OjsError> for Refusal {
    fn from(error: OjsError) -> Self {
        Self::Ojs(Box::new(error))
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
