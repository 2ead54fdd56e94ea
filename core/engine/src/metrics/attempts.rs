//! Figures of requests that the engine sends: how many, by their outcome, and how long they took.
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::figures::{Histogram, family, write};

/// What one feature has sent since this process started.
#[derive(Debug)]
pub(crate) struct Attempts {
    counts: BTreeMap<&'static str, u64>,
    took: Histogram,
}

impl Attempts {
    /// `bounds` of the histogram are milliseconds.
    pub(crate) fn new(bounds: &'static [f64]) -> Self {
        Self { counts: BTreeMap::new(), took: Histogram::new(bounds) }
    }

    /// An attempt has ended.
    pub(crate) fn add(&mut self, outcome: &'static str, took: Duration) {
        *self.counts.entry(outcome).or_default() += 1;
        self.took.add(took.as_secs_f64() * 1000.0);
    }

    /// How many have ended so.
    pub(crate) fn count(&self, outcome: &str) -> u64 {
        self.counts.get(outcome).copied().unwrap_or_default()
    }

    /// Writes the counts, each with its outcome as the label.
    pub(crate) fn write_counts(&self, encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str) -> fmt::Result {
        let counts = self.counts.iter().map(|(outcome, count)| ([("outcome", *outcome)], *count));
        family!(encoder, Counter, name, help, counts, |count, into| { into.encode_counter::<NoLabelSet, _, u64>(&count, None) });
        Ok(())
    }

    /// Writes how long they took.
    pub(crate) fn write_durations(&self, encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str) -> fmt::Result {
        write(&mut encoder.encode_descriptor(name, help, None, MetricType::Histogram)?, &self.took)
    }
}
