//! A service of Google Cloud Run: signed push deliveries at `/push`, messages of a Pub/Sub subscription at `/pubsub`.
//!
//!     cargo build --example google_function --features embedded,serverless --release    # the program of the container
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method};
use axum::routing::post;
use ojs::serverless::GoogleHandler;
use ojs::{HandlerError, JobContext};
use serde_json::{Value, json};

async fn send_email(ctx: JobContext) -> Result<Value, HandlerError> {
    let (to,): (String,) = ctx.args()?;
    match to.as_str() {
        "fail" => Err(HandlerError::new("SMTP connection refused")),
        to => Ok(json!({"sent": to})),
    }
}

/// The routes of the service. OJS_URL names the server that outcomes go to, OJS_SIGNING_SECRET the secret of its push
/// endpoint.
///
/// # Errors
/// Those of [`ojs::serverless::Builder::build`].
pub async fn routes() -> Result<Router, ojs::Error> {
    // As long as the service lets a request last (`--timeout`).
    let handler: GoogleHandler = GoogleHandler::builder().timeout(Duration::from_secs(60)).build().await?;
    handler.register("email.send", send_email)?;
    let handler = Arc::new(handler);
    let pushed = Arc::clone(&handler);
    let push = async move |method: Method, headers: HeaderMap, body: Bytes| pushed.answer(&method, &headers, &body).await;
    let pubsub = async move |method: Method, body: Bytes| handler.handle_cloud_event(&method, &body).await;
    Ok(Router::new().route("/push", post(push)).route("/pubsub", post(pubsub)))
}

/// Serves on the port that the platform names.
#[tokio::main]
pub async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port: u16 = std::env::var("PORT").unwrap_or_else(|_| "8080".to_owned()).parse()?;
    let listener = tokio::net::TcpListener::bind(("0.0.0.0", port)).await?;
    Ok(axum::serve(listener, routes().await?).await?)
}
