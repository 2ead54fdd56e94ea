//! `tests/vectors/spans.json`: which spans jobs have, with names, kinds, attributes and ends. Decided here, by the
//! spans of the core; the languages must make the same. `OJS_WRITE=1 cargo test --locked --workspace --test
//! spans_vectors` writes it.
#![cfg(all(feature = "embedded", feature = "opentelemetry"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ojs::spans::Spans;
use ojs::worker::WorkerOptions;
use ojs::{Client, HandlerError, JobContext, JobOptions, JobRequest, RetryPolicy, Worker};
use opentelemetry::trace::{SpanId, Status};
use opentelemetry::{Array, Value as Attribute};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use serde_json::{Map, Value, json};

/// What is asked; the file says it to the other languages in the same words.
fn cases() -> Vec<Value> {
    let remote = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    vec![
        json!({"name": "completed", "runs": true,
            "job": {"type": "t.ok", "args": ["secret-args"], "queue": "mail", "priority": 7}}),
        json!({"name": "failed", "runs": true, "job": {"type": "t.fail", "args": [1], "queue": "mail", "max_attempts": 1}}),
        json!({"name": "snoozed once", "runs": true, "job": {"type": "t.snooze", "args": [], "queue": "mail"}}),
        json!({"name": "the job names a trace", "runs": true,
            "job": {"type": "t.ok", "args": [], "meta": {"traceparent": remote, "tracestate": "vendor=7"}}}),
        json!({"name": "the job names a trace in an older way", "runs": true, "job": {"type": "t.ok", "args": [], "meta":
            {"ojs.otel.trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "ojs.otel.span_id": "00f067aa0ba902b7"}}}),
        json!({"name": "scheduled", "runs": false,
            "job": {"type": "t.ok", "args": [], "delay_until": "2099-01-01T00:00:00Z"}}),
        json!({"name": "the second of two is refused", "runs": true,
            "job": {"type": "t.ok", "args": [], "id": "01910000-0000-7000-8000-00000000000d", "times": 2}}),
        // The tests register `t.mail` with the queue `mail`.
        json!({"name": "the queue is that of the type", "runs": true, "job": {"type": "t.mail", "args": []}}),
    ]
}

fn request(job: &Value) -> JobRequest {
    let mut request = JobRequest::new(job["type"].as_str().unwrap(), &job["args"]);
    if let Some(queue) = job["queue"].as_str() {
        request = request.queue(queue);
    }
    if let Some(priority) = job["priority"].as_i64() {
        request = request.priority(priority.try_into().unwrap());
    }
    if let Some(attempts) = job["max_attempts"].as_u64() {
        request = request.retry(RetryPolicy::new().max_attempts(attempts.try_into().unwrap()));
    }
    if let Some(time) = job["delay_until"].as_str() {
        request = request.delay_until(time);
    }
    if let Some(id) = job["id"].as_str() {
        request = request.with_id(id);
    }
    for (name, value) in job["meta"].as_object().into_iter().flatten() {
        request = request.meta(name, value.clone());
    }
    request
}

async fn handle(ctx: JobContext) -> Result<(), HandlerError> {
    match ctx.job_type() {
        "t.fail" => Err(HandlerError::new("not yet").with_kind("NotYet")),
        "t.snooze" if !SNOOZED.swap(true, Ordering::SeqCst) => Err(HandlerError::snooze(Duration::ZERO)),
        _ => Ok(()),
    }
}

/// `t.snooze` has been snoozed.
static SNOOZED: AtomicBool = AtomicBool::new(false);

/// Runs a case; its spans in the order in which they began: a job may be over before the answer to its enqueue is read.
async fn spans(case: &Value) -> Vec<SpanData> {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let spans = Spans::new(&provider);
    let client = Client::connect("memory:").await.unwrap();
    client.use_middleware("trace_inject", spans.clone()).unwrap();
    let worker = Worker::new(client.transport().clone(), WorkerOptions::new(["mail", "default"]).worker_id("w"));
    worker.middleware().add("trace_extract", spans).unwrap();
    for kind in ["t.ok", "t.fail", "t.snooze"] {
        worker.register(kind, handle).unwrap();
    }
    worker.register_with("t.mail", JobOptions::new().queue("mail"), handle).unwrap();
    let worker = worker.start();
    let job = &case["job"];
    for _ in 0..job["times"].as_u64().unwrap_or(1) {
        // The second of two is refused.
        if let Ok(Some(made)) = client.enqueue_request(request(job)).await
            && case["runs"] == true
        {
            client.wait_for_result(&made.id, Duration::from_secs(60)).await.unwrap();
        }
    }
    worker.shutdown(None).await;
    let mut spans = exporter.get_finished_spans().unwrap();
    spans.sort_by_key(|span| span.start_time);
    spans
}

/// A span in the words of the file.
fn described(span: &SpanData, all: &[SpanData]) -> Value {
    let pairs = span.attributes.iter().map(|pair| (pair.key.to_string(), value(&pair.value)));
    let mut attributes: Map<String, Value> = pairs.collect();
    let ids = [("ojs.job.id", "@id"), ("messaging.message.id", "@id")];
    let others = [("ojs.job.scheduled_at", "@time"), ("error.message", "@text")];
    for (name, stands_for) in ids.into_iter().chain(others) {
        attributes.entry(name).and_modify(|value| *value = stands_for.into());
    }
    let place = |id: SpanId| match all.iter().find(|other| other.span_context.span_id() == id) {
        Some(other) => Value::from(other.name.as_ref()),
        None if id == SpanId::INVALID => Value::Null,
        None => Value::from(id.to_string()),
    };
    json!({
        "name": span.name,
        "kind": format!("{:?}", span.span_kind).to_lowercase(),
        "status": match span.status { Status::Ok => "ok", Status::Error { .. } => "error", Status::Unset => "unset" },
        "parent": place(span.parent_span_id),
        "links": span.links.iter().map(|link| place(link.span_context.span_id())).collect::<Vec<_>>(),
        "attributes": attributes,
        "events": span.events.iter().map(|event| &*event.name).collect::<Vec<_>>(),
    })
}

fn value(attribute: &Attribute) -> Value {
    match attribute {
        Attribute::I64(number) => (*number).into(),
        Attribute::F64(number) => (*number).into(),
        Attribute::Bool(truth) => (*truth).into(),
        Attribute::Array(Array::String(texts)) => texts.iter().map(|text| text.as_str()).collect(),
        other => other.to_string().into(),
    }
}

#[tokio::test]
async fn the_spans_of_every_language_are_those_of_the_core() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/spans.json");
    let mut made = Vec::new();
    for mut case in cases() {
        let all = spans(&case).await;
        case["spans"] = all.iter().map(|span| described(span, &all)).collect();
        made.push(case);
    }
    let made = json!({"spans": made});
    if std::env::var_os("OJS_WRITE").is_some() {
        std::fs::write(&path, format!("{made:#}\n")).unwrap();
        return;
    }
    let committed: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(committed, made, "run with OJS_WRITE=1 and look at the difference");
}
