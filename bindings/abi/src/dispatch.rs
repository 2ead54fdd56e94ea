//! [`HostDispatch`]: the worker driver on one side, the lanes of a host language on the other.
//!
//! | step | who | what |
//! |---|---|---|
//! | dispatch | driver | jobs go into the token table, their tokens into the mailbox of the lane for their type |
//! | pull | host | tokens come out in batches, sized by [`Pace`] |
//! | step | host thread | answers the job before, begins the next; false = that job is not yours any more |
//! | complete | host | answers go to the driver at once; `step` holds them back for at most [`FLUSH`] |
//! | stopped | driver | lanes close, whatever was not begun is released |
//!
//! Every job is answered exactly once, because an answer consumes its [`Completion`](ojs::dispatch::Completion) and a
//! dropped one reports itself. All locks are leaves: neither host nor driver is called while one is held, so `complete`,
//! `step` and `cancelled` may be called under a host's global lock.
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use ojs::dispatch::{CancelReason, Completion, Delivery, DeliveryKey, Dispatch, HandlerFailure, Outcome, Phase};
use tokio::sync::Notify;

use crate::doorbell::Doorbell;
use crate::error::AbiError;
use crate::lane::{Lane, LaneKind, Looked, STUCK, Told, Wait};
use crate::pace::Pace;
use crate::process::Owner;
use crate::sync::lock;
use crate::token::{Entry, Job, JobToken, Stage, Table};

/// Longest time that a finished job waits behind the next one of its batch.
pub const FLUSH: Duration = Duration::from_millis(2);

/// A job in the hands of the host.
#[derive(Debug, Clone)]
pub struct Handed {
    /// The name under which the host answers.
    pub token: JobToken,
    /// The job.
    pub job: Arc<Job>,
}

/// The result of `pull`.
#[derive(Debug)]
pub enum Pull {
    /// At least one job.
    Jobs(Vec<Handed>),
    /// Nothing within the time.
    TimedOut,
    /// `unblock` was called.
    Unblocked,
    /// The worker has stopped: leave the loop.
    Closed,
}

/// The result of `cancellations`.
#[derive(Debug, PartialEq, Eq)]
pub enum Cancels {
    /// At least one running job that should stop.
    Jobs(Vec<(JobToken, CancelReason)>),
    /// Nothing within the time.
    TimedOut,
    /// `unblock` was called.
    Unblocked,
    /// The worker has stopped: leave the loop.
    Closed,
}

/// The lanes of job types.
#[derive(Debug, Default)]
pub struct Routes {
    /// Lane number per job type.
    pub types: HashMap<String, usize>,
    /// Lane for every other type; without one such jobs fail with `no_handler`.
    pub fallback: Option<usize>,
}

#[derive(Debug, Default)]
struct HeldJobs {
    table: Table,
    /// Answers given by `step`, not yet with the driver.
    finished: Vec<(Completion, Outcome)>,
}

/// The stock implementation of [`Dispatch`] for every host language.
#[derive(Debug)]
pub struct HostDispatch {
    owner: Owner,
    lanes: Vec<Lane>,
    routes: Routes,
    concurrency: usize,
    pace: Pace,
    held_jobs: Mutex<HeldJobs>,
    phase: AtomicU8,
    closed: AtomicBool,
    tend: Notify,
}

impl HostDispatch {
    /// A dispatcher with one lane per kind given; `concurrency` handlers run at a time, over all lanes.
    #[must_use]
    pub fn new(kinds: &[LaneKind], routes: Routes, concurrency: usize) -> Arc<Self> {
        Arc::new(Self {
            owner: Owner::current(),
            lanes: kinds.iter().copied().map(Lane::new).collect(),
            routes,
            concurrency: concurrency.max(1),
            pace: Pace::default(),
            held_jobs: Mutex::default(),
            phase: AtomicU8::new(0),
            closed: AtomicBool::new(false),
            tend: Notify::new(),
        })
    }

