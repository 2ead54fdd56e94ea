//! Rust handlers as a [`Dispatch`]: one task per run, panics contained, cancellation by token and then by force.
use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tracing::Instrument;

use super::context::JobContext;
use super::prefetch::Prefetch;
use super::result::HandlerResult;
use super::shared::{Shared, panic_message};
use super::versions::Transforms;
use crate::dispatch::{CancelReason, Completion, Delivery, DeliveryKey, Dispatch, HandlerFailure, Outcome, Phase};
use crate::middleware::{Innermost, Middleware, Next};

/// How long a handler that was asked to stop may still run before its task is aborted.
const ABORT_AFTER: Duration = Duration::from_secs(1);
/// Jobs that wait this long for a slot go back to the server: the handlers have become slower than before.
const STALE_AFTER: Duration = Duration::from_secs(1);

pub(super) struct Handlers {
    table: HashMap<String, Innermost>,
    transforms: Transforms,
    layers: Arc<[Arc<dyn Middleware>]>,
    slots: usize,
    prefetch: Prefetch,
    /// Jobs that run or wait.
    occupied: AtomicUsize,
    work: Mutex<Work>,
    runtime: Handle,
    /// Set right after the start. Weak: the worker holds this.
    pub worker: OnceLock<Weak<Shared>>,
    itself: Weak<Handlers>,
}

#[derive(Default)]
struct Work {
    runs: foldhash::HashMap<DeliveryKey, Run>,
    /// Slots in use. A slot that passes from one run to the next stays in use.
    running: usize,
    /// Jobs that wait for a slot.
    waiting: VecDeque<Delivery>,
    /// A task watches how long they wait.
    watched: bool,
}

struct Run {
    ctx: JobContext,
    task: AbortHandle,
}

/// Occupies a slot until dropped; then the next job that waits gets it.
struct Slot {
    handlers: Arc<Handlers>,
    key: DeliveryKey,
    began: Instant,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.handlers.prefetch.learn(self.began.elapsed());
        self.handlers.occupied.fetch_sub(1, Ordering::AcqRel);
        let mut work = self.handlers.work();
        work.runs.remove(&self.key);
        match work.waiting.pop_front() {
            Some(next) => self.handlers.begin(&mut work, next),
            None => work.running -= 1,
        }
    }
}

