//! Sends deliveries: claims what is due, lets a task send each, settles it.
//!
//! Each node has one. Nothing of it is needed for jobs: when a send hangs or fails, only deliveries wait. It keeps no
//! reference to the store while it waits, so an engine that is dropped closes its store.
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use ojs_model::{JobId, Timestamp};
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

use super::backlog::Backlog;
use super::commands::{AnySubscription, ClaimDeliveries, ListSubscriptions, NoteDropped, SettleDelivery};
use super::records::{DeliveryRow, SubscriptionRow};
use super::request::{Sent, post};
use super::rules::{Claimed, Wish};
use super::schedule::Report;
use crate::error::{Applied, Refusal, StoreError};
use crate::kernel::wake::Wakeups;
use crate::metrics::{Metrics, lock};
use crate::outgoing::Outgoing;
use crate::store::seam::Store;

/// Requests that a node has under way at most.
const MOST: usize = 1_024;
/// How often it looks without a reason: another process on the same file may have ended.
const FALLBACK: Duration = Duration::from_secs(30);
/// How often it writes which events this node has dropped. It wakes up every half minute at least, so a crash loses no
/// more than that.
const WRITE_PAUSE: Duration = Duration::from_secs(5);
/// How long it waits after a fault of the store.
const AFTER_FAULT: Duration = Duration::from_secs(1);
/// How long requests under way may take when the engine closes. What is left is sent again after its lease.
const GRACE: Duration = Duration::from_secs(5);

/// What a sender works with.
pub(crate) struct Parts {
    pub store: Weak<dyn Store>,
    pub wakeups: Arc<Wakeups>,
    pub metrics: Arc<Metrics>,
    pub outgoing: Arc<Outgoing>,
    pub backlog: Arc<Backlog>,
    pub closing: CancellationToken,
    /// `source` of CloudEvents.
    pub event_source: Arc<str>,
}

/// The sender of a node, and its requests under way.
struct Sender {
    parts: Arc<Parts>,
    flights: JoinSet<()>,
    targets: HashMap<Id, JobId>,
    wrote_at: Instant,
}

/// Runs until the engine closes.
pub(crate) async fn run(parts: Parts) {
    let (flights, targets) = (JoinSet::new(), HashMap::new());
    let mut sender = Sender { parts: Arc::new(parts), flights, targets, wrote_at: Instant::now() };
    let parts = Arc::clone(&sender.parts);
    while !parts.closing.is_cancelled() {
        let pause = match sender.look().await {
            Ok(pause) => pause,
            Err(Refusal::Store(StoreError::Closed)) => break,
            Err(refusal) => {
                tracing::warn!(?refusal, "webhooks: deliveries could not be claimed; trying again");
                AFTER_FAULT
            }
        };
        if sender.wrote_at.elapsed() >= WRITE_PAUSE {
            sender.write_dropped().await;
        }
        tokio::select! {
            () = parts.wakeups.deliveries() => {}
            () = sender.landed(), if !sender.flights.is_empty() => {}
            () = tokio::time::sleep(pause) => {}
            () = parts.closing.cancelled() => {}
        }
    }
    // Aborted after the grace period, when the set is dropped.
    let _ = tokio::time::timeout(GRACE, async { while sender.flights.join_next().await.is_some() {} }).await;
    sender.write_dropped().await;
}