    /// Flushes held-back answers and wakes threads for stuck batches until the dispatcher closes or is dropped.
    /// Spawn it once on the runtime.
    pub async fn tend(this: Weak<Self>) {
        loop {
            let Some(strong) = this.upgrade() else { return };
            let idle = !strong.sweep();
            if strong.closed.load(Ordering::Acquire) {
                return;
            }
            if idle {
                strong.tend.notified().await;
            }
            drop(strong);
            tokio::time::sleep(FLUSH).await;
        }
    }

    /// One round of maintenance; false when there is nothing to do.
    fn sweep(&self) -> bool {
        let flushed = self.flush();
        let now = Instant::now();
        let mut waiting = false;
        for (at, lane) in self.lanes.iter().enumerate() {
            if let Some(oldest) = lock(&self.held_jobs).table.oldest_unbegun(at) {
                waiting = true;
                if now.saturating_duration_since(oldest) >= STUCK {
                    lane.wake_one();
                }
            }
        }
        flushed || waiting
    }

    /// Takes up to `max` jobs from a lane, waiting as told. Answers held back by `step` go out first.
    ///
    /// # Errors
    /// Forked, or an unknown lane.
    pub fn pull(&self, lane: usize, max: usize, wait: Wait) -> Result<Pull, AbiError> {
        self.pull_since(lane, max, wait, self.unblocks(lane)?)
    }

    /// How often a lane has been unblocked; for [`pull_since`](Self::pull_since).
    ///
    /// # Errors
    /// Forked, or an unknown lane.
    pub fn unblocks(&self, lane: usize) -> Result<u64, AbiError> {
        Ok(self.lane(lane)?.unblocks())
    }

    /// As [`pull`](Self::pull); an unblock that came after `unblocks` were counted counts, also when it came before this call. For
    /// hosts that may interrupt a thread which is on its way into the pull.
    ///
    /// # Errors
    /// Forked, or an unknown lane.
    pub fn pull_since(&self, lane: usize, max: usize, wait: Wait, unblocks: u64) -> Result<Pull, AbiError> {
        let (at, lane) = (lane, self.lane(lane)?);
        self.flush();
        let until = wait.deadline();
        loop {
            if lane.kind == LaneKind::Threads {
                let stuck = lock(&self.held_jobs).table.reclaim(at, STUCK, lane.pace.batch(1, 1, max), Instant::now());
                if !stuck.is_empty() {
                    return Ok(Pull::Jobs(stuck.into_iter().map(|(token, job)| Handed { token, job }).collect()));
                }
            }
            match lane.look(max, until, unblocks) {
                Looked::Jobs(tokens) => {
                    let jobs = self.hand_over(lane.kind, &tokens);
                    if !jobs.is_empty() {
                        return Ok(Pull::Jobs(jobs));
                    }
                }
                Looked::Empty => {}
                Looked::Unblocked => return Ok(Pull::Unblocked),
                Looked::TimedOut => return Ok(Pull::TimedOut),
                Looked::Closed => return Ok(Pull::Closed),
            }
        }
    }

    fn hand_over(&self, kind: LaneKind, tokens: &[JobToken]) -> Vec<Handed> {
        let now = Instant::now();
        let single = tokens.len() == 1;
        let mut held_jobs = lock(&self.held_jobs);
        let jobs = tokens.iter().filter_map(|token| {
            // Jobs cancelled while they waited have left the table.
            let entry = held_jobs.table.get_mut(*token)?;
            entry.stage = if kind == LaneKind::EventLoop { Stage::Running } else { Stage::Handed(now) };
            Some(Handed { token: *token, job: Arc::clone(&entry.job) })
        });
        let jobs = jobs.collect();
        drop(held_jobs);
        if kind == LaneKind::Threads && !single {
            self.tend.notify_one();
        }
        jobs
    }

    /// Answers the job before and begins `next`; false when `next` was cancelled or given to another thread: skip it.
    pub fn step(&self, done: Option<(JobToken, Outcome)>, next: JobToken) -> bool {
        let mut held_jobs = lock(&self.held_jobs);
        if let Some((token, outcome)) = done
            && let Some(entry) = held_jobs.table.take(token)
        {
            held_jobs.finished.push((entry.completion, outcome));
        }
        let wake = held_jobs.finished.len() == 1;
        let begun = match held_jobs.table.get_mut(next) {
            Some(entry) if entry.stage != Stage::Running => {
                entry.stage = Stage::Running;
                true
            }
            _ => false,
        };
        drop(held_jobs);
        if wake {
            self.tend.notify_one();
        }
        begun
    }

