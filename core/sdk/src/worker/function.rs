//! Runs one job that a function was called with: by the handlers of a worker that is never started, under the lease of
//! the delivery.
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout};

use super::build::Worker;
use super::context::JobContext;
use super::durable::Durable;
use super::handlers::outcome;
use super::held::{Entry, Stage};
use super::options::WorkerOptions;
use super::report::{Report, Verdict};
use super::shared::{Shared, panic_message};
use super::wire::{Envelope, Head};
use crate::dispatch::{CancelReason, Delivery, DeliveryKey, Dispatch, HandlerFailure, Outcome, Phase};
use crate::error::Error;
use crate::middleware::Next;
use crate::transport::Transport;

/// A run has a table of its own, so its only key may be a constant.
const KEY: DeliveryKey = DeliveryKey(0);
/// How long a handler that was asked to stop may take to end. It is a part of the margin before the platform's limit.
const WIND_UP: Duration = Duration::from_secs(1);

/// A run that has ended, and its outcome for the server.
#[derive(Debug)]
pub(crate) struct Ended {
    report: Report,
    worker_id: String,
}

impl Ended {
    /// The same run with a failure in place of its result, which the server has refused.
    pub fn failed(&self, failure: HandlerFailure) -> Self {
        Self { report: self.report.failing(failure), worker_id: self.worker_id.clone() }
    }

    /// Path and body of the call that reports it.
    pub fn call(&self) -> (&'static str, String) {
        (self.report.path(), self.report.body(&self.worker_id))
    }

    /// Whether the handler has completed the job.
    pub fn is_completed(&self) -> bool {
        matches!(self.report.verdict, Verdict::Ack(_))
    }

    /// Whether the job will be tried again.
    pub fn comes_again(&self) -> bool {
        match &self.report.verdict {
            Verdict::Ack(_) => false,
            Verdict::Nack(failure) => failure.retryable,
            Verdict::Release { .. } => true,
        }
    }

    /// The failure, when there is one.
    pub fn failure(&self) -> Option<&HandlerFailure> {
        match &self.report.verdict {
            Verdict::Nack(failure) => Some(failure),
            Verdict::Ack(_) | Verdict::Release { .. } => None,
        }
    }

    /// Why a queue should deliver the job again.
    pub fn again(&self) -> Error {
        let told = self.failure().map_or("the outcome did not reach the server", |failure| &failure.message);
        Error::DeliveryFailed(told.to_owned())
    }

    /// The answer to a push delivery: `status`, and `result`, or `error` with `requeue` and `delay_ms`.
    pub fn answer(&self) -> Result<BTreeMap<String, Box<RawValue>>, Error> {
        let mut members: BTreeMap<String, Box<RawValue>> =
            serde_json::from_str(&self.report.body("")).map_err(|error| Error::json("outcome", error))?;
        members.retain(|name, _| !matches!(name.as_str(), "job_id" | "lease_token" | "worker_id"));
        let status = if self.is_completed() { "completed" } else { "failed" };
        let status = serde_json::value::to_raw_value(status).map_err(|error| Error::json("outcome", error))?;
        members.insert("status".to_owned(), status);
        Ok(members)
    }
}

/// Asks the one handler that runs to stop.
#[derive(Default)]
struct Alone {
    ctx: OnceLock<JobContext>,
}

impl Dispatch for Alone {
    fn capacity(&self) -> usize {
        0
    }

    fn dispatch(&self, _: Vec<Delivery>) {}

    fn cancel(&self, _: DeliveryKey, why: CancelReason) {
        if let Some(ctx) = self.ctx.get() {
            ctx.cancel(why);
        }
    }

    fn phase(&self, _: Phase) {}
}

impl Worker {
    /// Runs the handler of a job inside the layers, for `limit` at most. With a server, its context sends heartbeats,
    /// checkpoints and progress under the lease of `worker_id`.
    ///
    /// # Errors
    /// [`Error::Serialization`] for what is no job.
    pub(crate) async fn run_delivered(
        &self,
        envelope: Bytes,
        worker_id: &str,
        has_server: bool,
        limit: Option<Duration>,
    ) -> Result<Ended, Error> {
        let job: &RawValue = serde_json::from_slice(&envelope).map_err(|error| Error::json("job", error))?;
        let head =
            Head::read(job.get()).map_err(|missing| Error::json("job", format_args!("its {missing} is missing or no text")))?;
        let own = head.timeout_ms().map(Duration::from_millis);
        let limit = [limit, own].into_iter().flatten().min();
        let entry = Entry {
            id: head.id.as_str().into(),
            lease_token: head.lease_token,
            lease_until: Instant::now(),
            about: head.about(&envelope),
            stage: Stage::Running,
            cancelled: None,
            durable: Some(Arc::new(Durable::delivered(head.checkpoint.as_deref()))),
        };
        let dispatch = Arc::new(Alone::default());
        let options = WorkerOptions { worker_id: Some(worker_id.to_owned()), ..self.options.clone() };
        let shared = Arc::new(Shared::new(Arc::clone(&self.transport), options, Arc::clone(&dispatch) as Arc<dyn Dispatch>));
        // The server fences its leases, so it is sent the list form of heartbeats at once.
        shared.list_heartbeats.store(true, std::sync::atomic::Ordering::Relaxed);
        shared.held().insert(KEY, entry.clone());
        let link = if has_server { Arc::downgrade(&shared) } else { Weak::new() };
        let outcome = match self.prepared(KEY, Envelope { head, text: envelope }, link) {
            Ok((ctx, next)) => {
                // Set only here.
                let _ = dispatch.ctx.set(ctx.clone());
                within(&ctx, next, limit).await
            }
            Err(failure) => Outcome::Failed(failure),
        };
        shared.held().settle(KEY);
        Ok(Ended { report: Report::new(KEY, &entry, outcome), worker_id: worker_id.to_owned() })
    }

    /// The connection of this worker.
    pub(crate) fn transport(&self) -> &Arc<dyn Transport> {
        &self.transport
    }

    /// How many of its handlers run at a time.
    pub(crate) fn concurrency(&self) -> usize {
        self.options.concurrency
    }
}

/// The outcome of a handler, or the failure `timeout`. A handler that has completed late has completed.
async fn within(ctx: &JobContext, next: Next, limit: Option<Duration>) -> Outcome {
    let run = async {
        match AssertUnwindSafe(next.run(ctx.clone())).catch_unwind().await {
            Ok(result) => outcome(ctx, result),
            Err(panic) => Outcome::Failed(HandlerFailure::panic(panic_message(&*panic))),
        }
    };
    let Some(limit) = limit else { return run.await };
    let mut run = std::pin::pin!(run);
    if let Ok(outcome) = timeout(limit, &mut run).await {
        return outcome;
    }
    ctx.cancel(CancelReason::TimedOut);
    match timeout(WIND_UP, &mut run).await {
        Ok(late @ Outcome::Completed { .. }) => late,
        _ => {
            let message = "The attempt took longer than its timeout_ms, or than the platform allows.".to_owned();
            Outcome::Failed(HandlerFailure { message, ..HandlerFailure::timeout() })
        }
    }
}
