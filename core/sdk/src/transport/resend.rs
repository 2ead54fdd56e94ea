//! Sending again what can be sent again without harm.
use std::time::Duration;

/// How often, and after which pauses, a request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResendPolicy {
    /// Sends in all; 1 turns resending off.
    pub max_sends: u32,
    /// Pause before the second send; doubles from there, with jitter.
    pub initial_pause: Duration,
    /// Longest pause. A `Retry-After` beyond it is not waited for: the answer goes to the caller.
    pub max_pause: Duration,
}

impl ResendPolicy {
    /// Every request is sent once.
    #[must_use]
    pub fn never() -> Self {
        Self { max_sends: 1, ..Self::default() }
    }
}

impl Default for ResendPolicy {
    /// Up to five times, from 100 ms (protocol section 4.7).
    fn default() -> Self {
        Self { max_sends: 5, initial_pause: Duration::from_millis(100), max_pause: Duration::from_secs(5) }
    }
}