    /// Hands answers to the driver. Returns how many were stale: answered, cancelled or given away before.
    ///
    /// # Errors
    /// Forked.
    pub fn complete(&self, answers: Vec<(JobToken, Outcome)>) -> Result<usize, AbiError> {
        self.owner.check("a worker")?;
        let count = answers.len();
        let mut held_jobs = lock(&self.held_jobs);
        let known = answers.into_iter().filter_map(|(token, outcome)| Some((held_jobs.table.take(token)?.completion, outcome)));
        let known: Vec<(Completion, Outcome)> = known.collect();
        let finished = std::mem::take(&mut held_jobs.finished);
        drop(held_jobs);
        let stale = count - known.len();
        for (completion, outcome) in finished.into_iter().chain(known) {
            completion.finish(outcome);
        }
        Ok(stale)
    }

    /// Reports how long handlers took, for the sizes of batches: `jobs` handlers, `busy` together.
    pub fn observe(&self, lane: usize, jobs: usize, busy: Duration) {
        if let Some(lane) = self.lanes.get(lane) {
            lane.pace.observe(jobs, busy);
        }
        self.pace.observe(jobs, busy);
    }

    /// Why this job should stop, if it should. A token that is no longer known has lost its lease.
    #[must_use]
    pub fn cancelled(&self, token: JobToken) -> Option<CancelReason> {
        match lock(&self.held_jobs).table.get(token) {
            Some(entry) => entry.cancelled,
            None => Some(CancelReason::LeaseLost),
        }
    }

    /// The driver's name for a job, while it is unanswered.
    #[must_use]
    pub fn key(&self, token: JobToken) -> Option<DeliveryKey> {
        lock(&self.held_jobs).table.get(token).map(|entry| entry.key)
    }

    /// Running jobs of an event loop that should stop, each named once.
    ///
    /// # Errors
    /// Forked, or an unknown lane.
    pub fn take_cancels(&self, lane: usize) -> Result<Vec<(JobToken, CancelReason)>, AbiError> {
        Ok(self.lane(lane)?.take_cancels())
    }

    /// The same for a thread that waits for them, at most `max` at a time.
    ///
    /// # Errors
    /// Forked, or an unknown lane.
    pub fn cancellations(&self, lane: usize, max: usize, wait: Wait) -> Result<Cancels, AbiError> {
        let lane = self.lane(lane)?;
        let until = wait.deadline();
        let unblocks = lane.unblocks();
        loop {
            return Ok(match lane.listen(max, until, unblocks) {
                Told::Cancels(cancels) => Cancels::Jobs(cancels),
                Told::Empty => continue,
                Told::Unblocked => Cancels::Unblocked,
                Told::TimedOut => Cancels::TimedOut,
                Told::Closed => Cancels::Closed,
            });
        }
    }

    /// Sets the bell that is rung when jobs or cancellations arrive, or the worker ends.
    ///
    /// # Errors
    /// Forked, or an unknown lane.
    pub fn set_doorbell(&self, lane: usize, doorbell: Box<dyn Doorbell>) -> Result<(), AbiError> {
        self.lane(lane)?.set_doorbell(doorbell);
        Ok(())
    }

    /// Makes the bell silent; call it before draining the lane.
    ///
    /// # Errors
    /// Forked, or an unknown lane.
    pub fn rearm(&self, lane: usize) -> Result<(), AbiError> {
        self.lane(lane)?.rearm();
        Ok(())
    }

    /// Ends the wait of every thread in `pull`, once. Wait-free, from any thread.
    pub fn unblock(&self) {
        if self.owner.is_current() {
            self.lanes.iter().for_each(Lane::unblock);
        }
    }

