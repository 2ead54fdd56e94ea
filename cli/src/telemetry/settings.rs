//! The variables of OpenTelemetry that say where records go.
use std::time::Duration;

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Spans.
    Traces,
    /// Figures.
    Metrics,
    /// Log lines.
    Logs,
}

impl Signal {
    const fn name(self) -> &'static str {
        match self {
            Self::Traces => "TRACES",
            Self::Metrics => "METRICS",
            Self::Logs => "LOGS",
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// Where a signal goes; none when no variable says so, or when one says that it is not sent.
pub fn endpoint(signal: Signal) -> Option<String> {
    let name = signal.name();
    let off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || variable(&format!("OTEL_{name}_EXPORTER")).is_some_and(|value| value == "none");
    if off {
        return None;
    }
    let own = variable(&format!("OTEL_EXPORTER_OTLP_{name}_ENDPOINT"));
    let all = || {
        let base = variable("OTEL_EXPORTER_OTLP_ENDPOINT")?;
        Some(format!("{}/v1/{}", base.trim_end_matches('/'), name.to_ascii_lowercase()))
    };
    own.or_else(all)
}

/// Further headers of requests with metrics: `name=value,name=value`.
pub fn headers() -> Vec<(String, String)> {
    let list = variable("OTEL_EXPORTER_OTLP_METRICS_HEADERS").or_else(|| variable("OTEL_EXPORTER_OTLP_HEADERS"));
    let pair = |pair: &str| pair.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    list.iter().flat_map(|list| list.split(',')).filter_map(pair).collect()
}

/// The pause between two looks at the figures.
pub fn interval() -> Duration {
    let millis = variable("OTEL_METRIC_EXPORT_INTERVAL").and_then(|value| value.trim().parse().ok());
    Duration::from_millis(millis.filter(|millis| *millis > 0).unwrap_or(60_000))
}
