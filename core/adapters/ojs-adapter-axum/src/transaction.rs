//! Whose transactions jobs can belong to.
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;

use ojs::outbox::{Dialect, Staged};

use crate::AdapterError;

/// A transaction to write a job into: `&tokio_postgres::Transaction`, or `&mut mysql_async::Transaction`.
pub trait JobTransaction: sealed::Sealed + Send {
    /// What its database speaks.
    const DIALECT: Dialect;

    /// Which database this is, in the words of a server that keeps its jobs there; `None` where it cannot be one. The
    /// transaction stays usable after an error.
    #[doc(hidden)]
    fn identity(&mut self) -> impl Future<Output = Result<Option<String>, String>> + Send;

    /// Writes the row.
    #[doc(hidden)]
    fn write(&mut self, staged: &Staged) -> impl Future<Output = Result<(), AdapterError>> + Send;
}

/// A transaction to be committed: `tokio_postgres::Transaction`, or `mysql_async::Transaction`.
pub trait CommitTransaction: sealed::Sealed + Send {
    /// What its driver says when it cannot.
    type Error: std::error::Error;

    #[doc(hidden)]
    fn commit(self) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

mod sealed {
    pub trait Sealed {}
}
