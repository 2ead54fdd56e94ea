//! Sends jobs to endpoints: a task per queue that has endpoints claims, a task per delivery sends and settles.
//!
//! Each node has one sender. It keeps no reference to the store while it waits, so an engine that is dropped closes its
//! store. What a node that ends leaves behind, its leases decide.
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use ojs_model::{JobId, Timestamp};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::answer::Verdict;
use super::claim::{ClaimDeliveries, Claimed};
use super::commands::{ListEndpoints, NoteDelivery, QueueNames};
use super::delivery::Delivery;
use super::health::{Note, Sign};
use super::line::{Flight, Line, Target};
use super::outcomes::{Ended, Outcomes};
use super::pattern::{fits, is_glob};
use super::records::{EndpointRow, MAX_ENDPOINTS};
use super::sqs::{Batch, Fate, Judgement, batches};
use crate::error::{Applied, Refusal, StoreError};
use crate::kernel::command::Outcome;
use crate::kernel::wake::{Registration, Wakeups};
use crate::metrics::{Metrics, lock};
use crate::outgoing::Outgoing;
use crate::store::seam::Store;

/// Deliveries that a node has under way at most.
const MOST: usize = 1_024;
/// Jobs of a claim.
const BATCH: usize = 100;
/// How often it reads the endpoints without a reason: another process on the same file may have changed some.
const FALLBACK: Duration = Duration::from_secs(60);
/// How often it looks for jobs of endpoints without a reason: another writer may have held a job at the moment of the
/// look before.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// The shortest pause between two looks for new queues.
const QUEUES_PAUSE: Duration = Duration::from_millis(50);
/// The shortest and the longest time between a look that has found nothing and the next one: a queue whose jobs others
/// take must not make it look without end. A queue that has been idle for longer is looked at as soon as a job arrives.
const EMPTY_PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));
/// How long it waits after a fault of the store.
pub(super) const AFTER_FAULT: Duration = Duration::from_secs(1);
/// How long deliveries under way may take when the engine closes. The jobs of those that take longer are available
/// again after their leases.
const GRACE: Duration = Duration::from_secs(5);

/// What a sender works with.
pub(crate) struct Parts {
    pub store: Weak<dyn Store>,
    pub wakeups: Arc<Wakeups>,
    pub metrics: Arc<Metrics>,
    pub outgoing: Arc<Outgoing>,
    /// The time by the clock of the store.
    pub now: Box<dyn Fn() -> Timestamp + Send + Sync>,
    pub closing: CancellationToken,
}

/// What the tasks of a node share.
pub(super) struct Sender {
    pub(super) parts: Parts,
    permits: Arc<Semaphore>,
    outcomes: Outcomes,
    flights: TaskTracker,
}

/// The tasks of the queues, and the endpoints that they know.
#[derive(Default)]
struct Served {
    targets: HashMap<JobId, Arc<Target>>,
    /// By queue; the task of a line ends when its guard is dropped.
    lines: BTreeMap<String, (Arc<Line>, DropGuard)>,
    /// Whether an endpoint names its queues by a pattern.
    has_globs: bool,
}

/// Runs until the engine closes.
pub(crate) async fn run(parts: Parts) {
    let permits = Arc::new(Semaphore::new(MOST));
    let sender = Arc::new(Sender { parts, permits, outcomes: Outcomes::default(), flights: TaskTracker::new() });
    let mut served = Served::default();
    let parts = &sender.parts;
    while !parts.closing.is_cancelled() {
        let pause = match sender.refresh(&mut served).await {
            Ok(()) => FALLBACK,
            Err(Refusal::Store(StoreError::Closed)) => break,
            Err(refusal) => {
                tracing::warn!(?refusal, "push: the endpoints could not be read; trying again");
                AFTER_FAULT
            }
        };
        tokio::select! {
            () = parts.wakeups.endpoints() => served.targets.values().for_each(|target| target.reopen()),
            () = parts.wakeups.any_queue(), if served.has_globs => tokio::time::sleep(QUEUES_PAUSE).await,
            () = tokio::time::sleep(pause) => {}
            () = parts.closing.cancelled() => {}
        }
    }
    drop(served);
    sender.flights.close();
    // What is under way after that finds no store and changes nothing.
    let _ = tokio::time::timeout(GRACE, sender.flights.wait()).await;
}

