//! `/metrics`: for Prometheus.
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use ojs_model::{ErrorCode, OjsError};

use crate::engine::Engine;
use crate::features::admin::commands::ReadGauges;
use crate::features::limits::commands::ListLimits;
use crate::features::limits::metrics::MAX_KEYS;
use crate::features::limits::records::LimitPage;
use crate::features::trains::commands::CountTrains;
use crate::features::webhooks::commands::ListSubscriptions;
use crate::http::reply::Failure;
use crate::metrics::{Extensions, as_plain_text};

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
    let now = engine.now().as_millis();
    let gauges = engine.query(ReadGauges { now }).await?;
    let page = LimitPage { limit: MAX_KEYS, ..LimitPage::default() };
    let (limits, _) = engine.query(ListLimits { key: None, page, at: engine.now() }).await?;
    let extensions = Extensions {
        trains: engine.query(CountTrains).await?,
        subscriptions: engine.query(ListSubscriptions).await?.len(),
        dropped: engine.backlog().dropped(),
        streams: engine.streams().client_limit().taken(),
    };
    let text = engine.metrics().encode(gauges, limits, extensions);
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
