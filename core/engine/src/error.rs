//! Errors and results that every part of the engine shares. This module imports no other module of the engine.
use ojs_model::OjsError;

/// A fault of the store itself, as opposed to a refusal of a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The store cannot take writes now: disk full, locked by another process for too long.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The store was lost while it committed: whether anything was done is not known, so only the caller may try again.
    #[error("the store was lost during the commit: {0}")]
    Unknown(String),
    /// The store answered with an error.
    #[error("the store failed: {0}")]
    Failed(String),
    /// A text that the store cannot keep: PostgreSQL takes no U+0000 in names. The fault of the caller.
    #[error("the store cannot keep this text: {0}")]
    Unstorable(String),
    /// Another writer changed the same rows: nothing was done, and the same again may succeed.
    #[error("another writer was faster: {0}")]
    Conflict(String),
    /// The engine is closing or closed.
    #[error("the engine is closed")]
    Closed,
}

/// Result of a store operation.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Why a command was not carried out.
#[derive(Debug, Clone)]
pub enum Refusal {
    /// The rules forbid it.
    Ojs(Box<OjsError>),
    /// A queue is full and lets its producers wait: the same again succeeds when there is room.
    Blocked(Box<Blocked>),
    /// The store failed.
    Store(StoreError),
}

/// The queue that has no room, and the answer for a producer that does not wait.
#[derive(Debug, Clone)]
pub struct Blocked {
    /// Name of the queue.
    pub queue: String,
    /// What the producer is told in the end.
    pub error: OjsError,
}

impl Refusal {
    /// What the caller is told.
    ///
    /// # Errors
    /// The fault, when it was the store that failed.
    pub fn into_error(self) -> Result<OjsError> {
        match self {
            Self::Ojs(error) => Ok(*error),
            Self::Blocked(blocked) => Ok(blocked.error),
            Self::Store(fault) => Err(fault),
        }
    }
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

/// A result that distinguishes refusals from store faults.
pub type Applied<T> = std::result::Result<T, Refusal>;
