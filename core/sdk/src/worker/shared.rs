//! State that the tasks of one worker share: its id, the deliveries that it holds, and its phase.
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, broadcast, watch};
use tokio::time::Instant;

use super::event::WorkerEvent;
use super::failures;
use super::handle::Beat;
use super::heartbeat;
use super::held::{About, Entry, Held, Stage};
use super::options::WorkerOptions;
use crate::dispatch::{CancelReason, Delivery, DeliveryKey, Dispatch, Outcome, Phase};
use crate::encryption::Codec;
use crate::error::Error;
use crate::transport::Transport;

/// Events kept for a slow subscriber. Events are rare: faults and phases, never one per job.
const EVENT_BACKLOG: usize = 256;

/// The phase of the worker, and when its grace period ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Control {
    pub phase: Phase,
    /// Set while draining.
    pub grace_ends: Option<Instant>,
}

pub(super) struct Shared {
    pub worker_id: String,
    pub options: WorkerOptions,
    pub transport: Arc<dyn Transport>,
    pub dispatch: Arc<dyn Dispatch>,
    /// The versions that the worker runs, as JSON; `None` when it declares none.
    pub declared: Option<String>,
    pub events: broadcast::Sender<WorkerEvent>,
    /// The server understands only the list form of heartbeats (protocol section 10, row 37).
    pub list_heartbeats: AtomicBool,
    /// Held by the heartbeat that is under way.
    pub beating: tokio::sync::Mutex<()>,
    /// The server shows the descriptions of workers to operators.
    pub shown: AtomicBool,
    /// A slot may have become free, or the phase has changed.
    pub wake: Notify,
    control: watch::Sender<Control>,
    held: Mutex<Held>,
    next_key: AtomicU64,
}

impl Shared {
    pub fn new(transport: Arc<dyn Transport>, options: WorkerOptions, dispatch: Arc<dyn Dispatch>) -> Self {
        let worker_id = options.worker_id.clone().unwrap_or_else(|| format!("worker_{}", ojs_model::JobId::now_v7()));
        let declared = options.versions.declared(dispatch.job_types().as_deref());
        Self {
            worker_id,
            options,
            declared,
            transport,
            dispatch,
            events: broadcast::channel(EVENT_BACKLOG).0,
            list_heartbeats: AtomicBool::new(false),
            beating: tokio::sync::Mutex::new(()),
            shown: AtomicBool::new(false),
            wake: Notify::new(),
            control: watch::channel(Control { phase: Phase::Running, grace_ends: None }).0,
            held: Mutex::new(Held::default()),
            next_key: AtomicU64::new(1),
        }
    }

    /// The table of held deliveries. Locked for lookups only: never across an await or a call into `dispatch`.
    pub fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn held_count(&self) -> usize {
        self.held().len()
    }

    pub fn next_key(&self) -> DeliveryKey {
        DeliveryKey(self.next_key.fetch_add(1, Ordering::Relaxed))
    }

    pub fn emit(&self, event: WorkerEvent) {
        // No subscriber is no fault.
        let _ = self.events.send(event);
    }

    // --- phases ---

    pub fn control(&self) -> watch::Receiver<Control> {
        self.control.subscribe()
    }

    pub fn phase(&self) -> Phase {
        self.control.borrow().phase
    }

    pub fn quiet(&self) {
        self.change(|control| control.phase == Phase::Running, |control| control.phase = Phase::Quiet);
    }

    pub fn resume(&self) {
        self.change(|control| control.phase == Phase::Quiet, |control| control.phase = Phase::Running);
    }

    pub fn stop(&self, grace: Option<Duration>) {
        let now = Instant::now();
        let grace = grace.unwrap_or(self.options.grace_period);
        self.change(
            |control| control.phase <= Phase::Draining,
            |control| {
                // A second stop ends the grace period.
                let ends = if control.phase == Phase::Draining { now } else { now + grace };
                control.phase = Phase::Draining;
                control.grace_ends = Some(control.grace_ends.map_or(ends, |earlier| earlier.min(ends)));
            },
        );
    }

    /// The last step: no outcome is accepted any more.
    pub fn set_stopped(&self) {
        self.change(|_| true, |control| control.phase = Phase::Stopped);
    }

