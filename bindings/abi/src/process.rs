//! The process that an object belongs to. A forked child inherits memory, but no threads: objects that need a thread do
//! not work there.
use crate::error::AbiError;

/// The process that made an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    pid: u32,
}

impl Owner {
    /// The running process.
    #[must_use]
    pub fn current() -> Self {
        Self { pid: std::process::id() }
    }

    /// False in a child that was forked after the object was made.
    #[must_use]
    pub fn is_current(self) -> bool {
        self.pid == std::process::id()
    }

    /// # Errors
    /// [`AbiError::forked`] in a forked child. Checked before any lock is taken: a lock may have been inherited locked.
    pub fn check(self, what: &'static str) -> Result<(), AbiError> {
        if self.is_current() { Ok(()) } else { Err(AbiError::forked(what, self.pid)) }
    }
}