impl Sender {
    pub(super) fn store(&self) -> Applied<Arc<dyn Store>> {
        self.parts.store.upgrade().ok_or_else(|| StoreError::Closed.into())
    }

    /// Whether it may have more deliveries under way.
    pub(super) fn has_permits(&self) -> bool {
        self.permits.available_permits() > 0
    }

    /// Reads the endpoints, and starts and ends the tasks of queues accordingly.
    async fn refresh(self: &Arc<Self>, served: &mut Served) -> Applied<()> {
        let store = self.store()?;
        let (rows, _) = store.query(ListEndpoints { skip: 0, limit: MAX_ENDPOINTS }).await?;
        let mut known = std::mem::take(&mut served.targets);
        for row in rows {
            let same = known.remove(&row.id).filter(|target| target.row.updated_at == row.updated_at);
            served.targets.insert(row.id, same.unwrap_or_else(|| Arc::new(Target::new(row))));
        }
        let active = || served.targets.values().filter(|target| target.row.active);
        served.has_globs = active().any(|target| EndpointRow::entries(&target.row.queues).any(is_glob));
        // Before the queues are read: one that is made from then on is told.
        self.parts.wakeups.watch_queues(served.has_globs);
        let queues = if served.has_globs { store.query(QueueNames).await? } else { Vec::new() };
        drop(store);
        let mut wanted: BTreeMap<String, BTreeMap<JobId, Arc<Target>>> = BTreeMap::new();
        for target in active() {
            for queue in queues_of(&target.row, &queues) {
                wanted.entry(queue.to_owned()).or_default().insert(target.row.id, Arc::clone(target));
            }
        }
        served.lines.retain(|queue, _| wanted.contains_key(queue));
        for (queue, targets) in wanted {
            let targets: Vec<Arc<Target>> = targets.into_values().collect();
            if served.lines.get(&queue).is_some_and(|(line, _)| line.has(&targets)) {
                continue;
            }
            let line = Arc::new(Line::new(&queue, targets));
            self.flights.spawn(Arc::clone(self).serve(Arc::clone(&line)));
            let stop = line.stop.clone().drop_guard();
            served.lines.insert(queue, (line, stop));
        }
        Ok(())
    }

    /// Claims jobs of a queue and sends them, until it is stopped.
    async fn serve(self: Arc<Self>, line: Arc<Line>) {
        let stop = &line.stop;
        // Registered before the first look: a job that arrives in between is not missed.
        let registration = self.parts.wakeups.register_picky(std::slice::from_ref(&line.queue));
        let mut empty = EMPTY_PAUSES.0;
        while !stop.is_cancelled() {
            let pause = match self.look(&line).await {
                Ok(Look::Again) => {
                    empty = EMPTY_PAUSES.0;
                    continue;
                }
                Ok(Look::Wait(pause)) => pause,
                Err(Refusal::Store(StoreError::Closed)) => return,
                Err(refusal) => {
                    tracing::warn!(?refusal, queue = line.queue, "push: jobs could not be claimed; trying again");
                    tokio::select! {
                        () = tokio::time::sleep(AFTER_FAULT) => continue,
                        () = stop.cancelled() => return,
                    }
                }
            };
            let next = tokio::time::Instant::now() + empty;
            self.wait(&line, &registration, pause).await;
            tokio::select! {
                () = tokio::time::sleep_until(next) => empty = empty.saturating_mul(2).min(EMPTY_PAUSES.1),
                () = stop.cancelled() => return,
            }
        }
    }

