//! A function of AWS Lambda with AWS's own runtime: jobs of SQS, function URLs, API Gateway, EventBridge, and direct
//! calls.
//!
//!     cargo build --example lambda_function --features serverless --release    # it is `bootstrap` in the function
use std::future::pending;

use lambda_runtime::{Error, LambdaEvent, service_fn};
use ojs::serverless::LambdaHandler;
use ojs::{HandlerError, JobContext};
use serde_json::{Value, json};

async fn send_email(ctx: JobContext) -> Result<Value, HandlerError> {
    let (to,): (String,) = ctx.args()?;
    match to.as_str() {
        "fail" => Err(HandlerError::new("SMTP connection refused")),
        "wait" => pending().await,
        to => Ok(json!({"sent": to})),
    }
}

/// Serves events until Lambda ends the process.
#[tokio::main]
pub async fn main() -> Result<(), Error> {
    // OJS_URL names the server that outcomes go to, OJS_SIGNING_SECRET the secret of its push endpoint.
    let handler = LambdaHandler::builder().build().await?;
    handler.register("email.send", send_email)?;
    let handler = &handler;
    lambda_runtime::run(service_fn(|event: LambdaEvent<Value>| async move {
        handler.handle(event.payload, event.context.deadline()).await.map_err(Error::from)
    }))
    .await
}
