//! The HTTP binding over a store on the bench, without a socket.
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use crate::support::Bench;

impl Bench {
    /// One request to `/ojs/v1{path}`: status and body.
    pub async fn http(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let request = Request::builder().method(method).uri(format!("/ojs/v1{path}")).header("Content-Type", "application/json");
        let response = self.engine.router().oneshot(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
        crate::declared::check(method, path, status, &body);
        (status, body)
    }

    /// The same store, opened anew with another retention.
    pub async fn with_retention(self, change: impl FnOnce(&mut ojs_engine::Retention)) -> Self {
        self.engine.close().await;
        let mut options = self.engine.options().clone();
        change(&mut options.retention);
        let engine = ojs_engine::Engine::open(options).await.unwrap();
        Self { engine, ..self }
    }
}
