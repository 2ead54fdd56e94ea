//! Subscriptions change, events become deliveries, deliveries are claimed and settled.
use std::collections::HashMap;
use std::time::Duration;

use ojs_model::{ErrorCode, JobId, OjsError, Timestamp, json};
use serde_json::json;

use super::backlog::Dropped;
use super::event::{is_deliverable, prepared};
use super::records::{DeliveryRow, DeliveryState, MAX_OF_TENANT, MAX_SUBSCRIPTIONS, SubscriptionRow, WebhookTables};
use super::request::{DELIVERY, SUBSCRIPTION};
use super::schedule::{Report, Verdict, pause};
use crate::error::{Applied, StoreError};
use crate::kernel::scope::Scope;
use crate::kernel::transaction::Transaction;
use crate::kernel::wake::Signal;
use crate::outgoing::Secret;
use crate::store::record::Read;
use crate::store::tables::Tables;

/// Deliveries that one node sends to one endpoint at a time: a slow endpoint holds up its own deliveries only.
const PER_SUBSCRIPTION: usize = 8;
/// How long a delivered event is kept.
const KEEP_DELIVERED: Duration = Duration::from_secs(86_400);
/// How long a dead delivery is kept.
const KEEP_DEAD: Duration = Duration::from_secs(30 * 86_400);
/// How long a shared database keeps the row of a deleted subscription: a transaction that another node has begun before
/// may still store a delivery for it.
const KEEP_DELETED: Duration = Duration::from_secs(60);
/// Records that are removed at a time.
const SLICE: usize = 500;

/// What a node claims.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wish {
    /// Deliveries that it is sending, by subscription.
    pub(crate) busy: HashMap<JobId, usize>,
    /// Most deliveries that it takes.
    pub(crate) room: usize,
    /// Only deliveries of this subscription.
    pub(crate) only: Option<JobId>,
    /// How long an attempt may take.
    pub(crate) timeout: Duration,
}

/// What a node has claimed.
#[derive(Debug)]
pub(crate) struct Claimed {
    /// The time of the transaction.
    pub(crate) now: Timestamp,
    /// When to look again, if nothing happens before.
    pub(crate) next_at: Option<i64>,
    /// To be sent.
    pub(crate) deliveries: Vec<(SubscriptionRow, DeliveryRow)>,
}

fn millis(period: Duration) -> i64 {
    i64::try_from(period.as_millis()).unwrap_or(i64::MAX)
}

