//! How long ended jobs, dead letters and events are kept.
use std::time::Duration;

/// How long terminal jobs are kept before they are pruned.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    /// Completed and cancelled jobs: 7 days.
    pub finished: Duration,
    /// Discarded jobs that are no dead letters: 30 days.
    pub discarded: Duration,
    /// Dead letters: 180 days.
    pub dead_letters: Duration,
    /// Most dead letters kept; the oldest go first.
    pub max_dead_letters: u64,
    /// Events: 7 days.
    pub events: Duration,
    /// Most events kept.
    pub max_events: u64,
}

impl Default for Retention {
    /// The periods of protocol sections 1.5, 8.7, 8.9, 8.12.
    fn default() -> Self {
        let days = |n: u64| Duration::from_secs(n * 86_400);
        Self {
            finished: days(7),
            discarded: days(30),
            dead_letters: days(180),
            max_dead_letters: 10_000,
            events: days(7),
            max_events: 1_000_000,
        }
    }
}
