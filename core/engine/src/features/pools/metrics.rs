//! Figures of pools: `ojs.scheduling.*` (extensions section 22).
use std::collections::HashMap;
use std::fmt;

use ojs_model::JobState;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use crate::features::admin::records::Gauges;
use crate::features::pools::records::{Pool, PoolQueue};
use crate::metrics::figures::{Histogram, family, write as write_histogram};

/// What this process has handed out of each queue of a pool since it started, given the waiting times of started jobs
/// by name of the queue; and how full pools with a limit are.
pub(crate) fn write(
    encoder: &mut DescriptorEncoder<'_>,
    gauges: &Gauges,
    waits: &HashMap<String, Histogram>,
    starved: u64,
) -> fmt::Result {
    let started = |entry: &PoolQueue| waits.get(&entry.queue).map_or(0, Histogram::total);
    let all = |pool: &Pool| pool.queues.iter().map(started).sum::<u64>();
    let entries = || gauges.pools.iter().flat_map(|pool| pool.queues.iter().map(move |entry| (pool, entry)));
    fn labels(entry: &PoolQueue) -> [(&'static str, &str); 2] {
        [("pool", &entry.pool), ("queue", &entry.queue)]
    }
    let dispatched = entries().map(|(_, entry)| (labels(entry), started(entry)));
    let help = "Jobs of a queue of a pool that were handed out";
    family!(encoder, Counter, "ojs_scheduling_dispatch", help, dispatched, |jobs, into| {
        into.encode_counter::<NoLabelSet, _, u64>(&jobs, None)
    });
    let ratios = entries().map(|(pool, entry)| (labels(entry), started(entry) as f64 / all(pool).max(1) as f64));
    let help = "Share of a queue in what its pool has handed out";
    family!(encoder, Gauge, "ojs_scheduling_dispatch_ratio", help, ratios, |share, into| into.encode_gauge(&share));
    let waited = entries().filter_map(|(_, entry)| Some((labels(entry), waits.get(&entry.queue)?)));
    let help = "Time from available to started, of jobs of a queue of a pool";
    family!(encoder, Histogram, "ojs_scheduling_queue_wait_duration_seconds", help, waited, |h, into| {
        write_histogram(&mut into, h)
    });
    let full = gauges
        .pools
        .iter()
        .filter(|pool| pool.row.concurrency > 0)
        .map(|pool| ([("pool", pool.row.name.as_str())], active(gauges, pool) as f64 / pool.row.concurrency as f64));
    let help = "Active jobs of a pool over its limit";
    family!(encoder, Gauge, "ojs_scheduling_pool_utilization", help, full, |share, into| into.encode_gauge(&share));
    let help = "Times that only the guaranteed share of a pool served a queue";
    let mut counter = encoder.encode_descriptor("ojs_scheduling_starvation_events", help, None, MetricType::Counter)?;
    counter.encode_counter::<NoLabelSet, _, u64>(&starved, None)
}

/// Active jobs of the queues of a pool.
fn active(gauges: &Gauges, pool: &Pool) -> i64 {
    let of = |name: &str| gauges.queues.iter().find(|(queue, _)| &*queue.name == name);
    let counts = pool.queues.iter().filter_map(|entry| of(&entry.queue));
    counts.filter_map(|(_, counts)| counts.get(JobState::Active as usize)).sum()
}
