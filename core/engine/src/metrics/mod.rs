//! Figures for Prometheus (extensions section 11), and the minutes of [`stats`](crate::features::statistics::records) on their way to the store.
//!
//! The writer hands over what a committed group did: one lock per group, none per job. Labels are queue, type and state only; beyond
//! [`MAX_SERIES`] pairs of queue and type, further ones are counted together as `_other`.
pub(crate) mod figures;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ojs_model::{JobState, Timestamp};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

pub use crate::features::bulk::metrics::Bulk;
use crate::features::bulk::metrics::BulkFigures;

use crate::features::admin::records::Gauges;
use crate::features::limits::records::LimitView;
use crate::features::statistics::records::{Facts, Minutes, Named, StatFilter, StatRow};
use crate::features::webhooks::metrics::WebhookFigures;
use crate::metrics::figures::{Histogram, REQUEST, family, write};
use crate::store::rows::{Counts, QueueRow};

/// Pairs of queue and type that have lines of their own: about 50 lines each.
pub(crate) const MAX_SERIES: usize = 1_000;
/// Number of the queue that stands for all others: no queue has it.
pub(crate) const OTHER_NUM: i64 = -1;
/// Queues whose depth is shown: eight lines each.
pub(crate) const MAX_QUEUES: usize = 1_000;
/// Methods that have lines of their own.
pub(crate) const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// The label under which all others are counted.
pub(crate) const OTHER: &str = "_other";

/// Seconds; of `ojs.job.duration` and `ojs.job.queue_time`, as the specification fixes them.
pub(crate) const DURATION: &[f64] = &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
pub(crate) const QUEUE_TIME: &[f64] = &[0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0, 1800.0, 3600.0];
/// Commands of a group.
pub(crate) const GROUP: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// What this process has seen since it started.
#[derive(Debug)]
pub struct Metrics {
    pub(crate) jobs: Mutex<HashMap<QueueAndType, Series>>,
    pub(crate) store: Mutex<StoreFigures>,
    pub(crate) requests: Mutex<Requests>,
    pub(crate) bulk: Mutex<BulkFigures>,
    pub(crate) webhooks: Mutex<WebhookFigures>,
    pub(crate) minutes: Mutex<Minutes>,
    pub(crate) sweep_lag_micros: AtomicU64,
    pub(crate) exceeded: AtomicU64,
    /// Times to accept jobs, by queue.
    pub(crate) enqueues: Mutex<BTreeMap<Arc<str>, Histogram>>,
}

pub(crate) type QueueAndType = (Arc<str>, Arc<str>);

#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) counts: Facts,
    pub(crate) completed: Histogram,
    pub(crate) retried: Histogram,
    pub(crate) discarded: Histogram,
    pub(crate) waited: Histogram,
    pub(crate) limited: Histogram,
}

#[derive(Debug)]
pub(crate) struct StoreFigures {
    pub(crate) commits: Histogram,
    pub(crate) groups: Histogram,
    pub(crate) errors: u64,
    pub(crate) panics: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// By method, route and status.
    pub(crate) counts: BTreeMap<(String, String, u16), u64>,
    /// By route.
    pub(crate) durations: BTreeMap<String, Histogram>,
}

impl Series {
    pub(crate) fn new() -> Self {
        let duration = || Histogram::new(DURATION);
        let wait = || Histogram::new(QUEUE_TIME);
        let (completed, retried, discarded) = (duration(), duration(), duration());
        Self { counts: Facts::default(), completed, retried, discarded, waited: wait(), limited: wait() }
    }

    pub(crate) fn add(&mut self, facts: &Facts) {
        let counts = &mut self.counts;
        counts.enqueued += facts.enqueued;
        counts.retried += facts.retried;
        counts.cancelled += facts.cancelled;
        counts.expired += facts.expired;
        counts.discarded += facts.discarded;
        counts.dead += facts.dead;
        counts.dead_retried += facts.dead_retried;
        counts.dead_pruned += facts.dead_pruned;
        counts.refused += facts.refused;
        counts.dropped += facts.dropped;
        self.completed.add_millis(&facts.completed_ms);
        self.retried.add_millis(&facts.retried_ms);
        self.discarded.add_millis(&facts.discarded_ms);
        self.waited.add_millis(&facts.waited_ms);
        self.limited.add_millis(&facts.limited_ms);
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let store = StoreFigures { commits: Histogram::new(REQUEST), groups: Histogram::new(GROUP), errors: 0, panics: 0 };
        Self {
            jobs: Mutex::default(),
            store: Mutex::new(store),
            requests: Mutex::default(),
            bulk: Mutex::default(),
            webhooks: Mutex::default(),
            minutes: Mutex::new(Minutes::new(rand::random::<i64>() >> 1)),
            sweep_lag_micros: AtomicU64::new(0),
            exceeded: AtomicU64::new(0),
            enqueues: Mutex::default(),
        }
    }
}

