//! Figures for Prometheus (extensions section 11), and the minutes of [`stats`](crate::features::statistics::records)
//! on their way to the store.
//!
//! The writer hands over what a committed group did: one lock per group, none per job. Labels are queue, type and state
//! only; beyond [`MAX_SERIES`] pairs of queue and type, further ones are counted together as `_other`.
pub(crate) mod attempts;
pub(crate) mod figures;
mod process;
mod scrape;
pub mod table;
pub(crate) mod unwritten;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ojs_model::Timestamp;
use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;

pub use crate::features::bulk::metrics::Bulk;
use crate::features::bulk::metrics::BulkFigures;

use crate::features::admin::records::Gauges;
use crate::features::errors::pending::Pending;
use crate::features::progress::metrics::ProgressFigures;
use crate::features::push::metrics::PushFigures;
use crate::features::state::HandedOver;
use crate::features::statistics::records::{Facts, Minutes, Named, StatFilter, StatRow};
use crate::features::statistics::types::MAX_TYPES;
use crate::features::webhooks::backlog::Deltas;
use crate::features::webhooks::metrics::WebhookFigures;
use crate::metrics::figures::{Histogram, REQUEST};
use crate::metrics::scrape::Scrape;
pub(crate) use crate::metrics::scrape::{Lines, fold_queues};

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
    /// The figures by route. Each request looks one up, so a known route is found without a copy of its name.
    pub(crate) requests: Mutex<HashMap<String, RouteFigures>>,
    pub(crate) bulk: Mutex<BulkFigures>,
    pub(crate) progress: Mutex<ProgressFigures>,
    pub(crate) push: Mutex<PushFigures>,
    pub(crate) webhooks: Mutex<WebhookFigures>,
    pub(crate) minutes: Mutex<Minutes>,
    pub(crate) type_minutes: Mutex<Minutes>,
    /// Failures that are not in the store yet.
    pub(crate) errors: Arc<Pending>,
    pub(crate) sweep_lag_micros: AtomicU64,
    pub(crate) exceeded: AtomicU64,
    pub(crate) starved: AtomicU64,
    /// Times from the enqueue of a job to its turn in its train.
    pub(crate) train_waits: Mutex<Histogram>,
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

/// The requests that one route has answered.
#[derive(Debug)]
pub(crate) struct RouteFigures {
    /// By method and status.
    pub(crate) counts: BTreeMap<(&'static str, u16), u64>,
    pub(crate) duration: Histogram,
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
        let node = rand::random::<i64>() >> 1;
        Self {
            jobs: Mutex::default(),
            store: Mutex::new(store),
            requests: Mutex::default(),
            bulk: Mutex::default(),
            progress: Mutex::default(),
            push: Mutex::default(),
            webhooks: Mutex::default(),
            minutes: Mutex::new(Minutes::new(node)),
            type_minutes: Mutex::new(Minutes::bounded(node, MAX_TYPES)),
            errors: Arc::default(),
            sweep_lag_micros: AtomicU64::new(0),
            exceeded: AtomicU64::new(0),
            starved: AtomicU64::new(0),
            train_waits: Mutex::new(Histogram::new(QUEUE_TIME)),
            enqueues: Mutex::default(),
        }
    }
}

