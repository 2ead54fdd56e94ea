//! One answer to `GET /metrics`: what was counted, and what the store has at that moment.
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ojs_model::JobState;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use crate::features::admin::records::Gauges;
use crate::metrics::figures::{family, write};
use crate::metrics::{MAX_QUEUES, Metrics, OTHER, OTHER_NUM, Series, lock};
use crate::store::rows::{Counts, QueueRow};

/// Keeps the queues with the most jobs that wait or run, by name; what the others hold is shown as one queue.
pub(crate) fn fold_queues(gauges: &mut Gauges) {
    if gauges.queues.len() <= MAX_QUEUES {
        return;
    }
    let open = |counts: &Counts| {
        JobState::ALL.into_iter().zip(counts).filter(|(state, _)| !state.is_terminal()).map(|(_, jobs)| jobs).sum::<i64>()
    };
    gauges.queues.sort_by(|(a, left), (b, right)| open(right).cmp(&open(left)).then_with(|| a.name.cmp(&b.name)));
    let rest = gauges.queues.split_off(MAX_QUEUES);
    gauges.queues.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    let kept: std::collections::HashSet<i64> = gauges.queues.iter().map(|(queue, _)| queue.num).collect();
    let mut sum = Counts::default();
    for (_, counts) in &rest {
        sum.iter_mut().zip(counts).for_each(|(cell, jobs)| *cell += jobs);
    }
    gauges.queues.push((QueueRow::fresh(OTHER_NUM, OTHER, 0), sum));
    // A worker may hold jobs of several queues: the sum is of pairs, as the lines of the others are.
    let (known, others): (Vec<_>, Vec<_>) = std::mem::take(&mut gauges.busy).into_iter().partition(|(num, _)| kept.contains(num));
    gauges.busy = known;
    let others = others.into_iter().map(|(_, workers)| workers).sum::<i64>();
    if others > 0 {
        gauges.busy.push((OTHER_NUM, others));
    }
}