/// Each value behind these locks is whole after every statement.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Metrics {
    /// What a committed transaction did to jobs.
    pub fn happened(&self, now: Timestamp, facts: Vec<Named>) {
        if facts.is_empty() {
            return;
        }
        let mut minutes = lock(&self.minutes);
        facts.iter().for_each(|named| minutes.add(now.as_millis(), named.num, &named.facts));
        drop(minutes);
        let mut jobs = lock(&self.jobs);
        for named in facts {
            let mut key = (named.queue, named.job_type);
            if jobs.len() >= MAX_SERIES && !jobs.contains_key(&key) {
                key = (OTHER.into(), OTHER.into());
            }
            jobs.entry(key).or_insert_with(Series::new).add(&named.facts);
        }
    }

    /// Keys with limits were found full.
    pub fn exceeded(&self, times: u64) {
        self.exceeded.fetch_add(times, Ordering::Relaxed);
    }

    /// Jobs of a queue were accepted, which took so long.
    pub fn enqueued(&self, queue: &Arc<str>, took: Duration) {
        let mut enqueues = lock(&self.enqueues);
        if let Some(known) = enqueues.get_mut(queue) {
            return known.add(took.as_secs_f64());
        }
        let name = if enqueues.len() < MAX_QUEUES { Arc::clone(queue) } else { OTHER.into() };
        enqueues.entry(name).or_insert_with(|| Histogram::new(REQUEST)).add(took.as_secs_f64());
    }

    /// A group was committed.
    pub fn committed(&self, commands: usize, took: Duration) {
        let mut store = lock(&self.store);
        store.commits.add(took.as_secs_f64());
        store.groups.add(commands as f64);
    }

    /// The store failed.
    pub fn store_failed(&self) {
        lock(&self.store).errors += 1;
    }

    /// A thread of the store met a panic and went on.
    pub fn panicked(&self) {
        lock(&self.store).panics += 1;
    }

    /// Time-driven work was done this much later than planned.
    pub fn swept(&self, late: Duration) {
        self.sweep_lag_micros.store(u64::try_from(late.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// A request was answered.
    pub fn answered(&self, method: &str, route: &str, status: u16, took: Duration) {
        // Any word can be a method: one label for those that no route has.
        let method = if METHODS.contains(&method) { method } else { OTHER };
        let mut requests = lock(&self.requests);
        *requests.counts.entry((method.to_owned(), route.to_owned(), status)).or_default() += 1;
        let known = requests.durations.entry(route.to_owned()).or_insert_with(|| Histogram::new(REQUEST));
        known.add(took.as_secs_f64());
    }

    /// A request about many jobs was carried out, or its answer given again.
    pub fn bulk(&self, bulk: &Bulk) {
        lock(&self.bulk).add(bulk);
    }

    /// Minutes to write now.
    pub fn take_minutes(&self, now: Timestamp) -> Vec<StatRow> {
        lock(&self.minutes).take_changed(now.as_millis())
    }

    /// They could not be written.
    pub fn put_minutes_back(&self, rows: &[StatRow]) {
        lock(&self.minutes).put_back(rows);
    }

    /// Completes rows from the store by what has not been written yet.
    pub fn correct(&self, rows: &mut Vec<StatRow>, filter: &StatFilter) {
        lock(&self.minutes).correct(rows, filter);
    }

    /// The store was emptied (test mode).
    pub fn forget_minutes(&self) {
        lock(&self.minutes).clear();
    }

    /// Everything in the text format of OpenMetrics, with the first keys that have limits.
    ///
    /// # Errors
    /// None in practice: it is written to memory.
    pub fn encode(
        self: &Arc<Self>,
        mut gauges: Gauges,
        limits: Vec<LimitView>,
        subscriptions: usize,
    ) -> Result<String, fmt::Error> {
        fold_queues(&mut gauges);
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Scrape { metrics: Arc::clone(self), gauges, limits, subscriptions }));
        let mut out = String::new();
        text::encode(&mut out, &registry)?;
        Ok(out)
    }
}

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