    /// The latest phase that the driver has reported.
    #[must_use]
    pub fn current_phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Running,
            1 => Phase::Quiet,
            2 => Phase::Draining,
            _ => Phase::Stopped,
        }
    }

    /// Number of jobs that are not answered yet.
    #[must_use]
    pub fn held(&self) -> usize {
        lock(&self.held_jobs).table.held()
    }

    fn lane(&self, lane: usize) -> Result<&Lane, AbiError> {
        self.owner.check("a worker")?;
        self.lanes.get(lane).ok_or_else(|| AbiError::invalid(format!("no lane {lane}")))
    }

    /// Sends the answers that `step` held back; false when there were none.
    fn flush(&self) -> bool {
        let finished = std::mem::take(&mut lock(&self.held_jobs).finished);
        let any = !finished.is_empty();
        for (completion, outcome) in finished {
            completion.finish(outcome);
        }
        any
    }
}

impl Dispatch for HostDispatch {
    fn job_types(&self) -> Option<Vec<String>> {
        self.routes.fallback.is_none().then(|| self.routes.types.keys().cloned().collect())
    }

    fn capacity(&self) -> usize {
        if self.closed.load(Ordering::Acquire) {
            return 0;
        }
        // With several lanes, jobs ahead could run beside those of another lane: more at a time than was asked for.
        let ahead = if self.lanes.len() == 1 { self.pace.ahead(self.concurrency) } else { 0 };
        (self.concurrency + ahead).saturating_sub(self.held())
    }

    fn dispatch(&self, batch: Vec<Delivery>) {
        let mut tokens: Vec<Vec<JobToken>> = self.lanes.iter().map(|_| Vec::new()).collect();
        let mut refused = Vec::new();
        let mut held_jobs = lock(&self.held_jobs);
        for delivery in batch {
            let lane = self.routes.types.get(&delivery.job_type).copied().or(self.routes.fallback);
            let Some((lane, queue)) = lane.and_then(|at| Some((at, tokens.get_mut(at)?))) else {
                refused.push(delivery);
                continue;
            };
            if let Ok(token) = held_jobs.table.insert(entry(delivery, lane)) {
                queue.push(token);
            }
        }
        drop(held_jobs);
        for (lane, tokens) in self.lanes.iter().zip(tokens) {
            if !tokens.is_empty() {
                lane.push(tokens);
            }
        }
        for delivery in refused {
            let outcome = Outcome::Failed(HandlerFailure::no_handler(&delivery.job_type));
            delivery.completion.finish(outcome);
        }
    }

    fn cancel(&self, key: DeliveryKey, why: CancelReason) {
        let mut held_jobs = lock(&self.held_jobs);
        let Some(token) = held_jobs.table.find(key) else { return };
        let Some(entry) = held_jobs.table.get_mut(token) else { return };
        if entry.stage == Stage::Running {
            entry.cancelled.get_or_insert(why);
            let lane = self.lanes.get(entry.lane);
            drop(held_jobs);
            if let Some(lane) = lane {
                lane.push_cancel(token, why);
            }
        } else {
            // The job has not begun, so its handler does not have to agree.
            let entry = held_jobs.table.take(token);
            drop(held_jobs);
            if let Some(entry) = entry {
                entry.completion.finish(Outcome::Released);
            }
        }
    }

    fn phase(&self, phase: Phase) {
        let number = match phase {
            Phase::Running => 0,
            Phase::Quiet => 1,
            Phase::Draining => 2,
            Phase::Stopped => 3,
        };
        self.phase.store(number, Ordering::Release);
        if phase == Phase::Stopped {
            self.closed.store(true, Ordering::Release);
            self.flush();
            let left = lock(&self.held_jobs).table.drain();
            for entry in left {
                entry.completion.finish(Outcome::Released);
            }
            self.lanes.iter().for_each(Lane::close);
            self.tend.notify_one();
        }
    }
}

fn entry(delivery: Delivery, lane: usize) -> Entry {
    let Delivery { key, id, job_type, queue, attempt, deadline, envelope, completion, .. } = delivery;
    let job = Arc::new(Job { id, job_type, queue, attempt, deadline, envelope });
    Entry { key, lane, stage: Stage::Queued, cancelled: None, job, completion }
}