impl Sender {
    /// Claims what is due and sends it; returns when to look again.
    async fn look(&mut self) -> Applied<Duration> {
        let Some(store) = self.parts.store.upgrade() else { return Err(StoreError::Closed.into()) };
        if !store.query(AnySubscription).await? {
            return Ok(FALLBACK);
        }
        let mut busy: HashMap<JobId, usize> = HashMap::new();
        for target in self.targets.values() {
            *busy.entry(*target).or_default() += 1;
        }
        let room = MOST.saturating_sub(self.targets.len());
        let wish = Wish { busy, room, only: None, timeout: self.parts.outgoing.timeout() };
        let claims = match store.execute(ClaimDeliveries(wish.clone())).await {
            Err(Refusal::Store(StoreError::Failed(fault))) => {
                tracing::error!(fault, "webhooks: a delivery cannot be read; its subscription is left out");
                claim_apart(&store, &wish).await?
            }
            claimed => vec![claimed?],
        };
        let mut pause = FALLBACK;
        for Claimed { now, next_at, deliveries } in claims {
            for (subscription, delivery) in deliveries {
                let target = subscription.id;
                let flight = send(Arc::clone(&self.parts), subscription, delivery, now);
                self.targets.insert(self.flights.spawn(flight).id(), target);
            }
            if let Some(at) = next_at {
                pause = pause.min(Duration::from_millis(Timestamp::from_millis(at).millis_since(now)));
            }
        }
        Ok(pause.max(Duration::from_millis(1)))
    }

    /// Writes which events this node has dropped. What cannot be written is tried again.
    async fn write_dropped(&mut self) {
        self.wrote_at = Instant::now();
        let backlog = &self.parts.backlog;
        let _alone = backlog.writing.lock().await;
        let drops = backlog.unwritten();
        let Some(store) = self.parts.store.upgrade().filter(|_| !drops.is_empty()) else { return };
        match store.execute(NoteDropped(drops.clone())).await {
            Ok(()) => backlog.written(&drops),
            Err(refusal) => tracing::warn!(?refusal, "webhooks: the count of dropped events could not be written"),
        }
    }

    /// Resolves when a request has ended.
    async fn landed(&mut self) {
        let mut landed = self.flights.join_next_with_id().await;
        while let Some(ended) = landed {
            let id = match ended {
                Ok((id, ())) => id,
                Err(error) => {
                    tracing::error!(%error, "webhooks: a delivery ended in a panic; it is sent again after its lease");
                    error.id()
                }
            };
            self.targets.remove(&id);
            landed = self.flights.try_join_next_with_id();
        }
    }
}

/// Claims for each subscription by itself, after a claim for all has failed at one of them.
async fn claim_apart(store: &Arc<dyn Store>, wish: &Wish) -> Applied<Vec<Claimed>> {
    let mut claims = Vec::new();
    let mut room = wish.room;
    for subscription in store.query(ListSubscriptions).await? {
        let wish = Wish { only: Some(subscription.id), room, ..wish.clone() };
        match store.execute(ClaimDeliveries(wish)).await {
            Err(Refusal::Store(StoreError::Failed(_))) => {}
            claimed => {
                let claimed = claimed?;
                room = room.saturating_sub(claimed.deliveries.len());
                claims.push(claimed);
            }
        }
    }
    Ok(claims)
}

/// One attempt. It is stamped with the time of its claim, by the clock of the store.
async fn send(parts: Arc<Parts>, subscription: SubscriptionRow, delivery: DeliveryRow, now: Timestamp) {
    let sent = Sent { delivery: delivery.id, event_type: &delivery.event_type, payload: &delivery.payload };
    let began = Instant::now();
    let outcome = parts.outgoing.post(post(&subscription, sent, &parts.event_source, now)).await;
    let report = Report::of(outcome, began.elapsed());
    tracing::debug!(delivery = %delivery.id, attempt = delivery.attempts, status = report.status, error = report.error, "webhook");
    let took = report.took;
    let Some(store) = parts.store.upgrade() else { return };
    match store.execute(SettleDelivery { id: delivery.id, lease: delivery.lease, report }).await {
        Ok(Some(state)) => lock(&parts.metrics.webhooks).add(state, took),
        Ok(None) => tracing::info!(delivery = %delivery.id, "webhooks: another node has taken the delivery over, or it is gone"),
        Err(refusal) => {
            tracing::warn!(?refusal, delivery = %delivery.id, "webhooks: a delivery could not be settled; it is sent again");
        }
    }
}
