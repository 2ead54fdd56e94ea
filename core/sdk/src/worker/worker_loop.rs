//! The loop of a worker: claims jobs for free slots, hands them over, sends outcomes.
//!
//! One task decides; requests run in tasks of their own. There are two ways of talking to a server (ADR 1):
//!
//! | server | claiming | reporting |
//! |---|---|---|
//! | offers the exchange | one waiting long poll, or together with outcomes | batches: full, due, or nothing left to wait for |
//! | any other | fetch by free slots, pauses growing while idle | one ack or nack each, many at once |
//!
//! A full worker waits for a free slot, never for a timer.
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::drain::Drain;
use super::foreign::Foreign;
use super::report::Report;
use super::shared::{Control, Shared, panic_message};
use crate::backoff::Backoff;
use crate::dispatch::{CancelReason, DeliveryKey, HandlerFailure, Outcome, Phase};
use crate::error::Error;
use crate::transport::{Enqueued, MANIFEST_PATH, Request, Response};

/// Number of outcomes that are sent in a request at once.
const FLUSH_AT: usize = 256;
/// Most outcomes in one request: the answer to the first must not wait for very many others.
pub(super) const FLUSH_MAX: usize = 256;
/// Longest time that an outcome waits for others, to share a request.
const LINGER: Duration = Duration::from_millis(2);
/// Reporting requests in flight with the exchange: two for each writer of a PostgreSQL store, so that none waits for the worker. More would only
/// shrink the batches.
const EXCHANGES_MAX: usize = 8;
/// Reporting requests in flight without it: one job each.
const ACKS_MAX: usize = 64;
/// Outcomes taken from the channel at once.
const TAKE_MAX: usize = 1024;
/// How long the server may take to answer the long poll of a worker that has said it goes quiet.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// How soon a worker without free slots and without jobs looks again: its host uses the slots for other work.
const RECHECK: Duration = Duration::from_millis(50);

/// How the worker talks to this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Server {
    /// The manifest has not been read yet.
    Unknown,
    /// Offers the exchange.
    Exchange,
    /// Speaks the plain protocol.
    Plain,
}

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Manifest,
    Exchange {
        waits: bool,
    },
    Fetch,
    /// One ack or nack.
    Report,
}

/// A request that has ended.
pub(super) struct Finished {
    pub purpose: Purpose,
    pub reports: Vec<Report>,
    /// Slots kept free for its answer.
    pub reserved: usize,
    pub sent: Instant,
    pub answer: Result<Response, Error>,
}

/// Requests for jobs.
pub(super) struct Claiming {
    /// Slots promised to requests in flight.
    pub reserved: usize,
    /// Requests in flight that may bring jobs.
    pub requests: usize,
    /// One of them is a long poll.
    pub waiting: bool,
    /// Cuts that long poll short. A server that offers one takes back what it claims for a caller that hangs up.
    pub cut: CancellationToken,
    /// When to do so: a worker that goes quiet says so, and the server answers its poll. Hanging up at once could lose that answer.
    pub cut_at: Option<Instant>,
    /// Not before this time, after faults and empty fetches.
    pub not_before: Instant,
    /// The pause after the next empty fetch.
    pub pause: Duration,
    /// When a fetch was answered that found nothing, while the worker pauses because of that and not of a fault.
    pub empty_at: Option<Instant>,
    /// A job was enqueued while a fetch was out: it may have come too late for that one.
    pub told: bool,
    pub backoff: Backoff,
    /// Since when slots have been free without a request for jobs.
    pub free_since: Option<Instant>,
}

/// Requests with outcomes.
pub(super) struct Reporting {
    pub pending: VecDeque<Report>,
    /// Requests in flight that carry outcomes.
    pub requests: usize,
    /// Not before this time, after faults.
    pub not_before: Instant,
    pub backoff: Backoff,
    pub last_flush: Option<Instant>,
    pub oldest: Option<Instant>,
}

pub(super) struct WorkerLoop {
    pub shared: Arc<Shared>,
    pub sender: mpsc::UnboundedSender<(DeliveryKey, Outcome)>,
    outcomes: mpsc::UnboundedReceiver<(DeliveryKey, Outcome)>,
    control: watch::Receiver<Control>,
    pub requests: JoinSet<Finished>,
    pub server: Server,
    pub claiming: Claiming,
    pub reporting: Reporting,
    pub deadlines: BinaryHeap<Reverse<(Instant, DeliveryKey)>>,
    pub foreign: Foreign,
    /// This server calls the first attempt 0.
    pub from_zero: bool,
    /// Notified of jobs that this process enqueues at the same server.
    enqueued: Option<watch::Receiver<()>>,
    /// The phase that the host knows.
    announced: Option<Phase>,
    pub drain: Option<Drain>,
    /// When to read the manifest again, if it could not be read.
    pub probe_again: Option<Instant>,
    pub probe_is_out: bool,
    pub probing: Backoff,
}

