//! The one table of metrics: what `/metrics` serves, under which name each is sent by OTLP, and how a dashboard shows
//! it.
//!
//! `ojs grafana` and `ojs alerts` are made from it; a test compares it with what a scrape has.

/// What kind of figure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It only grows; `/metrics` adds `_total` to its name.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Values counted in buckets.
    Histogram,
}

impl Kind {
    /// The word of the text format.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// One metric.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Its name in `/metrics`, for counters without the ending `_total`.
    pub name: &'static str,
    /// What kind it is.
    pub kind: Kind,
    /// Its name in OpenTelemetry (extensions, section 11).
    pub dotted: &'static str,
    /// Its unit as OpenTelemetry writes it: `s`, `ms`, `By`, `{job}`, `1`.
    pub unit: &'static str,
    /// The part of the dashboard that shows it.
    pub section: &'static str,
    /// Labels by which the dashboard shows it; none for one line.
    pub by: &'static [&'static str],
}

impl Metric {
    /// The name of its samples: of a histogram that of its buckets.
    #[must_use]
    pub fn sample(&self) -> String {
        match self.kind {
            Kind::Counter => format!("{}_total", self.name),
            Kind::Gauge => self.name.to_owned(),
            Kind::Histogram => format!("{}_bucket", self.name),
        }
    }
}

macro_rules! metrics {
    ($($section:literal { $($kind:ident $name:literal $dotted:literal $unit:literal [$($by:literal),*];)* })*) => {
        &[$($(Metric {
            name: $name,
            kind: Kind::$kind,
            dotted: $dotted,
            unit: $unit,
            section: $section,
            by: &[$($by),*],
        }),*),*]
    };
}

