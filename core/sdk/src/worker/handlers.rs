//! Rust handlers as a [`Dispatch`]: one task per run, panics contained, cancellation by token and then by force.
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::AbortHandle;
use tracing::Instrument;

use super::context::JobContext;
use super::result::HandlerResult;
use super::shared::{Shared, panic_message};
use crate::dispatch::{CancelReason, Completion, Delivery, DeliveryKey, Dispatch, HandlerFailure, Outcome, Phase};
use crate::middleware::{Innermost, Middleware, Next};

/// How long a handler that was asked to stop may still run before its task is aborted.
const ABORT_AFTER: Duration = Duration::from_secs(1);

pub(super) struct Handlers {
    table: HashMap<String, Innermost>,
    layers: Arc<[Arc<dyn Middleware>]>,
    slots: usize,
    running: AtomicUsize,
    runs: Mutex<HashMap<DeliveryKey, Run>>,
    /// Set right after the start. Weak: the worker holds this.
    pub worker: OnceLock<Weak<Shared>>,
    itself: Weak<Handlers>,
}

struct Run {
    ctx: JobContext,
    task: AbortHandle,
}

/// Occupies a slot until dropped.
struct Slot {
    handlers: Arc<Handlers>,
    key: DeliveryKey,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.handlers.runs().remove(&self.key);
        self.handlers.running.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Handlers {
    pub fn new(table: HashMap<String, Innermost>, layers: Arc<[Arc<dyn Middleware>]>, slots: usize) -> Arc<Self> {
        Arc::new_cyclic(|itself| Self {
            table,
            layers,
            slots,
            running: AtomicUsize::new(0),
            runs: Mutex::new(HashMap::new()),
            worker: OnceLock::new(),
            itself: itself.clone(),
        })
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<DeliveryKey, Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(self: &Arc<Self>, mut delivery: Delivery) {
        let Some(handler) = self.table.get(&delivery.job_type).cloned() else {
            tracing::error!(job_id = %delivery.id, job_type = %delivery.job_type, "no handler is registered for this job type");
            delivery.completion.finish(Outcome::Failed(HandlerFailure::no_handler(&delivery.job_type)));
            return;
        };
        self.running.fetch_add(1, Ordering::AcqRel);
        let key = delivery.key;
        let ctx = JobContext::new(&mut delivery, self.worker.get().cloned().unwrap_or_default());
        let slot = Slot { handlers: Arc::clone(self), key };
        let next = Next::new(Arc::clone(&self.layers), handler);
        // Under the lock: the run cannot end before it is in the table.
        let mut runs = self.runs();
        let task = tokio::spawn(run(ctx.clone(), next, delivery.completion, slot));
        runs.insert(key, Run { ctx, task: task.abort_handle() });
    }
}

/// One run. When the task is aborted, the slot goes first (declared last) and the completion reports itself abandoned.
async fn run(ctx: JobContext, next: Next, completion: Completion, slot: Slot) {
    let completion = completion;
    let slot = slot;
    let span = tracing::info_span!("job", id = ctx.id(), job_type = ctx.job_type(), attempt = ctx.attempt());
    let result = AssertUnwindSafe(next.run(ctx.clone())).catch_unwind().instrument(span).await;
    let outcome = match result {
        Ok(result) => outcome(&ctx, result),
        Err(panic) => {
            let message = panic_message(&*panic);
            tracing::error!(job_id = ctx.id(), job_type = ctx.job_type(), panic = %message, "handler panicked");
            Outcome::Failed(HandlerFailure::panic(message))
        }
    };
    drop(slot);
    completion.finish(outcome);
}

fn outcome(ctx: &JobContext, result: HandlerResult) -> Outcome {
    match result {
        Ok(result) => Outcome::Completed { result: result.or_else(|| ctx.take_result()).map(|json| json.as_bytes().clone()) },
        Err(error) => {
            tracing::warn!(job_id = ctx.id(), job_type = ctx.job_type(), attempt = ctx.attempt(), %error, "handler did not complete");
            error.into_outcome()
        }
    }
}

impl Dispatch for Handlers {
    fn capacity(&self) -> usize {
        self.slots.saturating_sub(self.running.load(Ordering::Acquire))
    }

    fn dispatch(&self, batch: Vec<Delivery>) {
        let Some(itself) = self.itself.upgrade() else { return };
        for delivery in batch {
            itself.start(delivery);
        }
    }

    fn cancel(&self, key: DeliveryKey, why: CancelReason) {
        let run = self.runs().get(&key).map(|run| (run.ctx.clone(), run.task.clone()));
        if let Some((ctx, task)) = run {
            ctx.cancel(why);
            tokio::spawn(async move {
                tokio::time::sleep(ABORT_AFTER).await;
                task.abort();
            });
        }
    }

    fn phase(&self, phase: Phase) {
        if phase == Phase::Stopped {
            for run in self.runs().values() {
                run.task.abort();
            }
        }
    }
}
