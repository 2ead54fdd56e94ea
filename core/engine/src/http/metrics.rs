//! `/metrics`: for Prometheus.
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use ojs_model::{ErrorCode, OjsError};

use crate::engine::Engine;
use crate::features;
use crate::features::admin::commands::ReadGauges;
use crate::http::reply::Failure;
use crate::metrics::{as_plain_text, fold_queues};

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

impl Engine {
    /// All figures in the text format of OpenMetrics.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn openmetrics(&self) -> Result<String, OjsError> {
        gathered(self).await.map_err(|failure| failure.error().clone())
    }
}

async fn gathered(engine: &Engine) -> Result<String, Failure> {
    let mut gauges = engine.query(ReadGauges { now: engine.now().as_millis() }).await?;
    fold_queues(&mut gauges);
    let gauges = Arc::new(gauges);
    let mut lines = Vec::new();
    for figures in features::ALL.iter().filter_map(|feature| feature.figures) {
        lines.push(figures(engine, &gauges).await?);
    }
    let text = engine.metrics().encode(gauges, engine.streams().client_limit().taken(), lines);
    Ok(text.map_err(|_| OjsError::new(ErrorCode::InternalError, "The metrics could not be written."))?)
}

/// `GET /metrics`: OpenMetrics for clients that ask for it, as Prometheus does; plain text otherwise.
pub async fn metrics(State(engine): State<Engine>, headers: HeaderMap) -> Result<Response, Failure> {
    let text = gathered(&engine).await?;
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let (body, media) =
        if accept.contains("application/openmetrics-text") { (text, OPENMETRICS) } else { (as_plain_text(&text), "text/plain") };
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::metrics::table;
    use crate::options::EngineOptions;

    #[tokio::test]
    async fn the_table_has_each_metric_with_its_kind_and_no_other() {
        let engine = Engine::open(EngineOptions::new("memory:".parse().unwrap())).await.unwrap();
        let text = engine.openmetrics().await.unwrap();
        engine.close().await;
        let served: BTreeMap<&str, &str> =
            text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect();
        let listed: BTreeMap<&str, &str> = table::METRICS.iter().map(|metric| (metric.name, metric.kind.as_str())).collect();
        let excepted = table::WITHOUT_PANEL.iter().map(|(name, _)| (*name, served.get(name).copied().unwrap_or("none")));
        let expected: BTreeMap<&str, &str> = listed.clone().into_iter().chain(excepted).collect();
        assert_eq!(served, expected, "each has a panel, or an exception with its reason");
        assert_eq!(listed.len(), table::METRICS.len(), "no name twice");
    }
}