    /// Waits for a reason to look at a queue again.
    async fn wait(&self, line: &Line, registration: &Registration, pause: Duration) {
        tokio::select! {
            () = registration.woken() => {}
            () = line.called.notified() => {}
            () = tokio::time::sleep(pause) => line.ask_again(),
            () = line.stop.cancelled() => {}
        }
    }

    /// Claims once and sends what it has got.
    async fn look(self: &Arc<Self>, line: &Arc<Line>) -> Applied<Look> {
        let now = (self.parts.now)().as_millis();
        if line.wanted(now, &BTreeSet::new()).is_empty() {
            return Ok(Look::Wait(line.opens_in(now).unwrap_or(FALLBACK).min(FALLBACK)));
        }
        let Ok(mut permits) = Arc::clone(&self.permits).acquire_owned().await else { return Err(StoreError::Closed.into()) };
        let more = self.permits.available_permits().min(BATCH - 1);
        if let Ok(more) = Arc::clone(&self.permits).try_acquire_many_owned(u32::try_from(more).unwrap_or(0)) {
            permits.merge(more);
        }
        let asked = Asked::now(line, now);
        let count = permits.num_permits();
        let spare = self.permits.available_permits() + count;
        let room = line.room(now, spare);
        let claim = ClaimDeliveries { line: Arc::clone(line), count, room, spare, freed: BTreeSet::new(), now };
        let claimed = self.store()?.execute(claim).await?;
        let pause = claimed.next_at.map(|at| Duration::from_millis(Timestamp::from_millis(at).millis_since(claimed.now)));
        if self.take(line, claimed, &asked, permits) {
            return Ok(Look::Again);
        }
        Ok(Look::Wait(pause.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN)))
    }

    /// Sends what a claim has got, and notes what it has found out about endpoints. Returns whether another claim would
    /// find something else.
    pub(super) fn take(
        self: &Arc<Self>,
        line: &Arc<Line>,
        claimed: Claimed,
        asked: &Asked,
        permits: OwnedSemaphorePermit,
    ) -> bool {
        let Claimed { deliveries, shut, choices, .. } = claimed;
        if !choices.is_empty() {
            let mut strides = line.strides();
            choices.iter().for_each(|choice| strides.note(choice));
        }
        let mut is_news = !deliveries.is_empty();
        for (place, why) in shut {
            if let Some((target, ended)) = line.targets.get(place).zip(asked.ended.get(place)) {
                is_news |= target.shut(why, *ended, asked.at);
            }
        }
        self.dispatch(line, deliveries, permits);
        is_news
    }

    /// Starts a task for each delivery, and one for each batch of deliveries to a queue.
    fn dispatch(self: &Arc<Self>, line: &Arc<Line>, deliveries: Vec<(usize, Delivery)>, mut permits: OwnedSemaphorePermit) {
        let mut queued: BTreeMap<usize, Vec<Delivery>> = BTreeMap::new();
        for (place, delivery) in deliveries {
            let Some(target) = line.targets.get(place) else { continue };
            if target.queue.is_some() {
                queued.entry(place).or_default().push(delivery);
            } else if let Some(flight) = permits.split(1).and_then(|permit| Flight::new(line, place, permit)) {
                // Boxed: a task moves what it runs several times.
                self.flights.spawn(Box::pin(Arc::clone(self).deliver(flight, delivery)));
            }
        }
        for (place, deliveries) in queued {
            let Some(target) = line.targets.get(place) else { continue };
            let Some(queue) = &target.queue else { continue };
            for batch in batches(queue, deliveries) {
                let permits = permits.split(batch.deliveries.len());
                let Some(flight) = permits.and_then(|permits| Flight::new(line, place, permits)) else { continue };
                self.flights.spawn(Arc::clone(self).send_batch(flight, batch));
            }
        }
    }

    /// One request to a queue. Jobs that the queue has taken stay active until the function that reads the queue
    /// settles them, or until their leases end.
    async fn send_batch(self: Arc<Self>, mut flight: Flight, batch: Batch) {
        let began = Instant::now();
        let came = self.parts.outgoing.post(batch.post()).await;
        let Judgement { fates, note } = Judgement::of(&came, batch.deliveries.len());
        tracing::debug!(messages = fates.len(), status = note.status, reason = note.reason, "push: a batch for a queue");
        if let Some(first) = batch.deliveries.first() {
            let _ = self.note(&flight.target, first, note).await;
        }
        let mut ended = Vec::new();
        for (delivery, fate) in batch.deliveries.iter().zip(fates) {
            let outcome = if matches!(fate, Fate::Queued) { "queued" } else { "undelivered" };
            lock(&self.parts.metrics.push).add(outcome, began.elapsed());
            if let (Fate::Settled(outcome), Some(flight)) = (fate, flight.split()) {
                ended.push(Ended::new(&delivery.job.row, outcome, flight));
            }
        }
        drop(flight);
        self.outcomes.write(ended, &self).await;
    }

    /// One delivery. Its job is active under a lease; nothing of it is kept here.
    async fn deliver(self: Arc<Self>, flight: Flight, delivery: Delivery) {
        let began = Instant::now();
        let came = self.parts.outgoing.post(delivery.post()).await;
        let Verdict { mut outcome, note } = Verdict::of(&came, delivery.endpoint.retry_429);
        let word = match (&outcome, &note.sign) {
            (Outcome::Ack(_), _) => "completed",
            (_, Sign::Answered) => "failed",
            _ => "undelivered",
        };
        tracing::debug!(delivery = delivery.id(), status = note.status, outcome = word, reason = note.reason, "push");
        lock(&self.parts.metrics.push).add(word, began.elapsed());
        let is_refused = note.sign == Sign::Refused;
        if self.note(&flight.target, &delivery, note).await && is_refused {
            // One job has shown that the endpoint cannot be used. Those that were on their way with it go back.
            outcome = Outcome::Release(0);
        }
        let ended = Ended::new(&delivery.job.row, outcome, flight);
        self.outcomes.write(vec![ended], &self).await;
    }

    /// Notes what the delivery says about its endpoint, unless that is known. Returns whether the endpoint had been
    /// disabled before.
    async fn note(&self, target: &Target, delivery: &Delivery, note: Note) -> bool {
        let (is_answer, endpoint) = (note.sign == Sign::Answered, &delivery.endpoint);
        let was_troubled = target.troubled.load(Ordering::SeqCst) || endpoint.failures > 0 || endpoint.opened_at > 0;
        if is_answer && !was_troubled {
            return false;
        }
        let Ok(store) = self.store() else { return false };
        let noted = store.execute(NoteDelivery { id: endpoint.id, note }).await;
        match &noted {
            Ok(_) => target.troubled.store(!is_answer, Ordering::SeqCst),
            Err(refusal) => tracing::warn!(?refusal, "push: what an endpoint answered could not be noted"),
        }
        if is_answer {
            target.reopen();
        }
        noted.unwrap_or(false)
    }
}

/// What was known before a claim counted: a job that ends from then on may have made room that the claim did not see.
pub(super) struct Asked {
    ended: Vec<u64>,
    at: i64,
}

impl Asked {
    pub(super) fn now(line: &Line, at: i64) -> Self {
        Self { ended: line.ended(), at }
    }
}

/// What a look has come to.
enum Look {
    /// There may be more jobs.
    Again,
    /// There are none now.
    Wait(Duration),
}

/// The queues of an endpoint: those that it names, and those of the known ones that fit its patterns.
fn queues_of<'a>(row: &'a EndpointRow, known: &'a [String]) -> BTreeSet<&'a str> {
    let mut queues = BTreeSet::new();
    for pattern in EndpointRow::entries(&row.queues) {
        if is_glob(pattern) {
            queues.extend(known.iter().map(String::as_str).filter(|queue| fits(pattern, queue)));
        } else {
            queues.insert(pattern);
        }
    }
    queues
}
