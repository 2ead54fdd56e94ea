//! Pauses after faults: doubling, with jitter so that many workers do not come back at once.
use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    first: Duration,
    max: Duration,
    /// Since the last success.
    faults: u32,
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
        Self { first, max, faults: 0 }
    }

    /// The next pause: between half and all of the step.
    pub fn next(&mut self) -> Duration {
        let pause = pause(self.first, self.max, self.faults);
        self.faults = self.faults.saturating_add(1);
        pause
    }

    pub fn reset(&mut self) {
        self.faults = 0;
    }
}

/// The pause after so many faults and another one: between half and all of the step.
pub(crate) fn pause(first: Duration, max: Duration, faults: u32) -> Duration {
    let step = first.saturating_mul(2_u32.saturating_pow(faults)).min(max);
    step.mul_f64(0.5 + rand::random::<f64>() / 2.0)
}
