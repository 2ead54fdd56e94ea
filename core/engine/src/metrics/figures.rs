//! Histograms, and how families of figures are written.
use std::collections::BTreeMap;
use std::fmt;

use prometheus_client::encoding::NoLabelSet;

/// Seconds of a request or a commit.
pub(crate) const REQUEST: &[f64] =
    &[0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 30.0];

#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    pub(crate) bounds: &'static [f64],
    pub(crate) sum: f64,
    pub(crate) counts: Vec<u64>,
    /// The latest value with a trace, of each bucket.
    exemplars: BTreeMap<usize, (f64, String)>,
}

impl Histogram {
    pub(crate) fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, sum: 0.0, counts: vec![0; bounds.len() + 1], exemplars: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, value: f64) {
        self.sum += value;
        if let Some(cell) = self.counts.get_mut(self.bounds.partition_point(|bound| *bound < value)) {
            *cell += 1;
        }
    }

    /// Adds a value that belongs to a trace.
    pub(crate) fn add_traced(&mut self, value: f64, trace: Option<String>) {
        self.add(value);
        // The labels of an exemplar have at most 128 characters.
        if let Some(trace) = trace.filter(|trace| trace.len() <= 100) {
            self.exemplars.insert(self.bounds.partition_point(|bound| *bound < value), (value, trace));
        }
    }

    pub(crate) fn add_millis(&mut self, all: &[i64]) {
        all.iter().for_each(|ms| self.add(*ms as f64 / 1000.0));
    }

    /// Adds another one with the same bounds.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        self.counts.iter_mut().zip(&other.counts).for_each(|(cell, count)| *cell += count);
    }

    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The exemplar of each bucket that has one, by its upper bound as it is printed: `{trace_id="…"} 0.003`.
    pub(crate) fn exemplars(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.exemplars.iter().map(|(bucket, (value, trace))| {
            let bound = self.bounds.get(*bucket).map_or_else(|| "+Inf".to_owned(), |bound| format!("{bound:?}"));
            (bound, format!("{{trace_id=\"{trace}\"}} {value}"))
        })
    }

    /// In the form of the encoder: each bucket for itself, the last without an upper bound.
    pub(crate) fn buckets(&self) -> Vec<(f64, u64)> {
        self.bounds.iter().copied().chain([f64::MAX]).zip(self.counts.iter().copied()).collect()
    }
}

/// Writes a family: name, help, kind, and a line or several per member.
macro_rules! family {
    ($encoder:expr, $kind:ident, $name:expr, $help:expr, $members:expr, |$value:ident, $into:ident| $write:expr) => {{
        let mut family = $encoder.encode_descriptor($name, $help, None, MetricType::$kind)?;
        for (labels, $value) in $members {
            let mut $into = family.encode_family(&labels)?;
            $write?;
        }
    }};
}
pub(crate) use family;

pub(crate) fn write(into: &mut prometheus_client::encoding::MetricEncoder<'_>, histogram: &Histogram) -> fmt::Result {
    into.encode_histogram::<NoLabelSet>(histogram.sum, histogram.total(), &histogram.buckets(), None)
}
