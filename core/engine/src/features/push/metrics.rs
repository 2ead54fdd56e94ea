//! Figures of push delivery.
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use crate::metrics::figures::{Histogram, family, write};

/// Milliseconds of a delivery.
const MILLIS: &[f64] = &[1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 5_000.0, 30_000.0, 300_000.0];

/// What this process has sent since it started.
#[derive(Debug)]
pub(crate) struct PushFigures {
    deliveries: BTreeMap<&'static str, u64>,
    took: Histogram,
}

impl Default for PushFigures {
    fn default() -> Self {
        Self { deliveries: BTreeMap::new(), took: Histogram::new(MILLIS) }
    }
}

impl PushFigures {
    /// A delivery has ended.
    pub(crate) fn add(&mut self, outcome: &'static str, took: Duration) {
        *self.deliveries.entry(outcome).or_default() += 1;
        self.took.add(took.as_secs_f64() * 1000.0);
    }

    /// Writes the figures.
    pub(crate) fn write(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let deliveries = self.deliveries.iter().map(|(outcome, count)| ([("outcome", *outcome)], *count));
        let help = "Jobs sent to push endpoints, by what came of it";
        family!(encoder, Counter, "ojs_push_delivery_count", help, deliveries, |count, into| {
            into.encode_counter::<NoLabelSet, _, u64>(&count, None)
        });
        let help = "Time of deliveries to push endpoints, milliseconds";
        let mut took = encoder.encode_descriptor("ojs_push_delivery_duration_ms", help, None, MetricType::Histogram)?;
        write(&mut took, &self.took)
    }
}
