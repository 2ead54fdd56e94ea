//! Pauses after faults: doubling, with jitter so that many workers do not come back at once.
use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    next: Duration,
    first: Duration,
    max: Duration,
}

impl Backoff {
    /// For fetching: up to 30 s (protocol section 5.5).
    pub fn claims() -> Self {
        Self::new(Duration::from_millis(100), Duration::from_secs(30))
    }

    /// For outcomes: shorter, since a lease is running out.
    pub fn reports() -> Self {
        Self::new(Duration::from_millis(100), Duration::from_secs(5))
    }

    pub fn new(first: Duration, max: Duration) -> Self {
        Self { next: first, first, max }
    }

    /// The next pause: between half and all of the step.
    pub fn next(&mut self) -> Duration {
        let step = self.next;
        self.next = (step * 2).min(self.max);
        jittered(step)
    }

    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

/// Between half and all of a step.
pub(crate) fn jittered(step: Duration) -> Duration {
    step.mul_f64(0.5 + rand::random::<f64>() / 2.0)
}