impl WorkerLoop {
    pub fn new(shared: Arc<Shared>) -> Self {
        let (sender, outcomes) = mpsc::unbounded_channel();
        let now = Instant::now();
        let pause = shared.options.poll_interval_min;
        Self {
            foreign: Foreign::new(shared.job_types(), &shared.options),
            from_zero: false,
            enqueued: shared.transport.enqueue_signal().map(Enqueued::listen),
            control: shared.control(),
            shared,
            sender,
            outcomes,
            requests: JoinSet::new(),
            server: Server::Unknown,
            claiming: Claiming {
                reserved: 0,
                requests: 0,
                waiting: false,
                cut: CancellationToken::new(),
                cut_at: None,
                not_before: now,
                pause,
                empty_at: None,
                told: false,
                backoff: Backoff::claims(),
                free_since: None,
            },
            reporting: Reporting {
                pending: VecDeque::new(),
                requests: 0,
                not_before: now,
                backoff: Backoff::reports(),
                last_flush: None,
                oldest: None,
            },
            deadlines: BinaryHeap::new(),
            announced: None,
            drain: None,
            probe_again: Some(now),
            probe_is_out: false,
            probing: Backoff::claims(),
        }
    }

    /// Runs until the worker has stopped. After a panic in here it pauses and starts again.
    pub async fn supervise(mut self) {
        let mut backoff = Backoff::claims();
        while let Err(panic) = AssertUnwindSafe(self.run()).catch_unwind().await {
            self.shared.restarted("loop", panic_message(&*panic));
            tokio::time::sleep(backoff.next()).await;
        }
        self.conclude().await;
    }

    /// One turn after the other until the drain is over.
    async fn run(&mut self) {
        let mut taken = Vec::with_capacity(TAKE_MAX);
        loop {
            self.follow_phase();
            let now = Instant::now();
            self.expire(now);
            if self.drained(now) {
                return;
            }
            self.decide(now);
            let wake_at = self.next_wake(now);
            let shared = Arc::clone(&self.shared);
            tokio::select! {
                biased;
                _ = self.control.changed() => {}
                Some(finished) = self.requests.join_next(), if !self.requests.is_empty() => self.finished(finished),
                count = self.outcomes.recv_many(&mut taken, TAKE_MAX) => {
                    if count < TAKE_MAX {
                        // Handlers that are about to end get their outcome into the same request.
                        tokio::task::yield_now().await;
                        while taken.len() < TAKE_MAX && let Ok(outcome) = self.outcomes.try_recv() {
                            taken.push(outcome);
                        }
                    }
                    self.take(&mut taken);
                }
                () = shared.wake.notified() => {}
                () = told(&mut self.enqueued), if self.server == Server::Plain => self.hurry(),
                () = tokio::time::sleep_until(wake_at) => {}
            }
        }
    }

    /// Tells the host about a new phase.
    fn follow_phase(&mut self) {
        let control = *self.control.borrow_and_update();
        if self.announced != Some(control.phase) {
            self.announced = Some(control.phase);
            self.shared.announce(control.phase);
        }
        let now = Instant::now();
        self.claiming.cut_at = match control.phase {
            Phase::Running => None,
            _ => self.claiming.cut_at.or(Some(now + ANSWER_WITHIN)),
        };
        if self.claiming.cut_at.is_some_and(|at| now >= at) {
            self.claiming.cut.cancel();
        }
        if let (Phase::Draining, Some(grace_ends)) = (control.phase, control.grace_ends) {
            Drain::begin_or_hasten(&mut self.drain, grace_ends, self.shared.options.flush_for());
        }
    }

    /// Fails attempts whose time is over; a later outcome of the handler is ignored.
    fn expire(&mut self, now: Instant) {
        while let Some(Reverse((at, key))) = self.deadlines.peek().copied() {
            if at > now {
                return;
            }
            self.deadlines.pop();
            if self.fix(key, Outcome::Failed(HandlerFailure::timeout())) {
                let job_id = self.shared.held().get(key).map(|entry| Arc::clone(&entry.id));
                self.shared.cancel(key, job_id.as_deref().unwrap_or_default(), CancelReason::TimedOut);
            }
        }
    }

    /// Outcomes from handlers.
    fn take(&mut self, taken: &mut Vec<(DeliveryKey, Outcome)>) {
        for (key, outcome) in taken.drain(..) {
            self.fix(key, outcome);
        }
    }

    /// Fixes the outcome of a delivery: the first one counts. `false` when it had one.
    pub fn fix(&mut self, key: DeliveryKey, outcome: Outcome) -> bool {
        let report = {
            let mut held = self.shared.held();
            if !held.settle(key) {
                return false;
            }
            held.get(key).map(|entry| Report::new(key, entry, outcome))
        };
        if let Some(report) = report {
            self.queue(report);
        }
        true
    }

    /// Gives a job back whose type has no handler here.
    pub fn turn_away(&mut self, key: DeliveryKey, wait: Duration) {
        let report = {
            let mut held = self.shared.held();
            held.settle(key);
            held.get(key).map(|entry| Report::turned_away(key, entry, wait))
        };
        if let Some(report) = report {
            self.queue(report);
        }
    }

    pub fn queue(&mut self, report: Report) {
        self.reporting.oldest.get_or_insert_with(Instant::now);
        self.reporting.pending.push_back(report);
    }

