//! Figures of push delivery.
use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::DescriptorEncoder;

use crate::metrics::attempts::Attempts;

/// Milliseconds of a delivery.
const MILLIS: &[f64] = &[1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 5_000.0, 30_000.0, 300_000.0];

/// What this process has sent since it started.
#[derive(Debug)]
pub(crate) struct PushFigures(Attempts);

impl Default for PushFigures {
    fn default() -> Self {
        Self(Attempts::new(MILLIS))
    }
}

impl PushFigures {
    /// A delivery has ended.
    pub(crate) fn add(&mut self, outcome: &'static str, took: Duration) {
        self.0.add(outcome, took);
    }

    /// Writes the figures.
    pub(crate) fn write(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        self.0.write_counts(encoder, "ojs_push_delivery_count", "Jobs sent to push endpoints, by what came of it")?;
        self.0.write_durations(encoder, "ojs_push_delivery_duration_ms", "Time of deliveries to push endpoints, milliseconds")
    }
}
