//! The names of the documents, compared with what the server tells (extensions sections 11 and 13, and those that
//! name metrics of their own).
use serde_json::json;

use crate::admin_http::post;
use crate::figures::scrape;
use crate::support::Bench;

crate::on_every_store!(obs_every_metric_of_the_documents_is_told_under_its_name);

/// Name in the documents, kind, labels. Those without labels here have none, or none before something happens.
#[rustfmt::skip]
const METRICS: &[(&str, &str, &[&str])] = &[
    // Section 11.
    ("ojs.job.enqueued", "counter", &["queue", "type"]),
    ("ojs.job.completed", "counter", &["queue", "type"]),
    ("ojs.job.failed", "counter", &["queue", "type"]),
    ("ojs.job.retried", "counter", &["queue", "type"]),
    ("ojs.job.cancelled", "counter", &["queue", "type"]),
    ("ojs.job.expired", "counter", &["queue", "type"]),
    ("ojs.job.duration", "histogram", &["queue", "type", "state"]),
    ("ojs.job.queue_time", "histogram", &["queue", "type"]),
    ("ojs.job.enqueue_duration", "histogram", &["queue"]),
    ("ojs.queue.depth", "gauge", &["queue", "state"]),
    ("ojs.workers.active", "gauge", &[]),
    ("ojs.workers.busy", "gauge", &["queue"]),
    // Sections 4 to 6.
    ("ojs.rate_limit.active", "gauge", &[]),
    ("ojs.rate_limit.waiting", "gauge", &[]),
    ("ojs.rate_limit.exceeded_total", "counter", &[]),
    ("ojs.rate_limit.wait_duration", "histogram", &[]),
    ("ojs.backpressure.rejected_total", "counter", &["queue", "type"]),
    ("ojs.backpressure.dropped_total", "counter", &["queue", "type"]),
    ("ojs.backpressure.pressure", "gauge", &[]),
    ("ojs.dead_letter.total", "gauge", &[]),
    ("ojs.dead_letter.added_total", "counter", &["queue", "type"]),
    ("ojs.dead_letter.retried_total", "counter", &["queue", "type"]),
    ("ojs.dead_letter.pruned_total", "counter", &["queue", "type"]),
    // Section 10.
    ("ojs.tenant.jobs.active", "gauge", &[]),
    ("ojs.tenant.jobs.enqueued_total", "counter", &[]),
    ("ojs.tenant.jobs.processed_total", "counter", &[]),
    ("ojs.tenant.jobs.failed_total", "counter", &[]),
    ("ojs.tenant.queue.depth", "gauge", &[]),
    // Sections 18, 20, 30.
    ("ojs.webhook.delivery.count", "counter", &[]),
    ("ojs.webhook.delivery.retry_count", "counter", &[]),
    ("ojs.webhook.dead_delivery.count", "counter", &[]),
    ("ojs.webhook.subscription.count", "gauge", &[]),
    ("ojs.progress.updates_total", "counter", &[]),
    ("ojs.progress.update_rate", "gauge", &[]),
    ("ojs.progress.stalled_jobs", "gauge", &[]),
    ("ojs.progress.checkpoint_size_bytes", "histogram", &[]),
    ("ojs.train.active", "gauge", &[]),
    ("ojs.train.held", "gauge", &[]),
    ("ojs.train.cars", "gauge", &[]),
    ("ojs.train.wait_duration", "histogram", &[]),
];

/// A name as Prometheus has it: counters end in `_total`, times in `_seconds`.
fn prometheus(name: &str, kind: &str) -> String {
    let name = name.replace('.', "_");
    let is_time = ["duration", "queue_time"].iter().any(|end| name.ends_with(end));
    match kind {
        "counter" if !name.ends_with("_total") => format!("{name}_total"),
        "histogram" if is_time => format!("{name}_seconds"),
        _ => name,
    }
}

async fn obs_every_metric_of_the_documents_is_told_under_its_name(b: Bench) {
    let options = json!({"queue": "q", "retry": {"max_attempts": 1, "on_exhaustion": "dead_letter"}});
    for _ in 0..2 {
        assert_eq!(post(&b, "/jobs", json!({"type": "t", "args": ["secret"], "options": options})).await.0, 201);
    }
    let jobs = b.claim(2).await;
    b.ack(&jobs[0]).await.unwrap();
    b.nack(&jobs[1], r#"{"code":"x","message":"secret"}"#).await.unwrap();
    b.job().await;
    b.claim(1).await;
    let (_, text) = scrape(&b, "text/plain").await;
    for (name, kind, labels) in METRICS {
        let ours = prometheus(name, kind);
        assert!(text.contains(&format!("# TYPE {ours} {kind}\n")), "{name}: there is no {kind} {ours}");
        if labels.is_empty() {
            continue;
        }
        let starts = [format!("{ours}{{"), format!("{ours}_count{{")];
        let line = text.lines().find(|line| starts.iter().any(|start| line.starts_with(start)));
        let line = line.unwrap_or_else(|| panic!("{name} has no line"));
        let inner = line.split_once('{').unwrap().1.split_once('}').unwrap().0;
        let told: Vec<&str> = inner.split(',').map(|label| label.split_once('=').unwrap().0).collect();
        assert_eq!(told, *labels, "{name}: {line}");
    }
    // Never a job id, arguments or the text of an error.
    assert!(!text.contains("secret") && !text.contains(&jobs[0].row.id.to_string()));
}
