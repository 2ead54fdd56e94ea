//! What the tests of this directory share: the real server as a process, and a client that can say anything.
//!
//! This crate is test code throughout: it unwraps, because a failed unwrap here is a failed test.
#![forbid(unsafe_code)]

#[cfg(doctest)]
pub mod pages;
mod server;
mod wire;

/// What chance decides: one version of it for all tests.
pub use rand;
pub use server::{Environment, ServerProcess, binary};
pub use wire::{Answer, Wire};

use std::time::Duration;

/// How long anything may take that ought to happen soon. Generous: it only ends a test that has failed already.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A new job id, as clients make them.
#[must_use]
pub fn job_id() -> String {
    ojs_model::JobId::now_v7().to_string()
}

/// Waits until a condition holds and returns what it found; fails the test after [`PATIENCE`].
pub async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut condition: impl FnMut() -> F) -> T {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        if let Some(found) = condition().await {
            return found;
        }
        assert!(tokio::time::Instant::now() < deadline, "waited {PATIENCE:?} in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