    fn change(&self, applies: impl Fn(&Control) -> bool, change: impl FnOnce(&mut Control)) {
        let changed = self.control.send_if_modified(|control| {
            let before = (control.phase, control.grace_ends);
            if applies(control) {
                change(control);
            }
            before != (control.phase, control.grace_ends)
        });
        if changed {
            self.wake();
        }
    }

    pub async fn stopped(&self) {
        // The sender lives in self: waiting cannot fail.
        let _ = self.control().wait_for(|control| control.phase == Phase::Stopped).await;
    }

    pub fn wake(&self) {
        self.wake.notify_one();
    }

    // --- calls into the host, each behind a guard: a panic in a host must not stop the worker ---

    pub fn capacity(&self) -> usize {
        self.guarded("capacity", || self.dispatch.capacity()).unwrap_or(0)
    }

    /// The types that have a handler; `None` when every type has.
    pub fn job_types(&self) -> Option<Vec<String>> {
        self.guarded("job types", || self.dispatch.job_types()).flatten()
    }

    pub fn hand_over(&self, mut batch: Vec<Delivery>) {
        if let Some(codec) = self.transport.codec() {
            batch = readable(codec, batch);
        }
        // Deliveries lost in a panic report themselves abandoned.
        self.guarded("dispatch", || self.dispatch.dispatch(batch));
    }

    /// Asks the handler of a run to stop because the server does not want the run any more.
    pub fn stop_run(&self, key: DeliveryKey, job_id: &str, about: &About, reason: CancelReason) {
        match reason {
            CancelReason::LeaseLost => failures::log_lease_lost(&self.worker_id, job_id, about),
            // A client has cancelled the job, which is no failure.
            _ => tracing::info!(worker = %self.worker_id, %job_id, ?reason, "the server no longer wants this run"),
        }
        self.cancel(key, job_id, reason);
    }

    pub fn cancel(&self, key: DeliveryKey, job_id: &str, reason: CancelReason) {
        self.guarded("cancel", || self.dispatch.cancel(key, reason));
        self.emit(WorkerEvent::Cancelled { job_id: job_id.to_owned(), reason });
    }

    pub fn announce(&self, phase: Phase) {
        tracing::info!(worker = %self.worker_id, ?phase, "worker phase");
        self.guarded("phase", || self.dispatch.phase(phase));
        self.emit(WorkerEvent::Phase(phase));
    }

    fn guarded<R>(&self, part: &'static str, call: impl FnOnce() -> R) -> Option<R> {
        match catch_unwind(AssertUnwindSafe(call)) {
            Ok(value) => Some(value),
            Err(panic) => {
                self.restarted(part, panic_message(&*panic));
                None
            }
        }
    }

    pub fn restarted(&self, part: &'static str, message: String) {
        tracing::error!(worker = %self.worker_id, part, panic = %message, "a part of the worker panicked and was started again");
        self.emit(WorkerEvent::Restarted { part, message });
    }

    // --- one-off heartbeat ---

    pub async fn heartbeat_one(&self, key: DeliveryKey) -> Result<Beat, Error> {
        let running = |entry: &&Entry| entry.stage == Stage::Running;
        let entry = self.held().get(key).filter(running).cloned();
        let entry = entry.ok_or(Error::NotHeld)?;
        if let Some(reason) = entry.cancelled {
            return Ok(Beat::Cancelled(reason));
        }
        heartbeat::beat(self, &[(key, entry)]).await?;
        let after = self.held().get(key).map(|entry| entry.cancelled);
        match after {
            None => Err(Error::NotHeld),
            Some(None) => Ok(Beat::Continue),
            Some(Some(reason)) => Ok(Beat::Cancelled(reason)),
        }
    }
}

/// The text of a panic.
pub(super) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&'static str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic without a message".to_owned())
}

/// Decrypts the arguments of deliveries; a delivery that cannot be decrypted is failed here.
fn readable(codec: &Codec, batch: Vec<Delivery>) -> Vec<Delivery> {
    let mut clear = Vec::with_capacity(batch.len());
    for mut delivery in batch {
        let decoded = std::str::from_utf8(&delivery.envelope).map_or(Ok(None), |text| codec.decode(text));
        match decoded {
            Ok(text) => {
                if let Some(text) = text {
                    delivery.envelope = text.into();
                }
                clear.push(delivery);
            }
            Err(error) => {
                delivery.completion.finish(Outcome::Failed(error.failure()));
            }
        }
    }
    clear
}
