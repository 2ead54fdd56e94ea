//! Figures of bounds and of keys with limits: `ojs.backpressure.*` and `ojs.rate_limit.*` (extensions sections 4 and 5).
use std::collections::BTreeMap;
use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use crate::features::limits::records::LimitView;
use crate::metrics::figures::family;
use crate::store::rows::{Counts, QueueRow, depth};

/// Keys that are listed one by one. Each costs the store a few look-ups.
pub const MAX_KEYS: usize = 100;

/// How full bounded queues are, and the active and waiting jobs of the first keys. The partitions of a key are added
/// up: a label must not contain tenants.
pub(crate) fn write(
    encoder: &mut DescriptorEncoder<'_>,
    queues: &[(QueueRow, Counts)],
    limits: &[LimitView],
    exceeded: u64,
) -> fmt::Result {
    let bounded = queues.iter().filter_map(|(queue, counts)| {
        let bound = queue.settings.known()?.config.bound()?;
        Some(([("queue", &*queue.name)], depth(counts) as f64 / bound as f64))
    });
    let help = "Share of a queue's bound that is taken";
    family!(encoder, Gauge, "ojs_backpressure_pressure", help, bounded, |share, into| into.encode_gauge(&share));
    let mut keys: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for view in limits {
        let (active, waiting) = keys.entry(&view.row.key).or_default();
        *active += view.active;
        *waiting += view.waiting;
    }
    let active = keys.iter().map(|(key, (active, _))| ([("key", *key)], *active));
    family!(encoder, Gauge, "ojs_rate_limit_active", "Active jobs of a key", active, |jobs, into| into.encode_gauge(&jobs));
    let waiting = keys.iter().map(|(key, (_, waiting))| ([("key", *key)], *waiting));
    family!(encoder, Gauge, "ojs_rate_limit_waiting", "Available jobs of a key", waiting, |jobs, into| into.encode_gauge(&jobs));
    let help = "Times that a key was found full while jobs waited for it";
    let mut counter = encoder.encode_descriptor("ojs_rate_limit_exceeded", help, None, MetricType::Counter)?;
    counter.encode_counter::<NoLabelSet, _, u64>(&exceeded, None)
}