/// All metrics, in the order of the dashboard.
pub const METRICS: &[Metric] = metrics! {
    "Jobs" {
        Counter "ojs_job_enqueued" "ojs.job.enqueued" "{job}" ["queue", "type"];
        Counter "ojs_job_completed" "ojs.job.completed" "{job}" ["queue", "type"];
        Counter "ojs_job_failed" "ojs.job.failed" "{job}" ["queue", "type"];
        Counter "ojs_job_retried" "ojs.job.retried" "{job}" ["queue", "type"];
        Counter "ojs_job_cancelled" "ojs.job.cancelled" "{job}" ["queue", "type"];
        Counter "ojs_job_expired" "ojs.job.expired" "{job}" ["queue", "type"];
        Histogram "ojs_job_duration_seconds" "ojs.job.duration" "s" ["queue", "type"];
        Histogram "ojs_job_queue_time_seconds" "ojs.job.queue_time" "s" ["queue"];
        Histogram "ojs_job_enqueue_duration_seconds" "ojs.job.enqueue_duration" "s" ["queue"];
    }
    "Queues and workers" {
        Gauge "ojs_queue_depth" "ojs.queue.depth" "{job}" ["queue", "state"];
        Gauge "ojs_queue_paused" "ojs.queue.paused" "1" ["queue"];
        Gauge "ojs_workers_active" "ojs.workers.active" "{worker}" [];
        Gauge "ojs_workers_busy" "ojs.workers.busy" "{worker}" ["queue"];
        Gauge "ojs_workers_stale" "ojs.workers.stale" "{worker}" [];
        Gauge "ojs_backpressure_pressure" "ojs.backpressure.pressure" "1" ["queue"];
        Counter "ojs_backpressure_rejected" "ojs.backpressure.rejected" "{job}" ["queue"];
        Counter "ojs_backpressure_dropped" "ojs.backpressure.dropped" "{job}" ["queue"];
    }
    "Dead letters" {
        Gauge "ojs_dead_letter_total" "ojs.dead_letter.depth" "{job}" [];
        Counter "ojs_dead_letter_added" "ojs.dead_letter.added" "{job}" ["queue", "type"];
        Counter "ojs_dead_letter_retried" "ojs.dead_letter.retried" "{job}" ["queue", "type"];
        Counter "ojs_dead_letter_pruned" "ojs.dead_letter.pruned" "{job}" ["queue", "type"];
    }
    "Limits, trains, tenants and pools" {
        Gauge "ojs_rate_limit_active" "ojs.rate_limit.active" "{job}" ["key"];
        Gauge "ojs_rate_limit_waiting" "ojs.rate_limit.waiting" "{job}" ["key"];
        Counter "ojs_rate_limit_exceeded" "ojs.rate_limit.exceeded" "1" [];
        Histogram "ojs_rate_limit_wait_duration_seconds" "ojs.rate_limit.wait_duration" "s" ["queue"];
        Gauge "ojs_train_active" "ojs.train.active" "{train}" [];
        Gauge "ojs_train_held" "ojs.train.held" "{train}" [];
        Gauge "ojs_train_cars" "ojs.train.cars" "{job}" [];
        Histogram "ojs_train_wait_duration_seconds" "ojs.train.wait_duration" "s" [];
        Gauge "ojs_tenant_jobs_active" "ojs.tenant.jobs.active" "{job}" ["tenant_id"];
        Gauge "ojs_tenant_fairness_share" "ojs.tenant.fairness.share" "1" ["tenant_id"];
        Gauge "ojs_tenant_queue_depth" "ojs.tenant.queue.depth" "{job}" ["tenant_id"];
        Counter "ojs_tenant_jobs_enqueued" "ojs.tenant.jobs.enqueued" "{job}" ["tenant_id"];
        Counter "ojs_tenant_jobs_processed" "ojs.tenant.jobs.processed" "{job}" ["tenant_id"];
        Counter "ojs_tenant_jobs_failed" "ojs.tenant.jobs.failed" "{job}" ["tenant_id"];
        Counter "ojs_scheduling_dispatch" "ojs.scheduling.dispatch" "{job}" ["pool", "queue"];
        Gauge "ojs_scheduling_dispatch_ratio" "ojs.scheduling.dispatch_ratio" "1" ["pool", "queue"];
        Histogram "ojs_scheduling_queue_wait_duration_seconds" "ojs.scheduling.queue_wait_duration" "s" ["pool", "queue"];
        Gauge "ojs_scheduling_pool_utilization" "ojs.scheduling.pool_utilization" "1" ["pool"];
        Counter "ojs_scheduling_starvation_events" "ojs.scheduling.starvation_events" "1" [];
    }
    "Progress and bulk operations" {
        Counter "ojs_progress_updates" "ojs.progress.updates" "1" [];
        Gauge "ojs_progress_update_rate" "ojs.progress.update_rate" "1" [];
        Gauge "ojs_progress_stalled_jobs" "ojs.progress.stalled_jobs" "{job}" [];
        Histogram "ojs_progress_checkpoint_size_bytes" "ojs.progress.checkpoint_size" "By" [];
        Counter "ojs_bulk_requests" "ojs.bulk.requests" "{request}" ["operation"];
        Counter "ojs_bulk_items" "ojs.bulk.items" "{job}" ["operation", "status"];
        Histogram "ojs_bulk_duration_seconds" "ojs.bulk.duration" "s" ["operation"];
        Histogram "ojs_bulk_batch_size" "ojs.bulk.batch_size" "{job}" ["operation"];
    }
    "Push delivery and webhooks" {
        Counter "ojs_push_delivery_count" "ojs.push.delivery.count" "{delivery}" ["outcome"];
        Histogram "ojs_push_delivery_duration_ms" "ojs.push.delivery.duration" "ms" [];
        Counter "ojs_webhook_delivery_count" "ojs.webhook.delivery.count" "{delivery}" ["outcome"];
        Counter "ojs_webhook_delivery_retry_count" "ojs.webhook.delivery.retry_count" "{delivery}" [];
        Counter "ojs_webhook_dead_delivery_count" "ojs.webhook.dead_delivery.count" "{delivery}" [];
        Counter "ojs_webhook_dropped" "ojs.webhook.dropped" "{event}" [];
        Histogram "ojs_webhook_delivery_duration_ms" "ojs.webhook.delivery.duration" "ms" [];
        Gauge "ojs_webhook_subscription_count" "ojs.webhook.subscription.count" "{subscription}" [];
    }
    "Server and store" {
        Counter "ojs_http_requests" "ojs.http.requests" "{request}" ["route", "status"];
        Histogram "ojs_http_request_seconds" "ojs.http.request.duration" "s" ["route"];
        Histogram "ojs_store_commit_seconds" "ojs.store.commit.duration" "s" [];
        Histogram "ojs_store_group_size" "ojs.store.group.size" "{command}" [];
        Counter "ojs_store_errors" "ojs.store.errors" "{error}" [];
        Counter "ojs_store_panics" "ojs.store.panics" "{error}" [];
        Gauge "ojs_event_streams" "ojs.event_stream.count" "{stream}" [];
        Gauge "ojs_sweeper_lag_seconds" "ojs.sweeper.lag" "s" [];
        Gauge "process_open_fds" "process.open_file_descriptor.count" "{count}" [];
        Gauge "process_max_fds" "process.open_file_descriptor.limit" "{count}" [];
        Gauge "process_resident_memory_bytes" "process.memory.usage" "By" [];
        Gauge "ojs_process_memory_limit_bytes" "ojs.process.memory.limit" "By" [];
    }
};

/// Metrics that are in `/metrics` and on no panel, each with the reason.
pub const WITHOUT_PANEL: &[(&str, &str)] = &[("ojs_build_info", "it is always 1; its label names the version")];

/// The metric of a family of `/metrics`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}