impl Transaction<'_> {
    /// Stores a new subscription.
    pub(crate) fn create_subscription(&mut self, row: &SubscriptionRow) -> Applied<SubscriptionRow> {
        let known = self.tables.subscriptions()?;
        if !row.tenant.is_empty() && known.iter().filter(|other| other.tenant == row.tenant).count() >= MAX_OF_TENANT {
            return Err(too_many("a tenant may have", MAX_OF_TENANT).into());
        }
        if known.len() >= MAX_SUBSCRIPTIONS {
            return Err(too_many("a server keeps", MAX_SUBSCRIPTIONS).into());
        }
        self.tables.put_subscription(row)?;
        self.emit_webhook("webhook.subscription.created", row.id, "");
        Ok(row.clone())
    }

    /// Changes a subscription by a function that may refuse.
    pub(crate) fn change_subscription(
        &mut self,
        id: JobId,
        change: impl FnOnce(&mut SubscriptionRow, i64) -> Result<(), OjsError>,
    ) -> Applied<SubscriptionRow> {
        let mut row = self.known_subscription(id)?;
        let now = self.now.as_millis();
        change(&mut row, now)?;
        row.updated_at = now;
        self.tables.put_subscription(&row)?;
        // It may have become active, or its deliveries have another address.
        self.signals.push(Signal::Deliveries);
        Ok(row)
    }

    /// Gives a subscription another secret. The one before signs as well for a day.
    pub(crate) fn rotate_secret(&mut self, id: JobId, secret: &Secret) -> Applied<SubscriptionRow> {
        self.change_subscription(id, |row, now| {
            Secret::rotate(&mut row.secret, &mut row.previous_secret, &mut row.previous_until, secret, now);
            Ok(())
        })
    }

    /// Deletes a subscription. Its deliveries are not sent from now on; they are removed here as far as they are few,
    /// the rest by maintenance.
    pub(crate) fn delete_subscription(&mut self, id: JobId) -> Applied<SubscriptionRow> {
        let row = self.known_subscription(id)?;
        let gone = SubscriptionRow { deleted_at: self.now.as_millis(), active: false, ..row.clone() };
        if self.tables.remove_deliveries(id, SLICE)? < SLICE && !self.tables.is_shared() {
            self.tables.forget_subscription(id)?;
        } else {
            self.tables.put_subscription(&gone)?;
        }
        self.emit_webhook("webhook.subscription.deleted", id, "");
        Ok(row)
    }

    /// Deletes the subscriptions of a tenant that is being deleted.
    pub(crate) fn delete_subscriptions_of(&mut self, tenant: &str) -> Applied<()> {
        let own = self.tables.subscriptions()?.into_iter().filter(|row| row.tenant == tenant);
        for id in own.map(|row| row.id) {
            self.delete_subscription(id)?;
        }
        Ok(())
    }

    fn known_subscription(&mut self, id: JobId) -> Applied<SubscriptionRow> {
        let row = self.tables.subscription(id)?.filter(|row| row.is_seen_by(&self.tables.names().scope));
        row.ok_or_else(|| OjsError::not_found("subscription", &format!("{SUBSCRIPTION}{id}")).into())
    }

    /// Stores a delivery for each event of this transaction and each subscription that wants it and has room.
    pub(crate) fn note_deliveries(&mut self) -> Result<(), StoreError> {
        if self.journal.is_empty() || !self.tables.has_subscriptions()? {
            return Ok(());
        }
        let subscriptions = match self.tables.subscriptions() {
            // A record that cannot be read stops webhooks, not jobs. A request that reads it reports the fault.
            Err(StoreError::Failed(fault)) => {
                tracing::error!(fault, "webhooks: the subscriptions cannot be read; events are not sent");
                return Ok(());
            }
            subscriptions => subscriptions?,
        };
        let mut deliveries = Vec::new();
        for event in self.journal.events(self.tables)? {
            if !is_deliverable(&event.name) {
                continue;
            }
            let wants = |row: &&SubscriptionRow| row.wants(&event);
            let wanted: Vec<JobId> = subscriptions.iter().filter(wants).map(|row| row.id).collect();
            let mut takers = Vec::with_capacity(wanted.len());
            for subscription in wanted {
                if self.takes_delivery(subscription)? {
                    takers.push(subscription);
                }
            }
            if takers.is_empty() {
                continue;
            }
            let (name, at) = (event.name.clone(), event.at);
            let (event_id, payload) = prepared(event);
            deliveries.extend(takers.into_iter().map(|subscription| fresh(subscription, &event_id, &name, &payload, at)));
        }
        if !deliveries.is_empty() {
            self.tables.put_deliveries(&deliveries)?;
            self.signals.push(Signal::Deliveries);
        }
        Ok(())
    }

    /// Whether a subscription has room for one more delivery. Without room the event counts as dropped.
    fn takes_delivery(&mut self, subscription: JobId) -> Result<bool, StoreError> {
        let (tables, now) = (&mut *self.tables, self.now.as_millis());
        let delta = self.features.webhooks.entry(subscription).or_default();
        self.counters.kept.backlog.take(subscription, delta, now, |limit| tables.count_waiting(subscription, limit))
    }

    /// Writes what a node has dropped. A subscription that was deleted meanwhile has no use for it.
    pub(crate) fn note_dropped(&mut self, drops: &[(JobId, Dropped)]) -> Applied<()> {
        for (subscription, dropped) in drops {
            if self.tables.subscription(*subscription)?.is_some() {
                self.tables.add_dropped(*subscription, *dropped)?;
            }
        }
        Ok(())
    }

    /// Takes deliveries that are due. Until `due_at` no other node takes them; after that the node that took them has
    /// ended, or is too late.
    pub(crate) fn claim_deliveries(&mut self, wish: &Wish) -> Applied<Claimed> {
        let now = self.now.as_millis();
        let mut claimed = Claimed { now: self.now, next_at: None, deliveries: Vec::new() };
        // An attempt that ends at its time limit is settled before another node takes the delivery.
        let until = now.saturating_add(millis(wish.timeout.saturating_mul(2))).saturating_add(30_000);
        let mut subscriptions = self.tables.subscriptions()?;
        subscriptions.retain(|row| row.active && wish.only.is_none_or(|only| only == row.id));
        // Where the room of the node is scarce, another subscription is the first one each time.
        let first = usize::try_from(now).unwrap_or(0).checked_rem(subscriptions.len()).unwrap_or(0);
        subscriptions.rotate_left(first);
        let mut written = Vec::new();
        for subscription in subscriptions {
            let busy = wish.busy.get(&subscription.id).copied().unwrap_or(0);
            let free = PER_SUBSCRIPTION.saturating_sub(busy).min(wish.room.saturating_sub(written.len()));
            if free == 0 {
                continue;
            }
            for mut row in self.tables.due_deliveries(subscription.id, now, free)? {
                row.state = DeliveryState::Sending;
                row.lease = row.lease.saturating_add(1);
                row.attempts = row.attempts.saturating_add(1);
                (row.attempted_at, row.due_at) = (now, until);
                written.push(row.clone());
                claimed.deliveries.push((subscription.clone(), row));
            }
            let next = self.tables.next_delivery(subscription.id, now)?;
            claimed.next_at = [claimed.next_at, next].into_iter().flatten().min();
        }
        self.tables.put_deliveries(&written)?;
        Ok(claimed)
    }

    /// Notes how an attempt ended, unless another node has taken the delivery over. Returns the state that follows.
    pub(crate) fn settle_delivery(&mut self, id: JobId, lease: i64, report: &Report) -> Applied<Option<DeliveryState>> {
        let row = self.tables.delivery(id, Read::Held)?;
        let Some(mut row) = row.filter(|row| row.lease == lease && row.state == DeliveryState::Sending) else { return Ok(None) };
        let now = self.now.as_millis();
        row.took = millis(report.took);
        row.status = i64::from(report.status);
        row.error.clone_from(&report.error);
        row.answer.clone_from(&report.answer);
        let next = match report.verdict {
            Verdict::Delivered => None,
            Verdict::Refused => {
                row.failures = row.failures.saturating_add(1);
                None
            }
            Verdict::Failed(asked) => {
                row.failures = row.failures.saturating_add(1);
                pause(row.failures, asked)
            }
        };
        match (report.verdict, next) {
            (Verdict::Delivered, _) => end(&mut row, DeliveryState::Delivered, now, KEEP_DELIVERED),
            (_, Some(pause)) => (row.state, row.due_at) = (DeliveryState::Pending, now.saturating_add(millis(pause))),
            (_, None) => end(&mut row, DeliveryState::Dead, now, KEEP_DEAD),
        }
        self.tables.put_deliveries(std::slice::from_ref(&row))?;
        if row.state.is_final() {
            self.features.webhooks.entry(row.subscription).or_default().end();
        }
        self.emit_settled(&row);
        if row.state == DeliveryState::Pending {
            // Other nodes learn when it is due.
            self.signals.push(Signal::Deliveries);
        }
        Ok(Some(row.state))
    }

    /// Sends a delivery again now, with the pauses of a new one. It waits again, also where there is no room for new
    /// ones.
    pub(crate) fn retry_delivery(&mut self, id: JobId) -> Applied<DeliveryRow> {
        let named = format!("{DELIVERY}{id}");
        let row = self.tables.delivery(id, Read::Held)?;
        let mut row = row.ok_or_else(|| OjsError::not_found("delivery", &named))?;
        if !is_seen(self.tables, row.subscription)? {
            return Err(OjsError::not_found("delivery", &named).into());
        }
        // Without its subscription there is no address; its deliveries are about to be removed.
        self.known_subscription(row.subscription)?;
        if row.state == DeliveryState::Sending {
            let message = format!("Delivery '{named}' is being sent now.");
            return Err(OjsError::new(ErrorCode::Conflict, message)
                .with_details(json!({"reason": "delivery_in_progress", "delivery_id": named}))
                .into());
        }
        if row.state.is_final() {
            self.features.webhooks.entry(row.subscription).or_default().reopen();
        }
        (row.state, row.due_at, row.failures) = (DeliveryState::Pending, self.now.as_millis(), 0);
        (row.ended_at, row.keep_until) = (0, 0);
        self.tables.put_deliveries(std::slice::from_ref(&row))?;
        self.signals.push(Signal::Deliveries);
        Ok(row)
    }

    /// Removes what is past its retention, and what is left of deleted subscriptions; true when there may be more.
    pub(crate) fn prune_deliveries(&mut self) -> Applied<bool> {
        let mut more = self.tables.remove_old_deliveries(self.now.as_millis(), SLICE)? == SLICE;
        for subscription in self.tables.deleted_subscriptions()? {
            if self.tables.remove_deliveries(subscription.id, SLICE)? == SLICE {
                more = true;
            } else if subscription.deleted_at.saturating_add(millis(KEEP_DELETED)) <= self.now.as_millis() {
                self.tables.forget_subscription(subscription.id)?;
            }
        }
        Ok(more)
    }

    fn emit_settled(&mut self, row: &DeliveryRow) {
        let name = match row.state {
            DeliveryState::Delivered => "webhook.delivered",
            DeliveryState::Dead => "webhook.dead",
            DeliveryState::Pending | DeliveryState::Sending => "webhook.failed",
        };
        let mut extra = String::new();
        json::push_text(&mut extra, "delivery_id", &format!("{DELIVERY}{}", row.id));
        json::push_text(&mut extra, "event_id", &row.event_id);
        json::push_text(&mut extra, "event_type", &row.event_type);
        json::push_bare(&mut extra, "attempt", row.attempts);
        if row.status > 0 {
            json::push_bare(&mut extra, "status_code", row.status);
        }
        if !row.error.is_empty() {
            json::push_text(&mut extra, "error", &row.error);
        }
        if row.state == DeliveryState::Pending {
            json::push_time(&mut extra, "next_attempt_at", Timestamp::from_millis(row.due_at));
        }
        self.emit_webhook(name, row.subscription, &extra);
    }

    fn emit_webhook(&mut self, name: &str, subscription: JobId, more: &str) {
        let subject = format!("{SUBSCRIPTION}{subscription}");
        let mut extra = String::new();
        json::push_text(&mut extra, "subscription_id", &subject);
        if !more.is_empty() {
            extra.push(',');
            extra.push_str(more);
        }
        self.journal.other(name, self.now, &subject, &extra);
    }
}

