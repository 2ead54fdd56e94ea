//! How many jobs may start in a time.

/// So many in so long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Starts; may be a fraction for `max_per_second`.
    pub limit: f64,
    /// Milliseconds.
    pub period_ms: u64,
}

impl Rate {
    /// Starts per second.
    #[must_use]
    pub fn per_second(self) -> f64 {
        self.limit * 1000.0 / self.period_ms as f64
    }
}
