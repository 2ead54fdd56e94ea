//! A layer of both chains that logs jobs (extensions sections 1 and 13).
use std::time::{Duration, Instant};

use super::{EnqueueMiddleware, EnqueueNext, Middleware, Next};
use crate::error::Error;
use crate::job::Job;
use crate::json::Json;
use crate::request::JobRequest;
use crate::transport::{BoxFuture, Transport};
use crate::worker::{HandlerResult, JobContext};

/// Text that replaces encrypted arguments in log records.
const ENCRYPTED: &str = "[encrypted]";

/// Logs enqueued jobs and their runs with `tracing`, under the target `ojs::jobs`: id, type, queue, attempt, how long
/// it took, the error. Arguments are not logged, unless [`with_args`](Self::with_args) asks for them.
///
/// ```
/// # #[cfg(feature = "embedded")]
/// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
/// use ojs::middleware::Logging;
/// use ojs::{Client, Worker};
///
/// let client = Client::connect("memory:").await?;
/// client.middleware().add("logging", Logging::new())?;
/// let worker = Worker::for_client(&client);
/// worker.middleware().add("logging", Logging::new())?;
/// # Ok(()) }
/// # #[cfg(not(feature = "embedded"))] fn main() {}
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Logging {
    args: Args,
}

/// Whether arguments are logged.
#[derive(Debug, Clone, Copy, Default)]
enum Args {
    #[default]
    Hidden,
    Shown,
    Encrypted,
}

impl Logging {
    /// Without arguments.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With arguments: for development, because they often hold personal data. When the transport encrypts, the
    /// record has `[encrypted]` in their place.
    #[must_use]
    pub fn with_args(mut self, transport: &impl Transport) -> Self {
        self.args = if transport.codec().is_some() { Args::Encrypted } else { Args::Shown };
        tracing::warn!(target: TARGET, "arguments of jobs are logged");
        self
    }

    fn shown(self, args: &Json) -> Option<String> {
        match self.args {
            Args::Hidden => None,
            Args::Shown => Some(String::from_utf8_lossy(args.as_bytes()).into_owned()),
            Args::Encrypted => Some(ENCRYPTED.to_owned()),
        }
    }
}

/// Target of the records.
const TARGET: &str = "ojs::jobs";

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl EnqueueMiddleware for Logging {
    fn handle<'a>(&'a self, request: JobRequest, next: EnqueueNext) -> BoxFuture<'a, Result<Option<Job>, Error>> {
        Box::pin(async move {
            let (job_type, queue) = (request.job_type.clone(), request.queue.clone());
            let args = self.shown(&request.args);
            let result = next.run(request).await;
            let args = args.as_deref();
            match &result {
                Ok(Some(job)) => tracing::info!(target: TARGET, job_id = job.id, job_type, queue, args, "job enqueued"),
                Ok(None) => tracing::info!(target: TARGET, job_type, queue, args, "job dropped by a layer"),
                Err(error) => {
                    let error = error.to_string();
                    tracing::warn!(target: TARGET, job_type, queue, args, error, "job not enqueued");
                }
            }
            result
        })
    }
}

impl Middleware for Logging {
    fn handle<'a>(&'a self, ctx: JobContext, next: Next) -> BoxFuture<'a, HandlerResult> {
        Box::pin(async move {
            let (job_id, job_type, queue) = (ctx.id().to_owned(), ctx.job_type().to_owned(), ctx.queue().to_owned());
            let (attempt, args) = (ctx.attempt(), self.shown(&ctx.job().args));
            let args = args.as_deref();
            tracing::debug!(target: TARGET, job_id, job_type, queue, attempt, args, "job started");
            let started = Instant::now();
            let result = next.run(ctx).await;
            let duration_ms = millis(started.elapsed());
            match result.as_ref().err().and_then(|error| error.failure()) {
                None => {
                    let status = if result.is_ok() { "completed" } else { "released" };
                    tracing::info!(target: TARGET, job_id, job_type, queue, attempt, args, duration_ms, status, "job ended");
                }
                Some(failure) => {
                    let (error, status) = (failure.message.as_str(), "failed");
                    tracing::warn!(target: TARGET, job_id, job_type, queue, attempt, args, duration_ms, status, error, "job ended");
                }
            }
            result
        })
    }
}
