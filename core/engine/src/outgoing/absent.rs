//! In place of the client, in a build without the feature `outgoing`.
use std::time::Duration;

use super::answer::{Answer, Fault, Post};
use super::guard::Guard;
use super::options::OutgoingOptions;

/// Sends nothing.
#[derive(Debug)]
pub struct Outgoing {
    guard: Guard,
    timeout: Duration,
}

impl Outgoing {
    /// Whether this build can send requests.
    pub const IS_PRESENT: bool = false;

    /// Whether this build can sign requests to services of Amazon.
    pub const HAS_AWS: bool = false;

    /// The region of services of Amazon whose address does not name one.
    #[must_use]
    pub fn aws_region(&self) -> Option<&str> {
        None
    }

    /// See the client.
    #[must_use]
    pub fn new(options: OutgoingOptions, test_mode: bool) -> Self {
        let guard = Guard::new(options.allow, options.allow_insecure || test_mode);
        Self { guard, timeout: options.timeout }
    }

    /// Decides where requests may go.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The most that a request and its answer may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Sends nothing.
    ///
    /// # Errors
    /// Always.
    pub async fn post(&self, _post: Post) -> Result<Answer, Fault> {
        std::future::ready(Err(Fault::Unreachable("this build sends no requests to other machines".to_owned()))).await
    }
}
