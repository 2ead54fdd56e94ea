//! Figures of requests about many jobs: `ojs.bulk.*` (bulk operations, section 12.2).
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use crate::metrics::figures::{Histogram, REQUEST, family, write};

/// Jobs of one request, up to the limit of a batch and to what a filter may find.
const SIZES: &[f64] = &[1.0, 10.0, 50.0, 100.0, 500.0, 1_000.0, 5_000.0, 10_000.0, 100_000.0, 1_000_000.0];

/// One request.
#[derive(Debug)]
pub struct Bulk {
    /// `enqueue`, `cancel`, `retry`, `delete`, `purge`.
    pub operation: &'static str,
    /// All or none.
    pub atomic: bool,
    /// Jobs that it named or found.
    pub size: usize,
    /// How many came out how. None where an earlier answer was given again.
    pub items: Vec<(&'static str, usize)>,
    /// From its arrival to its answer.
    pub took: Duration,
}

/// Operation, and atomicity or what became of an item.
type Labels = (&'static str, &'static str);

/// All requests.
#[derive(Debug, Default)]
pub(crate) struct BulkFigures {
    requests: BTreeMap<Labels, Histogram>,
    items: BTreeMap<Labels, u64>,
    sizes: BTreeMap<&'static str, Histogram>,
}

impl BulkFigures {
    pub fn add(&mut self, bulk: &Bulk) {
        let atomicity = if bulk.atomic { "atomic" } else { "partial" };
        let times = self.requests.entry((bulk.operation, atomicity)).or_insert_with(|| Histogram::new(REQUEST));
        times.add(bulk.took.as_secs_f64());
        for (status, count) in &bulk.items {
            *self.items.entry((bulk.operation, status)).or_default() += *count as u64;
        }
        if !bulk.items.is_empty() {
            self.sizes.entry(bulk.operation).or_insert_with(|| Histogram::new(SIZES)).add(bulk.size as f64);
        }
    }

    pub fn write(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let named = |(operation, atomicity): &Labels| [("operation", *operation), ("atomicity", *atomicity)];
        let requests = self.requests.iter().map(|(labels, times)| (named(labels), times.total()));
        family!(encoder, Counter, "ojs_bulk_requests", "Requests about many jobs", requests, |count, into| {
            into.encode_counter::<NoLabelSet, _, u64>(&count, None)
        });
        let items =
            self.items.iter().map(|((operation, status), count)| ([("operation", *operation), ("status", *status)], *count));
        family!(encoder, Counter, "ojs_bulk_items", "Jobs of these requests, by what became of them", items, |count, into| {
            into.encode_counter::<NoLabelSet, _, u64>(&count, None)
        });
        let times = self.requests.iter().map(|(labels, times)| (named(labels), times));
        let help = "Time to carry out a request about many jobs";
        family!(encoder, Histogram, "ojs_bulk_duration_seconds", help, times, |h, into| write(&mut into, h));
        let sizes = self.sizes.iter().map(|(operation, sizes)| ([("operation", *operation)], sizes));
        let help = "Jobs that a request named or found";
        family!(encoder, Histogram, "ojs_bulk_batch_size", help, sizes, |h, into| write(&mut into, h));
        Ok(())
    }
}