/// Each value behind these locks is whole after every statement.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Metrics {
    /// A transaction was committed that features have added this to. Returns what concerns the backlog of webhooks.
    pub(crate) fn handed_over(&self, now: Timestamp, handed_over: HandedOver) -> Deltas {
        let HandedOver { facts, failures, exceeded, starved, train_waits, deltas } = handed_over;
        self.happened(now, facts);
        self.errors.add(failures);
        self.exceeded(exceeded);
        self.starved(starved);
        self.departed(&train_waits);
        deltas
    }

    /// What a committed transaction did to jobs.
    pub fn happened(&self, now: Timestamp, facts: Vec<Named>) {
        if facts.is_empty() {
            return;
        }
        let mut minutes = lock(&self.minutes);
        facts.iter().for_each(|named| minutes.add(now.as_millis(), named.num, &named.facts));
        drop(minutes);
        let mut types = lock(&self.type_minutes);
        let known = facts.iter().filter(|named| named.type_num > 0);
        known.for_each(|named| types.add(now.as_millis(), named.type_num, &named.facts));
        drop(types);
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

    /// The guaranteed share of pools has served queues that their strategies would not, so often.
    pub fn starved(&self, times: u64) {
        self.starved.fetch_add(times, Ordering::Relaxed);
    }

    /// The turn of jobs has come in their trains, after so many milliseconds.
    pub fn departed(&self, waited: &[i64]) {
        if !waited.is_empty() {
            lock(&self.train_waits).add_millis(waited);
        }
    }

    /// Jobs of a queue were accepted, which took so long.
    pub fn enqueued(&self, queue: &Arc<str>, took: Duration, trace: Option<String>) {
        let mut enqueues = lock(&self.enqueues);
        if let Some(known) = enqueues.get_mut(queue) {
            return known.add_traced(took.as_secs_f64(), trace);
        }
        let name = if enqueues.len() < MAX_QUEUES { Arc::clone(queue) } else { OTHER.into() };
        enqueues.entry(name).or_insert_with(|| Histogram::new(REQUEST)).add_traced(took.as_secs_f64(), trace);
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
        let method = METHODS.iter().find(|known| **known == method).copied().unwrap_or(OTHER);
        let mut requests = lock(&self.requests);
        if !requests.contains_key(route) {
            requests.insert(route.to_owned(), RouteFigures { counts: BTreeMap::new(), duration: Histogram::new(REQUEST) });
        }
        if let Some(figures) = requests.get_mut(route) {
            *figures.counts.entry((method, status)).or_default() += 1;
            figures.duration.add(took.as_secs_f64());
        }
    }

    /// A request about many jobs was carried out, or its answer given again.
    pub fn bulk(&self, bulk: &Bulk) {
        lock(&self.bulk).add(bulk);
    }

    /// A report of progress came.
    pub fn reported(&self, now: Timestamp) {
        lock(&self.progress).reported(now);
    }

    /// A checkpoint of so many bytes was saved.
    pub fn checkpointed(&self, bytes: usize) {
        lock(&self.progress).checkpointed(bytes);
    }

    /// Completes rows from the store by what has not been written yet.
    pub fn correct(&self, rows: &mut Vec<StatRow>, filter: &StatFilter) {
        lock(&self.minutes).correct(rows, filter);
    }

    /// Figures of job types that have not been written yet.
    pub fn unwritten_types(&self) -> Minutes {
        lock(&self.type_minutes).clone()
    }

    /// Adds the traces of jobs to the times of their acceptance. The encoder takes exemplars of its own histograms
    /// alone.
    fn with_exemplars(&self, text: String) -> String {
        const NAME: &str = "ojs_job_enqueue_duration_seconds_bucket";
        let enqueues = lock(&self.enqueues);
        let mut exemplars: HashMap<String, String> = HashMap::new();
        for (queue, histogram) in enqueues.iter() {
            let queue = queue.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            for (bound, exemplar) in histogram.exemplars() {
                exemplars.insert(format!("{NAME}{{le=\"{bound}\",queue=\"{queue}\"}}"), exemplar);
            }
        }
        drop(enqueues);
        if exemplars.is_empty() {
            return text;
        }
        let mut out = String::with_capacity(text.len() + exemplars.len() * 64);
        for line in text.lines() {
            out.push_str(line);
            if line.starts_with(NAME)
                && let Some(exemplar) = line.rsplit_once(' ').and_then(|(sample, _)| exemplars.get(sample))
            {
                out.push_str(" # ");
                out.push_str(exemplar);
            }
            out.push('\n');
        }
        out
    }

    /// The times that started jobs had waited, by name of the queue.
    pub(crate) fn waits(&self) -> HashMap<String, Histogram> {
        let mut waits: HashMap<String, Histogram> = HashMap::new();
        for ((queue, _), series) in lock(&self.jobs).iter() {
            waits.entry(queue.to_string()).or_insert_with(|| Histogram::new(QUEUE_TIME)).merge(&series.waited);
        }
        waits
    }

    /// Everything in the text format of OpenMetrics: these gauges, the number of open event streams, and the lines of
    /// features.
    ///
    /// # Errors
    /// None in practice: it is written to memory.
    pub(crate) fn encode(self: &Arc<Self>, gauges: Arc<Gauges>, streams: usize, lines: Vec<Lines>) -> Result<String, fmt::Error> {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Scrape { metrics: Arc::clone(self), gauges, streams, lines }));
        let mut out = String::new();
        text::encode(&mut out, &registry)?;
        Ok(self.with_exemplars(out))
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
            // Exemplars are of OpenMetrics alone.
            _ => out.push_str(line.split_once(" # {").map_or(line, |(sample, _)| sample)),
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use ojs_model::JobState;

    use super::*;
    use crate::store::rows::{Counts, QueueRow};

    fn named(kind: &str, facts: Facts) -> Named {
        Named { num: 1, queue: "q".into(), job_type: kind.into(), type_num: 1, facts }
    }

    fn scrape(metrics: &Arc<Metrics>) -> String {
        as_plain_text(&metrics.encode(Arc::default(), 0, Vec::new()).unwrap())
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
    fn a_bucket_names_the_trace_of_a_job_in_openmetrics_alone() {
        let metrics = Arc::new(Metrics::default());
        let (queue, took) = ("q".into(), Duration::from_millis(3));
        metrics.enqueued(&queue, took, Some("4bf92f3577b34da6a3ce929d0e0e4736".to_owned()));
        metrics.enqueued(&queue, took, None);
        let text = metrics.encode(Arc::default(), 0, Vec::new()).unwrap();
        let line = text.lines().find(|line| line.contains("trace_id")).unwrap();
        let start = r#"ojs_job_enqueue_duration_seconds_bucket{le="0.005",queue="q"} 2 # {trace_id="4bf92f3577b34da6a3ce929d0e0e4736"} 0.003"#;
        assert!(line.starts_with(start), "{line}");
        assert!(!as_plain_text(&text).contains("trace_id"));
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
        let mut gauges = Gauges { queues, busy: (1..=100_000).map(|n| (n, 1)).collect(), ..Gauges::default() };
        fold_queues(&mut gauges);
        let text = as_plain_text(&metrics.encode(Arc::new(gauges), 0, Vec::new()).unwrap());
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