/// One look at everything.
#[derive(Debug)]
pub(crate) struct Scrape {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) gauges: Gauges,
    pub(crate) limits: Vec<LimitView>,
    /// Subscriptions of webhooks.
    pub(crate) subscriptions: usize,
}

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.jobs(&mut encoder)?;
        self.gauges(&mut encoder)?;
        crate::features::limits::metrics::write(
            &mut encoder,
            &self.gauges.queues,
            &self.limits,
            self.metrics.exceeded.load(Ordering::Relaxed),
        )?;
        self.store(&mut encoder)?;
        self.requests(&mut encoder)?;
        lock(&self.metrics.bulk).write(&mut encoder)?;
        lock(&self.metrics.webhooks).write(&mut encoder, self.subscriptions)
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
        let names: std::collections::HashMap<i64, &str> =
            gauges.queues.iter().map(|(queue, _)| (queue.num, &*queue.name)).collect();
        let busy = gauges.busy.iter().filter_map(|(num, workers)| Some(([("queue", *names.get(num)?)], *workers)));
        let help = "Workers that hold jobs of a queue";
        family!(encoder, Gauge, "ojs_workers_busy", help, busy, |workers, into| into.encode_gauge(&workers));
        let lag = self.metrics.sweep_lag_micros.load(Ordering::Relaxed) as f64 / 1e6;
        let plain = [
            ("ojs_workers_active", "Workers that are known and not stale", gauges.workers.saturating_sub(gauges.stale) as f64),
            ("ojs_workers_stale", "Workers whose heartbeats have stopped", gauges.stale as f64),
            ("ojs_dead_letter_total", "Dead letters", gauges.dead as f64),
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
        let counts = requests.counts.iter().map(|((method, route, status), count)| {
            (vec![("method", method.clone()), ("route", route.clone()), ("status", status.to_string())], *count)
        });
        family!(encoder, Counter, "ojs_http_requests", "Requests answered", counts, |count, into| {
            into.encode_counter::<NoLabelSet, _, u64>(&count, None)
        });
        let durations = requests.durations.iter().map(|(route, h)| ([("route", &**route)], h));
        let help = "Time to answer, waiting for jobs included";
        family!(encoder, Histogram, "ojs_http_request_seconds", help, durations, |h, into| write(&mut into, h));
        Ok(())
    }
}