impl Handlers {
    /// Needs a tokio runtime.
    pub fn new(
        table: HashMap<String, Innermost>,
        transforms: Transforms,
        layers: Arc<[Arc<dyn Middleware>]>,
        slots: usize,
        prefetch: Duration,
    ) -> Arc<Self> {
        Arc::new_cyclic(|itself| Self {
            table,
            transforms,
            layers,
            slots,
            prefetch: Prefetch::new(slots, prefetch),
            occupied: AtomicUsize::new(0),
            work: Mutex::default(),
            runtime: Handle::current(),
            worker: OnceLock::new(),
            itself: itself.clone(),
        })
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a run in a slot that is counted already. Under the lock: it cannot end before it is in the table.
    fn begin(self: &Arc<Self>, work: &mut Work, mut delivery: Delivery) {
        let handler = match self.transforms.apply(&mut delivery) {
            Ok(()) => self.table.get(&delivery.job_type).cloned().unwrap_or_else(|| missing(&delivery.job_type)),
            Err(failure) => failing(failure),
        };
        let key = delivery.key;
        let ctx = JobContext::new(&mut delivery, self.worker.get().cloned().unwrap_or_default());
        let slot = Slot { handlers: Arc::clone(self), key, began: Instant::now() };
        let next = Next::new(Arc::clone(&self.layers), handler);
        let task = self.runtime.spawn(run(ctx.clone(), next, delivery.completion, slot));
        work.runs.insert(key, Run { ctx, task: task.abort_handle() });
    }

    /// Gives back what waits.
    fn release_waiting(&self) {
        let waiting = std::mem::take(&mut self.work().waiting);
        self.occupied.fetch_sub(waiting.len(), Ordering::AcqRel);
        for delivery in waiting {
            delivery.completion.finish(Outcome::Released);
        }
    }

    /// Gives waiting jobs back when the running handlers have become slow.
    fn watch(self: &Arc<Self>, work: &mut Work) {
        if std::mem::replace(&mut work.watched, true) {
            return;
        }
        let handlers = Arc::clone(self);
        self.runtime.spawn(async move {
            loop {
                let first = handlers.work().waiting.front().map(|delivery| delivery.key);
                tokio::time::sleep(STALE_AFTER).await;
                let mut work = handlers.work();
                if work.waiting.is_empty() {
                    work.watched = false;
                    return;
                }
                let stale = first.is_some() && work.waiting.front().map(|delivery| delivery.key) == first;
                drop(work);
                if stale {
                    tracing::warn!("handlers have become slow: jobs that wait for a slot are given back");
                    handlers.prefetch.stalled();
                    handlers.release_waiting();
                }
            }
        });
    }
}

/// The handler of types that have none: it fails. Layers see this like any failure.
pub(super) fn missing(job_type: &str) -> Innermost {
    failing(HandlerFailure::no_handler(job_type))
}

/// What runs instead of a handler to fail a job.
pub(super) fn failing(failure: HandlerFailure) -> Innermost {
    Arc::new(move |_| Box::pin(std::future::ready(Err(failure.clone().into()))))
}

/// One run. When the task is aborted, the slot goes first (declared last) and the completion reports itself abandoned.
async fn run(ctx: JobContext, next: Next, completion: Completion, slot: Slot) {
    let completion = completion;
    let slot = slot;
    let span = tracing::info_span!("job", id = ctx.id(), job_type = ctx.job_type(), attempt = ctx.attempt());
    let result = AssertUnwindSafe(next.run(ctx.clone())).catch_unwind().instrument(span).await;
    let outcome = match result {
        Ok(result) => outcome(&ctx, result),
        Err(panic) => Outcome::Failed(HandlerFailure::panic(panic_message(&*panic))),
    };
    drop(slot);
    completion.finish(outcome);
}

pub(super) fn outcome(ctx: &JobContext, result: HandlerResult) -> Outcome {
    match result {
        Ok(result) => Outcome::Completed { result: result.or_else(|| ctx.take_result()).map(|json| json.as_bytes().clone()) },
        Err(error) => error.into_outcome(),
    }
}

impl Dispatch for Handlers {
    fn job_types(&self) -> Option<Vec<String>> {
        Some(self.table.keys().cloned().collect())
    }

    fn capacity(&self) -> usize {
        (self.slots + self.prefetch.target()).saturating_sub(self.occupied.load(Ordering::Acquire))
    }

    fn dispatch(&self, batch: Vec<Delivery>) {
        let Some(itself) = self.itself.upgrade() else { return };
        self.occupied.fetch_add(batch.len(), Ordering::AcqRel);
        let mut work = self.work();
        for delivery in batch {
            if work.running < self.slots {
                work.running += 1;
                itself.begin(&mut work, delivery);
            } else {
                work.waiting.push_back(delivery);
            }
        }
        if !work.waiting.is_empty() {
            itself.watch(&mut work);
        }
    }

    fn cancel(&self, key: DeliveryKey, why: CancelReason) {
        let mut work = self.work();
        if let Some(at) = work.waiting.iter().position(|delivery| delivery.key == key) {
            let delivery = work.waiting.remove(at);
            drop(work);
            self.occupied.fetch_sub(1, Ordering::AcqRel);
            if let Some(delivery) = delivery {
                delivery.completion.finish(Outcome::Released);
            }
            return;
        }
        let run = work.runs.get(&key).map(|run| (run.ctx.clone(), run.task.clone()));
        drop(work);
        if let Some((ctx, task)) = run {
            ctx.cancel(why);
            self.runtime.spawn(async move {
                tokio::time::sleep(ABORT_AFTER).await;
                task.abort();
            });
        }
    }

    fn phase(&self, phase: Phase) {
        if phase != Phase::Running {
            self.release_waiting();
        }
        if phase == Phase::Stopped {
            let tasks: Vec<_> = self.work().runs.values().map(|run| run.task.clone()).collect();
            tasks.iter().for_each(AbortHandle::abort);
        }
    }
}