    /// Starts the requests that make sense now.
    fn decide(&mut self, now: Instant) {
        if !self.probe_is_out && self.probe_again.is_some_and(|at| now >= at) {
            self.probe_is_out = true;
            self.launch(Purpose::Manifest, Request::get(MANIFEST_PATH), Vec::new(), 0);
        }
        match self.server {
            Server::Unknown => {}
            Server::Exchange => {
                while self.flush_is_due(now) {
                    self.exchange(now);
                }
                let slots = self.slots_to_fill(now);
                if slots > 0 && self.claiming.requests == 0 {
                    self.poll(slots);
                }
            }
            Server::Plain => {
                while self.may_report() && now >= self.reporting.not_before && !self.reporting.pending.is_empty() {
                    self.report_one();
                }
                let slots = self.slots_to_fill(now);
                if slots > 0 && self.claiming.requests == 0 {
                    self.fetch(slots);
                }
            }
        }
    }

    /// Outcomes go when the batch is big enough, when none is to be expected, after a quiet time, or when one has
    /// waited long enough.
    fn flush_is_due(&self, now: Instant) -> bool {
        let reporting = &self.reporting;
        let Some(oldest) = reporting.oldest.filter(|_| !reporting.pending.is_empty()) else { return false };
        if !self.may_report() || now < reporting.not_before {
            return false;
        }
        let quiet = reporting.requests == 0 && reporting.last_flush.is_none_or(|last| now >= last + LINGER);
        reporting.pending.len() >= self.batch_size() || quiet || now >= oldest + LINGER || self.shared.held().running() == 0
    }

    /// Another request with outcomes may be started.
    fn may_report(&self) -> bool {
        let max = match self.server {
            Server::Unknown => 0,
            Server::Exchange => EXCHANGES_MAX,
            Server::Plain => ACKS_MAX,
        };
        self.reporting.requests < max
    }

    /// A quarter of what runs: big enough to save requests, small enough to keep the others busy meanwhile.
    fn batch_size(&self) -> usize {
        let running = self.shared.held().running();
        (running.max(self.shared.options.concurrency) / 4).clamp(1, FLUSH_AT)
    }

    /// How many jobs to ask for now; 0 when the phase, a pause, or the lack of slots forbids it.
    fn slots_to_fill(&mut self, now: Instant) -> usize {
        if self.shared.phase() != Phase::Running || now < self.claiming.not_before {
            return 0;
        }
        let slots = self.shared.capacity().saturating_sub(self.claiming.reserved);
        if slots == 0 {
            self.claiming.free_since = None;
            return 0;
        }
        let since = *self.claiming.free_since.get_or_insert(now);
        let worth_it = slots >= self.batch_size() || now >= since + LINGER || self.shared.held().running() == 0;
        if worth_it { slots.min(self.shared.options.fetch_max) } else { 0 }
    }

    fn finished(&mut self, finished: Result<Finished, tokio::task::JoinError>) {
        match finished {
            Ok(finished) => self.settle(finished),
            // Only an abort gets here, and only the drain aborts.
            Err(error) => tracing::debug!(%error, "request task ended without an answer"),
        }
    }

    /// When to look again though nothing happened.
    fn next_wake(&self, now: Instant) -> Instant {
        let mut at = now + Duration::from_secs(60);
        let mut consider = |time: Instant| at = at.min(time);
        if let Some(Reverse((deadline, _))) = self.deadlines.peek() {
            consider(*deadline);
        }
        if let Some(at) = self.probe_again.filter(|_| !self.probe_is_out) {
            consider(at);
        }
        if let Some(oldest) = self.reporting.oldest
            && self.may_report()
        {
            consider(self.reporting.not_before.max(oldest + LINGER));
        }
        if self.shared.phase() == Phase::Running && self.claiming.requests == 0 && self.server != Server::Unknown {
            match self.claiming.free_since {
                _ if now < self.claiming.not_before => consider(self.claiming.not_before),
                Some(since) => consider(since + LINGER),
                None if self.shared.held().running() == 0 => consider(now + RECHECK),
                None => {}
            }
        }
        if let Some(at) = self.claiming.cut_at.filter(|at| *at > now && self.claiming.waiting) {
            consider(at);
        }
        if let Some(drain) = &self.drain {
            consider(drain.next_wake(now));
        }
        at.max(now)
    }

    pub fn requeue_first(&mut self, report: Report) {
        self.reporting.oldest.get_or_insert_with(Instant::now);
        self.reporting.pending.push_front(report);
    }

    pub async fn abort_requests(&mut self) {
        self.requests.shutdown().await;
    }

    /// No request is in flight that could still bring jobs.
    pub fn claims_are_over(&self) -> bool {
        self.claiming.requests == 0
    }
}

/// Waits until this process enqueues a job; for ever where there is no signal.
async fn told(enqueued: &mut Option<watch::Receiver<()>>) {
    if let Some(receiver) = enqueued.as_mut() {
        if receiver.changed().await.is_ok() {
            return;
        }
        *enqueued = None;
    }
    std::future::pending().await
}
