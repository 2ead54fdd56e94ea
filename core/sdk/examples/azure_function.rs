//! A custom handler of Azure Functions: signed push deliveries of the HTTP trigger `push`, and messages of a trigger
//! `job` for Service Bus or a storage queue, whose binding is named `message`.
//!
//!     cargo build --example azure_function --features embedded,serverless --release    # customHandler in host.json
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method};
use axum::routing::post;
use ojs::serverless::AzureHandler;
use ojs::{HandlerError, JobContext};
use serde_json::{Value, json};

async fn send_email(ctx: JobContext) -> Result<Value, HandlerError> {
    let (to,): (String,) = ctx.args()?;
    match to.as_str() {
        "fail" => Err(HandlerError::new("SMTP connection refused")),
        to => Ok(json!({"sent": to})),
    }
}

/// The routes of the handler. OJS_URL names the server that outcomes go to, OJS_SIGNING_SECRET the secret of its push
/// endpoint.
///
/// # Errors
/// Those of [`ojs::serverless::Builder::build`].
pub async fn routes() -> Result<Router, ojs::Error> {
    // As long as `functionTimeout` of host.json says.
    let handler: AzureHandler = AzureHandler::builder().timeout(Duration::from_secs(300)).build().await?;
    handler.register("email.send", send_email)?;
    let handler = Arc::new(handler);
    let pushed = Arc::clone(&handler);
    let push = async move |method: Method, headers: HeaderMap, body: Bytes| pushed.answer(&method, &headers, &body).await;
    let job = async move |method: Method, body: Bytes| handler.handle_queue("message", &method, &body).await;
    Ok(Router::new().route("/api/push", post(push)).route("/job", post(job)))
}

/// Serves on the port that the host names.
#[tokio::main]
pub async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port: u16 = std::env::var("FUNCTIONS_CUSTOMHANDLER_PORT").unwrap_or_else(|_| "3000".to_owned()).parse()?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    Ok(axum::serve(listener, routes().await?).await?)
}
