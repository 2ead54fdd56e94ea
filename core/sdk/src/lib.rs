//! Open Job Spec SDK for Rust: enqueue background jobs and run workers, against any OJS server or an engine in this
//! process.
//!
//! ```
//! # #[cfg(feature = "embedded")]
//! # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
//! use ojs::{Client, Worker};
//!
//! let client = Client::connect("memory:").await?; // or sqlite:jobs.db, or http://localhost:8080
//! let worker = Worker::for_client(&client);
//! # let (done, mut sent) = tokio::sync::mpsc::unbounded_channel();
//! worker.register("email.send", move |ctx| {
//! #     let done = done.clone();
//!     async move {
//!         let (to,): (String,) = ctx.args()?;
//!         println!("sending to {to}");
//! #       done.send(())?;
//!         Ok(())
//!     }
//! })?;
//! let handle = worker.start();
//! client.enqueue("email.send", "user@example.com").await?;
//! # sent.recv().await;
//! handle.shutdown(None).await;
//! # Ok(()) }
//! # #[cfg(not(feature = "embedded"))] fn main() {}
//! ```
//!
//! | module | noun |
//! |---|---|
//! | [`client`] | [`Client`]: enqueue, look up, cancel, administer |
//! | [`worker`] | [`Worker`]: handlers, and the driver below them |
//! | [`middleware`] | layers around enqueueing and around handlers |
//! | [`workflow`] | chains, groups, batches |
//! | [`defaults`] | options that are set once for a type of jobs |
//! | [`request_context`] | what a web request hands on to its jobs |
//! | `outbox` | jobs that are sent if the transaction commits (feature `outbox`) |
//! | `spans` | OpenTelemetry spans around jobs (feature `opentelemetry`) |
//! | `serverless` | handlers in functions: AWS Lambda, signed push deliveries (feature `serverless`) |
//! | [`encryption`] | arguments that only producers and workers can read |
//! | [`environment`] | what the variables `OJS_…` say |
//! | [`transport`] | the seam to a server: HTTP, embedded, or your own |
//! | [`dispatch`] | the seam to the code that runs handlers: other languages use it |
//! | [`webhook`] | whether a request comes from the server that has the secret |
//! | [`testing`] | a transport that records |
//!
//! Features: `http` (default) for servers, `embedded` for the engine in this process.
#![forbid(unsafe_code)]

mod backoff;
pub mod client;
mod config;
mod cron;
pub mod dispatch;
pub mod encryption;
pub mod environment;
mod error;
mod job;
mod job_page;
mod json;
mod machine;
mod manifest;
mod members;
pub mod middleware;
mod options;
#[cfg(feature = "outbox")]
pub mod outbox;
mod policy;
mod queue;
mod request;
pub mod request_context;
#[cfg(feature = "serverless")]
pub mod serverless;
#[cfg(feature = "opentelemetry")]
pub mod spans;
mod strict;
pub mod testing;
pub mod transport;
pub mod webhook;
pub mod worker;
pub mod workflow;

pub use client::operations::*;
pub use client::{
    BulkItem, BulkOptions, BulkResult, BulkTarget, Client, DeadLetterFilter, DeleteQueue, Event, EventFilter, Events, JobFilter,
    JobResult,
};
pub use cron::{CronJob, Overlap};
pub use error::Error;
pub use job::{Job, JobFailure, JobState, JobTrain};
pub use job_page::JobPage;
pub use json::Json;
pub use ojs_model::{ErrorCode, JobId, OjsError, Timestamp};
pub use options::defaults;
pub use options::defaults::JobOptions;
pub use policy::{BackoffStrategy, CancelActive, OnConflict, OnExhaustion, RetryPolicy, Train, TrainAction, UniquePolicy};
pub use queue::{Page, Queue, QueueStats};
pub use request::{JobRequest, When};
pub use webhook::{verify_webhook, verify_webhook_at};
pub use worker::{HandlerError, JobContext, Worker};
