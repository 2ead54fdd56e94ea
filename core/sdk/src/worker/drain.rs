//! The end of a worker (protocol section 5.7): wait for handlers, ask the remaining ones to stop, give unfinished jobs
//! back, deliver the remaining outcomes, send the last heartbeat.
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::event::WorkerEvent;
use super::failures;
use super::heartbeat;
use super::held::{Entry, Stage};
use super::worker_loop::WorkerLoop;
use crate::dispatch::{CancelReason, DeliveryKey, Outcome, Phase};
use crate::error::Error;

/// How long before the end of the grace period handlers are cancelled: time to clean up and still report.
const CANCEL_LEAD: Duration = Duration::from_secs(1);
/// How long the drain waits for the answer to a fetch when nothing else is left to do: it may bring jobs, which are
/// given back.
const CLAIM_LINGER: Duration = Duration::from_secs(3);
/// After this time the log says which jobs delay the end, for a person who has pressed Ctrl-C and waits.
const REMIND_FIRST: Duration = Duration::from_secs(1);
/// How often the log says how many jobs are left.
const REMIND_EVERY: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Drain {
    began: Instant,
    grace_ends: Instant,
    /// How long outcomes may take to reach the server after that.
    flush_for: Duration,
    cancelled: bool,
    released: bool,
    reminded: bool,
    remind_at: Instant,
    empty_since: Option<Instant>,
}

impl Drain {
    /// Starts the drain, or brings its end forward.
    pub fn begin_or_hasten(drain: &mut Option<Self>, grace_ends: Instant, flush_for: Duration) {
        let now = Instant::now();
        let drain = drain.get_or_insert(Self {
            began: now,
            grace_ends,
            flush_for,
            cancelled: false,
            released: false,
            reminded: false,
            remind_at: now + REMIND_FIRST,
            empty_since: None,
        });
        drain.grace_ends = drain.grace_ends.min(grace_ends);
    }

    fn cancel_at(&self) -> Instant {
        let grace = self.grace_ends.saturating_duration_since(self.began);
        self.grace_ends - CANCEL_LEAD.min(grace / 4)
    }

    pub fn next_wake(&self, now: Instant) -> Instant {
        let steps = [
            (!self.cancelled).then(|| self.cancel_at()),
            (!self.released).then_some(self.grace_ends),
            Some(self.grace_ends + self.flush_for),
            Some(self.remind_at),
            self.empty_since.map(|since| since + CLAIM_LINGER),
        ];
        steps.into_iter().flatten().filter(|at| *at > now).min().unwrap_or(now + CLAIM_LINGER)
    }
}

impl WorkerLoop {
    /// Takes the steps of the drain that are due. True when the worker may stop.
    pub(super) fn drained(&mut self, now: Instant) -> bool {
        let Some(drain) = &mut self.drain else { return false };
        let (held, running) = {
            let held = self.shared.held();
            (held.len(), held.running())
        };
        if held == 0 {
            let since = *drain.empty_since.get_or_insert(now);
            return self.claims_are_over() || now >= since + CLAIM_LINGER;
        }
        drain.empty_since = None;
        if now >= drain.remind_at {
            drain.remind_at = now + REMIND_EVERY;
            let for_at_most = drain.grace_ends.saturating_duration_since(now);
            if running > 0 && !std::mem::replace(&mut drain.reminded, true) {
                tracing::warn!(
                    worker = %self.shared.worker_id, running, ?for_at_most,
                    "stopping, and waiting for running jobs"
                );
            } else {
                tracing::info!(worker = %self.shared.worker_id, running, held, "draining");
            }
        }
        let cancel = !drain.cancelled && now >= drain.cancel_at();
        let release = !drain.released && now >= drain.grace_ends;
        let over = now >= drain.grace_ends + drain.flush_for;
        drain.cancelled |= cancel;
        drain.released |= release;
        if cancel {
            self.cancel_running();
        }
        if release {
            self.release_running();
        }
        if over {
            self.abandon_reports(now);
        }
        over || self.shared.held_count() == 0 && self.claims_are_over()
    }

    fn running(&self) -> Vec<(DeliveryKey, Arc<str>)> {
        let held = self.shared.held();
        held.iter().filter(|(_, entry)| entry.stage == Stage::Running).map(|(key, entry)| (key, Arc::clone(&entry.id))).collect()
    }

    fn cancel_running(&mut self) {
        for (key, job_id) in self.running() {
            if let Some(entry) = self.shared.held().get_mut(key) {
                entry.cancelled.get_or_insert(CancelReason::Shutdown);
            }
            self.shared.cancel(key, &job_id, CancelReason::Shutdown);
        }
    }

    fn release_running(&mut self) {
        let running = self.running();
        if running.is_empty() {
            return;
        }
        let release = self.shared.options.release_on_shutdown;
        tracing::warn!(worker = %self.shared.worker_id, jobs = running.len(), release, "grace period over with unfinished jobs");
        for (key, _) in &running {
            if release {
                self.fix(*key, Outcome::Released);
            } else {
                self.shared.held().remove(*key);
            }
        }
        if release {
            self.shared.emit(WorkerEvent::Released { jobs: running.len() });
        }
    }

    /// Gives up every outcome that the server has not confirmed, those of requests under way included.
    fn abandon_reports(&mut self, now: Instant) {
        self.reporting.pending.clear();
        let left: Vec<Entry> = self.shared.held().drain();
        for entry in left {
            failures::log_abandoned(&self.shared.worker_id, &entry, now);
            let error = Arc::new(Error::NotHeld);
            self.shared.emit(WorkerEvent::OutcomeLost { job_id: entry.id.to_string(), error });
        }
    }

    /// The last steps, after the loop.
    pub(super) async fn conclude(mut self) {
        self.abort_requests().await;
        heartbeat::farewell(&self.shared).await;
        self.shared.announce(Phase::Stopped);
        self.shared.set_stopped();
    }
}