/// Writes the figures of one feature.
pub(crate) struct Lines(Box<dyn Fn(&mut DescriptorEncoder<'_>) -> fmt::Result + Send + Sync>);

impl Lines {
    pub(crate) fn new(write: impl Fn(&mut DescriptorEncoder<'_>) -> fmt::Result + Send + Sync + 'static) -> Self {
        Self(Box::new(write))
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}

/// One look at everything.
#[derive(Debug)]
pub(crate) struct Scrape {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) gauges: Arc<Gauges>,
    /// Event streams that are open on this node.
    pub(crate) streams: usize,
    /// Figures of features.
    pub(crate) lines: Vec<Lines>,
}

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.jobs(&mut encoder)?;
        self.gauges(&mut encoder)?;
        self.store(&mut encoder)?;
        self.requests(&mut encoder)?;
        super::process::write(&mut encoder)?;
        self.lines.iter().try_for_each(|Lines(write)| write(&mut encoder))
    }
}

impl Scrape {
    pub(crate) fn jobs(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        type Count = fn(&Series) -> u64;
        const COUNTERS: &[(&str, &str, Count)] = &[
            ("ojs_job_enqueued", "Jobs accepted", |s| s.counts.enqueued),
            ("ojs_job_completed", "Jobs completed", |s| s.completed.total()),
            ("ojs_job_failed", "Jobs that failed for good", |s| s.counts.discarded),
            ("ojs_job_retried", "Failed attempts that are followed by another", |s| s.counts.retried),
            ("ojs_job_cancelled", "Jobs cancelled", |s| s.counts.cancelled),
            ("ojs_job_expired", "Jobs that were not started in time", |s| s.counts.expired),
            ("ojs_dead_letter_added", "Jobs that became dead letters", |s| s.counts.dead),
            ("ojs_dead_letter_retried", "Dead letters that were run again", |s| s.counts.dead_retried),
            ("ojs_dead_letter_pruned", "Dead letters whose time was over", |s| s.counts.dead_pruned),
            ("ojs_backpressure_rejected", "Enqueues refused by a full queue", |s| s.counts.refused),
            ("ojs_backpressure_dropped", "Jobs that made room in a full queue", |s| s.counts.dropped),
        ];
        let jobs = lock(&self.metrics.jobs);
        for (name, help, count) in COUNTERS {
            let members = jobs.iter().map(|((queue, kind), series)| ([("queue", &**queue), ("type", &**kind)], count(series)));
            family!(encoder, Counter, name, help, members, |value, into| into.encode_counter::<NoLabelSet, _, u64>(&value, None));
        }
        let ended = jobs.iter().flat_map(|((queue, kind), series)| {
            let states = [("completed", &series.completed), ("retryable", &series.retried), ("discarded", &series.discarded)];
            let labels = move |state| [("queue", &**queue), ("type", &**kind), ("state", state)];
            states.into_iter().filter(|(_, h)| h.total() > 0).map(move |(state, h)| (labels(state), h))
        });
        let help = "Run time of attempts, by the state that followed";
        family!(encoder, Histogram, "ojs_job_duration_seconds", help, ended, |h, into| write(&mut into, h));
        let waited = jobs.iter().map(|((queue, kind), series)| ([("queue", &**queue), ("type", &**kind)], &series.waited));
        let help = "Time from available to started";
        family!(encoder, Histogram, "ojs_job_queue_time_seconds", help, waited, |h, into| write(&mut into, h));
        let limited = jobs.iter().filter(|(_, series)| series.limited.total() > 0);
        let limited = limited.map(|((queue, kind), series)| ([("queue", &**queue), ("type", &**kind)], &series.limited));
        let help = "Time from available to started, of jobs whose key has limits";
        family!(encoder, Histogram, "ojs_rate_limit_wait_duration_seconds", help, limited, |h, into| write(&mut into, h));
        let enqueues = lock(&self.metrics.enqueues);
        let enqueues = enqueues.iter().map(|(queue, times)| ([("queue", &**queue)], times));
        let help = "Time to accept jobs, waiting for room included";
        family!(encoder, Histogram, "ojs_job_enqueue_duration_seconds", help, enqueues, |h, into| write(&mut into, h));
        Ok(())
    }

    pub(crate) fn gauges(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let gauges = &self.gauges;
        let depths = gauges.queues.iter().flat_map(|(queue, counts)| {
            let cells = JobState::ALL.into_iter().zip(counts);
            cells.map(|(state, jobs)| ([("queue", &*queue.name), ("state", state.as_str())], *jobs))
        });
        family!(encoder, Gauge, "ojs_queue_depth", "Jobs by queue and state", depths, |jobs, into| into.encode_gauge(&jobs));
        let paused = gauges
            .queues
            .iter()
            .filter(|(queue, _)| queue.num != OTHER_NUM)
            .map(|(queue, _)| ([("queue", &*queue.name)], i64::from(queue.paused)));
        family!(encoder, Gauge, "ojs_queue_paused", "1 while a queue is paused", paused, |on, into| into.encode_gauge(&on));
        let names: HashMap<i64, &str> = gauges.queues.iter().map(|(queue, _)| (queue.num, &*queue.name)).collect();
        let busy = gauges.busy.iter().filter_map(|(num, workers)| Some(([("queue", *names.get(num)?)], *workers)));
        let help = "Workers that hold jobs of a queue";
        family!(encoder, Gauge, "ojs_workers_busy", help, busy, |workers, into| into.encode_gauge(&workers));
        let lag = self.metrics.sweep_lag_micros.load(Ordering::Relaxed) as f64 / 1e6;
        let plain = [
            ("ojs_workers_active", "Workers that are known and not stale", gauges.workers.saturating_sub(gauges.stale) as f64),
            ("ojs_workers_stale", "Workers whose heartbeats have stopped", gauges.stale as f64),
            ("ojs_dead_letter_total", "Dead letters", gauges.dead as f64),
            ("ojs_event_streams", "Event streams that are open on this node", self.streams as f64),
            ("ojs_sweeper_lag_seconds", "How late time-driven work was done last", lag),
        ];
        for (name, help, value) in plain {
            encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)?;
        }
        Ok(())
    }

    pub(crate) fn store(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let store = lock(&self.metrics.store);
        for (name, help, histogram) in [
            ("ojs_store_commit_seconds", "Time of a transaction with all its commands", &store.commits),
            ("ojs_store_group_size", "Commands per transaction", &store.groups),
        ] {
            write(&mut encoder.encode_descriptor(name, help, None, MetricType::Histogram)?, histogram)?;
        }
        let mut errors = encoder.encode_descriptor("ojs_store_errors", "Faults of the store", None, MetricType::Counter)?;
        errors.encode_counter::<NoLabelSet, _, u64>(&store.errors, None)?;
        let help = "Panics that the threads of the store have met: bugs, to be reported";
        let mut panics = encoder.encode_descriptor("ojs_store_panics", help, None, MetricType::Counter)?;
        panics.encode_counter::<NoLabelSet, _, u64>(&store.panics, None)
    }

    pub(crate) fn requests(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let requests = lock(&self.metrics.requests);
        let mut routes: Vec<_> = requests.iter().collect();
        routes.sort_by_key(|(route, _)| *route);
        let counts = routes.iter().flat_map(|(route, figures)| {
            figures.counts.iter().map(move |((method, status), count)| {
                (vec![("method", (*method).to_owned()), ("route", (*route).clone()), ("status", status.to_string())], *count)
            })
        });
        family!(encoder, Counter, "ojs_http_requests", "Requests answered", counts, |count, into| {
            into.encode_counter::<NoLabelSet, _, u64>(&count, None)
        });
        let durations = routes.iter().map(|(route, figures)| ([("route", route.as_str())], &figures.duration));
        let help = "Time to answer, waiting for jobs included";
        family!(encoder, Histogram, "ojs_http_request_seconds", help, durations, |h, into| write(&mut into, h));
        Ok(())
    }
}