/// OpenMetrics as the older text format of Prometheus: the name of a counter is the name of its line.
#[must_use]
pub fn as_plain_text(openmetrics: &str) -> String {
    let mut out = String::with_capacity(openmetrics.len());
    let counters: Vec<&str> =
        openmetrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter")).collect();
    for line in openmetrics.lines().filter(|line| *line != "# EOF" && !line.starts_with("# UNIT")) {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some(word), Some(name), Some(rest)) if counters.contains(&name) => {
                out.push_str(&format!("# {word} {name}_total {rest}"));
            }
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(kind: &str, facts: Facts) -> Named {
        Named { num: 1, queue: "q".into(), job_type: kind.into(), facts }
    }

    fn scrape(metrics: &Arc<Metrics>) -> String {
        as_plain_text(&metrics.encode(Gauges::default(), Vec::new()).unwrap())
    }

    #[test]
    fn a_group_becomes_lines() {
        let metrics = Arc::new(Metrics::default());
        let facts = Facts { enqueued: 3, completed_ms: vec![4, 40], waited_ms: vec![20], ..Facts::default() };
        metrics.happened(Timestamp::from_millis(0), vec![named("t", facts)]);
        metrics.committed(2, Duration::from_millis(3));
        metrics.answered("POST", "/ojs/v1/jobs", 201, Duration::from_millis(1));
        let text = scrape(&metrics);
        for line in [
            "# TYPE ojs_job_enqueued_total counter",
            r#"ojs_job_enqueued_total{queue="q",type="t"} 3"#,
            r#"ojs_job_completed_total{queue="q",type="t"} 2"#,
            "# TYPE ojs_job_duration_seconds histogram",
            r#"ojs_job_duration_seconds_bucket{le="0.005",queue="q",type="t",state="completed"} 1"#,
            r#"ojs_job_duration_seconds_bucket{le="0.05",queue="q",type="t",state="completed"} 2"#,
            r#"ojs_job_duration_seconds_bucket{le="+Inf",queue="q",type="t",state="completed"} 2"#,
            r#"ojs_job_queue_time_seconds_count{queue="q",type="t"} 1"#,
            "ojs_store_group_size_sum 2.0",
            "ojs_store_errors_total 0",
            "ojs_store_panics_total 0",
            r#"ojs_http_requests_total{method="POST",route="/ojs/v1/jobs",status="201"} 1"#,
        ] {
            assert!(text.lines().any(|known| known == line), "{line} is missing in\n{text}");
        }
        assert!(!text.contains("# EOF"));
    }

    #[test]
    fn the_buckets_are_those_of_the_specification() {
        let metrics = Arc::new(Metrics::default());
        let facts = Facts { completed_ms: vec![1], waited_ms: vec![1], ..Facts::default() };
        metrics.happened(Timestamp::from_millis(0), vec![named("t", facts)]);
        let text = scrape(&metrics);
        let bounds = |name: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| line.starts_with(name));
            lines
                .filter_map(|line| Some(line.split_once("le=\"")?.1.split_once('"')?.0.trim_end_matches(".0").to_owned()))
                .collect()
        };
        let duration =
            ["0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "30", "60", "120", "300", "+Inf"];
        assert_eq!(bounds("ojs_job_duration_seconds_bucket"), duration);
        let waiting = ["0.01", "0.05", "0.1", "0.5", "1", "5", "10", "30", "60", "300", "600", "1800", "3600", "+Inf"];
        assert_eq!(bounds("ojs_job_queue_time_seconds_bucket"), waiting);
    }

    #[test]
    fn a_flood_of_queues_is_told_together() {
        let metrics = Arc::new(Metrics::default());
        let queue = |n: i64| {
            let mut counts = Counts::default();
            counts[JobState::Available as usize] = n % 7;
            (QueueRow::fresh(n, &format!("q{n:06}"), 0), counts)
        };
        let queues: Vec<_> = (1..=100_000).map(queue).collect();
        let all: i64 = queues.iter().map(|(_, counts)| counts.iter().sum::<i64>()).sum();
        let gauges = Gauges { queues, busy: (1..=100_000).map(|n| (n, 1)).collect(), ..Gauges::default() };
        let text = as_plain_text(&metrics.encode(gauges, Vec::new()).unwrap());
        let lines = |start: &str| text.lines().filter(|line| line.starts_with(start)).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines("ojs_queue_depth{").len(), 8 * (MAX_QUEUES + 1));
        assert_eq!(lines("ojs_workers_busy{").len(), MAX_QUEUES + 1);
        let told: i64 = lines("ojs_queue_depth{").iter().filter_map(|line| line.rsplit_once(' ')?.1.parse::<i64>().ok()).sum();
        assert_eq!(told, all, "the sum over all lines is still the number of jobs");
        assert!(text.contains(r#"ojs_queue_depth{queue="q000006",state="available"} 6"#), "the fullest have lines of their own");
        for n in 0..1_000 {
            metrics.answered(&format!("M{n}"), "/ojs/v1/jobs", 405, Duration::ZERO);
        }
        assert!(scrape(&metrics).contains(r#"ojs_http_requests_total{method="_other",route="/ojs/v1/jobs",status="405"} 1000"#));
    }

    #[test]
    fn a_flood_of_types_is_counted_together() {
        let metrics = Arc::new(Metrics::default());
        for n in 0..MAX_SERIES + 500 {
            let facts = Facts { enqueued: 1, ..Facts::default() };
            metrics.happened(Timestamp::from_millis(0), vec![named(&format!("t{n}"), facts)]);
        }
        let text = scrape(&metrics);
        assert_eq!(text.lines().filter(|line| line.starts_with("ojs_job_enqueued_total{")).count(), MAX_SERIES + 1);
        assert!(text.contains(r#"ojs_job_enqueued_total{queue="_other",type="_other"} 500"#));
    }
}
