//! Handlers in functions: the handlers of a worker, called by a platform with one job at a time
//! (`docs/guide/serverless-rust.md`).
//!
//! A handler does not know how it was called. Here it runs for a signed push delivery ([`PushHandler`]), for messages
//! of SQS, function URLs, API Gateway, EventBridge and direct calls of AWS Lambda ([`LambdaHandler`]), for CloudEvents
//! and messages of Pub/Sub ([`GoogleHandler`]), for queues of Azure ([`AzureHandler`]). No runtime of a platform is a
//! dependency: events are JSON, requests are those of the crate `http`.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), ojs::Error> {
//! use ojs::serverless::LambdaHandler;
//! use serde_json::json;
//!
//! let handler = LambdaHandler::builder().build().await?;
//! handler.register("email.send", |ctx| async move {
//!     let (to,): (String,) = ctx.args()?;
//!     Ok(format!("sent to {to}"))
//! })?;
//!
//! // In a function: lambda_runtime::run(service_fn(|event| handler.handle(event.payload, event.context.deadline())))
//! let event = json!({"id": "019539a4-0000-7000-8000-000000000001", "type": "email.send", "args": ["ada"]});
//! assert_eq!(handler.handle(event, None).await?["result"], "sent to ada");
//! # Ok(()) }
//! ```
mod answer;
mod azure;
mod brought;
mod builder;
mod deadline;
mod delivery;
mod google;
mod lambda;
mod push;
mod replays;
mod runs;

pub use azure::AzureHandler;
pub use builder::Builder;
pub use google::GoogleHandler;
pub use lambda::LambdaHandler;
pub use push::PushHandler;
