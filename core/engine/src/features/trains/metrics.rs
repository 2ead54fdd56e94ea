//! Figures of trains: `ojs.train.*` (extensions section 30.4). No label names a train: their number is not bounded.
use std::fmt;

use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;

use crate::metrics::figures::{Histogram, write as histogram};

/// Writes how many trains run and are held, how many jobs they have, and how long jobs waited for their turn.
pub(crate) fn write(encoder: &mut DescriptorEncoder<'_>, counts: [usize; 3], waited: &Histogram) -> fmt::Result {
    let [trains, held, cars] = counts;
    let gauges = [
        ("ojs_train_active", "Trains that are not held", trains.saturating_sub(held)),
        ("ojs_train_held", "Trains that are held", held),
        ("ojs_train_cars", "Jobs that have a place in a train, those that run included", cars),
    ];
    for (name, help, count) in gauges {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&count)?;
    }
    let help = "Time from the enqueue of a job to its turn in its train";
    let name = "ojs_train_wait_duration_seconds";
    histogram(&mut encoder.encode_descriptor(name, help, None, MetricType::Histogram)?, waited)
}