/// Whether the caller sees the deliveries of a subscription. Operators see those of a deleted one, too.
pub(super) fn is_seen(tables: &mut dyn Tables, subscription: JobId) -> Result<bool, StoreError> {
    let scope = tables.names().scope.clone();
    if scope == Scope::All {
        return Ok(true);
    }
    Ok(tables.subscription(subscription)?.is_some_and(|row| row.is_seen_by(&scope)))
}

fn too_many(most: &str, number: usize) -> OjsError {
    let message = format!("There are {number} subscriptions, which is the most that {most}.");
    OjsError::new(ErrorCode::Conflict, message)
        .with_details(json!({"reason": "too_many_subscriptions", "max_subscriptions": number}))
}

fn fresh(subscription: JobId, event_id: &str, event_type: &str, payload: &str, at: Timestamp) -> DeliveryRow {
    DeliveryRow {
        id: JobId::now_v7(),
        subscription,
        event_id: event_id.to_owned(),
        event_type: event_type.to_owned(),
        payload: payload.to_owned(),
        created_at: at.as_millis(),
        state: DeliveryState::Pending,
        due_at: at.as_millis().max(1),
        lease: 0,
        attempts: 0,
        failures: 0,
        attempted_at: 0,
        took: 0,
        status: 0,
        error: String::new(),
        answer: String::new(),
        ended_at: 0,
        keep_until: 0,
    }
}

fn end(row: &mut DeliveryRow, state: DeliveryState, now: i64, keep: Duration) {
    (row.state, row.due_at, row.ended_at) = (state, 0, now);
    row.keep_until = now.saturating_add(millis(keep));
}
