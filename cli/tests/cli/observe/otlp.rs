//! A server sends spans, figures and log lines to a receiver of OTLP that runs in this test.
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::routing::post;
use ojs_tests::{Environment, ServerProcess, until};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{Metric, metric, number_data_point};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::json;

/// What has come, by signal.
#[derive(Clone, Default)]
struct Received(Arc<Mutex<Vec<(String, Bytes)>>>);

impl Received {
    /// Listens on a port that the system chose.
    async fn listen() -> (Self, String) {
        let received = Self::default();
        let sink = received.clone();
        let take = post(move |Path(signal): Path<String>, body: Bytes| async move {
            sink.0.lock().unwrap().push((signal, body));
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().route("/v1/{signal}", take)).await });
        (received, url)
    }

    fn of<M: Message + Default>(&self, signal: &str) -> Vec<M> {
        let all = self.0.lock().unwrap().clone();
        all.into_iter().filter(|(name, _)| name == signal).map(|(_, body)| M::decode(body).unwrap()).collect()
    }

    fn spans(&self) -> Vec<Span> {
        let requests: Vec<ExportTraceServiceRequest> = self.of("traces");
        let scopes = requests.into_iter().flat_map(|request| request.resource_spans).flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }

    fn metrics(&self) -> Vec<Metric> {
        let requests: Vec<ExportMetricsServiceRequest> = self.of("metrics");
        let scopes =
            requests.into_iter().flat_map(|request| request.resource_metrics).flat_map(|resource| resource.scope_metrics);
        scopes.flat_map(|scope| scope.metrics).collect()
    }
}

fn text(attributes: &[KeyValue], name: &str) -> Option<String> {
    let value = attributes.iter().find(|attribute| attribute.key == name)?.value.clone()?.value?;
    Some(match value {
        any_value::Value::StringValue(text) => text,
        other => format!("{other:?}"),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn variables(pairs: &[(&str, &str)]) -> Environment {
    pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

#[tokio::test]
async fn a_server_sends_spans_figures_and_log_lines() {
    let (received, url) = Received::listen().await;
    let settings = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
        ("OTEL_BSP_SCHEDULE_DELAY", "50"),
        ("OTEL_BLRP_SCHEDULE_DELAY", "50"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "50"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
    ];
    let mut server = ServerProcess::with_environment("full", |_| variables(&settings)).await;
    let mut wire = server.connect().await;
    let traceparent = format!("00-{TRACE}-{PARENT}-01");
    let job = json!({"type": "a.b", "args": ["canary-7f3a91"], "queue": "default", "meta": {"traceparent": traceparent}});
    let job = wire.post("/jobs", &job).await.expect(201).json();
    let id = job["job"]["id"].as_str().unwrap().to_owned();
    wire.post("/workers/fetch", &json!({"queues": ["default"]})).await.expect(200);
    wire.post("/workers/nack", &json!({"job_id": id, "error": {"code": "x", "message": "m"}})).await.expect(200);
    let span = |name: &str| {
        let (received, name) = (received.clone(), name.to_owned());
        async move { until(&name, || async { received.spans().into_iter().find(|span| span.name == name) }).await }
    };
    let accepted = span("ojs.enqueue").await;
    assert_eq!((accepted.kind, hex(&accepted.trace_id), hex(&accepted.parent_span_id)), (2, TRACE.to_owned(), PARENT.to_owned()));
    for (name, value) in [
        ("ojs.job.id", id.as_str()),
        ("ojs.job.type", "a.b"),
        ("ojs.job.queue", "default"),
        ("messaging.system", "ojs"),
        ("messaging.destination.name", "default"),
        ("messaging.operation.type", "publish"),
    ] {
        assert_eq!(text(&accepted.attributes, name).as_deref(), Some(value), "{name}: {accepted:?}");
    }
    let judged = span("ojs.retry.evaluate").await;
    assert_eq!((judged.kind, text(&judged.attributes, "ojs.job.id")), (1, Some(id)));
    span("POST /ojs/v1/workers/fetch").await;
    let counted = until("the figures", || async {
        received.metrics().into_iter().find(|metric| metric.name == "ojs.job.enqueued" && metric.unit == "{job}")
    })
    .await;
    let Some(metric::Data::Sum(sum)) = counted.data else { panic!("a counter") };
    assert_eq!(sum.data_points[0].value, Some(number_data_point::Value::AsDouble(1.0)));
    assert_eq!(text(&sum.data_points[0].attributes, "queue").as_deref(), Some("default"));
    assert_eq!(server.terminate().await.code(), Some(0));
    let logs: Vec<ExportLogsServiceRequest> = received.of("logs");
    let resource = logs[0].resource_logs[0].resource.clone().unwrap();
    assert_eq!(text(&resource.attributes, "service.name").as_deref(), Some("ojs"));
    assert_eq!(text(&resource.attributes, "deployment.environment.name").as_deref(), Some("test"));
    let lines = format!("{logs:?}");
    assert!(lines.contains("\"serving\"") && lines.contains("\"stopped\""), "the last line is sent as well: {lines}");
    let all = received.0.lock().unwrap().clone();
    let canary = all.iter().find(|(_, body)| body.windows(13).any(|part| part == b"canary-7f3a91"));
    assert!(canary.is_none(), "arguments are never sent: {canary:?}");
}

#[tokio::test]
async fn a_server_that_is_told_not_to_sends_nothing() {
    let (received, url) = Received::listen().await;
    let settings = [("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()), ("OTEL_SDK_DISABLED", "true")];
    let mut server = ServerProcess::with_environment("full", |_| variables(&settings)).await;
    server.connect().await.post("/jobs", &json!({"type": "a", "args": []})).await.expect(201);
    assert_eq!(server.terminate().await.code(), Some(0));
    assert!(received.0.lock().unwrap().is_empty());
}
