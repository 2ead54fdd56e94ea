//! Traces, metrics and logs of a server, sent by OTLP (http/protobuf), where the standard variables say so
//! (`OTEL_EXPORTER_OTLP_ENDPOINT` and its family). Without them nothing of this is set up, and the spans of the engine
//! cost nothing.
mod client;
mod metrics;
mod settings;

use std::time::Duration;

use ojs_engine::{Engine, spans};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider;
use opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge;
use opentelemetry_otlp::{LogExporter, SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::logs::SdkLoggerProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer};

use crate::failure::Failure;
use client::Client;
use settings::Signal;

/// Longest wait for the last records when the server ends.
const LAST: Duration = Duration::from_secs(5);
/// The same for the figures: the server takes requests until they are sent.
const LAST_FIGURES: Duration = Duration::from_secs(1);

/// What sends, until the server ends.
#[derive(Default)]
pub struct Telemetry {
    spans: Option<SdkTracerProvider>,
    logs: Option<SdkLoggerProvider>,
    metrics: Option<metrics::Sender>,
}

impl Telemetry {
    /// Reads the variables and sets up what they ask for.
    ///
    /// # Errors
    /// An endpoint that is no URL, TLS that cannot be set up.
    pub fn from_environment() -> Result<Self, Failure> {
        let wanted = |signal| settings::endpoint(signal).is_some();
        if ![Signal::Traces, Signal::Logs, Signal::Metrics].into_iter().any(wanted) {
            return Ok(Self::default());
        }
        let client = Client::new()?;
        let unusable = |error: &dyn std::fmt::Display| {
            Failure::usage(format!("OTEL_EXPORTER_OTLP_ENDPOINT: {error}"), "for example http://collector:4318")
        };
        let mut telemetry = Self::default();
        if wanted(Signal::Traces) {
            let exporter = SpanExporter::builder().with_http().with_http_client(client.clone()).build();
            let exporter = exporter.map_err(|error| unusable(&error))?;
            let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource());
            telemetry.spans = Some(provider.build());
            spans::continue_with(continue_trace);
        }
        if wanted(Signal::Logs) {
            let exporter = LogExporter::builder().with_http().with_http_client(client.clone()).build();
            let exporter = exporter.map_err(|error| unusable(&error))?;
            telemetry.logs = Some(SdkLoggerProvider::builder().with_batch_exporter(exporter).with_resource(resource()).build());
        }
        if let Some(endpoint) = settings::endpoint(Signal::Metrics) {
            telemetry.metrics = Some(metrics::Sender::new(client, &endpoint, resource()).map_err(|error| unusable(&error))?);
        }
        Ok(telemetry)
    }

    /// What makes traces of spans, and records of log lines. `filter` is that of the lines.
    pub fn layers<S>(&self, filter: &str) -> Vec<Box<dyn Layer<S> + Send + Sync>>
    where
        S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    {
        let mut layers: Vec<Box<dyn Layer<S> + Send + Sync>> = Vec::new();
        if let Some(provider) = &self.spans {
            let tracer = provider.tracer("ojs");
            let layer =
                tracing_opentelemetry::layer().with_tracer(tracer).with_location(false).with_threads(false).with_target(false);
            layers.push(layer.with_filter(Targets::new().with_target(spans::TARGET, LevelFilter::INFO)).boxed());
        }
        if let Some(provider) = &self.logs {
            let filter = EnvFilter::try_new(filter).unwrap_or_default();
            layers.push(OpenTelemetryTracingBridge::new(provider).with_filter(filter).boxed());
        }
        layers
    }

    /// Begins to send the figures of an engine.
    pub fn measure(&self, engine: &Engine) {
        if let Some(sender) = &self.metrics {
            tokio::spawn(sender.clone().run(engine.clone()));
        }
    }

    /// Sends the figures a last time, before the store is closed.
    pub async fn last_figures(&self, engine: &Engine) {
        if let Some(sender) = &self.metrics {
            let _ = tokio::time::timeout(LAST_FIGURES, sender.send(engine)).await;
        }
    }

    /// Sends what is left of spans and log lines; waits for a few seconds at most.
    pub async fn end(self) {
        let rest = tokio::task::spawn_blocking(move || {
            // A collector that is away gets nothing, and the server ends all the same.
            drop(self.spans.map(|provider| provider.shutdown_with_timeout(LAST)));
            drop(self.logs.map(|provider| provider.shutdown_with_timeout(LAST)));
        });
        let _ = rest.await;
    }
}

/// `service.name` and what `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` say.
fn resource() -> Resource {
    let named = std::env::var_os("OTEL_SERVICE_NAME").is_some()
        || std::env::var("OTEL_RESOURCE_ATTRIBUTES").is_ok_and(|list| list.contains("service.name="));
    let resource = Resource::builder().with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    if named { resource.build() } else { resource.with_service_name("ojs").build() }
}

/// Makes a span a child of the span that a `traceparent` names; one that cannot be read is ignored.
fn continue_trace(span: &tracing::Span, traceparent: &str) {
    let carrier = std::collections::HashMap::from([("traceparent".to_owned(), traceparent.to_owned())]);
    let _ = span.set_parent(TraceContextPropagator::new().extract(&carrier));
}
