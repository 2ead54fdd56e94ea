//! What is asked of subscriptions and deliveries, and changed in them.
use ojs_model::{JobId, OjsError};

use super::backlog::Dropped;
use super::records::{DeliveryFilter, DeliveryRow, DeliveryState, DropRow, SubscriptionRow, WebhookTables};
use super::request::{DELIVERY, SUBSCRIPTION};
use super::rules::{Claimed, Wish, is_seen};
use super::schedule::Report;
use crate::error::Applied;
use crate::kernel::scope::Scope;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::outgoing::Secret;
use crate::store::record::Read;
use crate::store::tables::Tables;

/// Stores a subscription.
#[derive(Debug)]
pub(crate) struct CreateSubscription(pub(crate) SubscriptionRow);

impl Command for CreateSubscription {
    type Reply = SubscriptionRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<SubscriptionRow> {
        transaction.create_subscription(&self.0)
    }
}

/// Changes a subscription.
pub(crate) struct ChangeSubscription<F> {
    /// Which one.
    pub(crate) id: JobId,
    /// What is changed in it.
    pub(crate) change: F,
}

impl<F> std::fmt::Debug for ChangeSubscription<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChangeSubscription").field("id", &self.id).finish_non_exhaustive()
    }
}

impl<F: Fn(&mut SubscriptionRow) -> Result<(), OjsError> + Send + Sync + 'static> Command for ChangeSubscription<F> {
    type Reply = SubscriptionRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<SubscriptionRow> {
        transaction.change_subscription(self.id, |row, _| (self.change)(row))
    }
}

/// Gives a subscription another secret.
#[derive(Debug)]
pub(crate) struct RotateSecret {
    /// Which subscription.
    pub(crate) id: JobId,
    /// Its new secret.
    pub(crate) secret: Secret,
}

impl Command for RotateSecret {
    type Reply = SubscriptionRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<SubscriptionRow> {
        transaction.rotate_secret(self.id, &self.secret)
    }
}

/// Deletes a subscription and its deliveries.
#[derive(Debug)]
pub(crate) struct DeleteSubscription(pub(crate) JobId);

impl Command for DeleteSubscription {
    /// The subscription as it was.
    type Reply = SubscriptionRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<SubscriptionRow> {
        transaction.delete_subscription(self.0)
    }
}

/// One subscription.
#[derive(Debug)]
pub(crate) struct GetSubscription(pub(crate) JobId);

impl Query for GetSubscription {
    type Reply = SubscriptionRow;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<SubscriptionRow> {
        let row = tables.subscription(self.0)?.filter(|row| row.is_seen_by(&tables.names().scope));
        row.ok_or_else(|| OjsError::not_found("subscription", &format!("{SUBSCRIPTION}{}", self.0)).into())
    }
}

/// All subscriptions, the oldest first.
#[derive(Debug)]
pub(crate) struct ListSubscriptions;

impl Query for ListSubscriptions {
    type Reply = Vec<SubscriptionRow>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let mut rows = tables.subscriptions()?;
        rows.retain(|row| row.is_seen_by(&tables.names().scope));
        Ok(rows)
    }
}

/// Whether there are subscriptions.
#[derive(Debug)]
pub(crate) struct AnySubscription;

impl Query for AnySubscription {
    type Reply = bool;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<bool> {
        Ok(tables.has_subscriptions()?)
    }
}

/// What was dropped of the events of subscriptions, as far as nodes have written it.
#[derive(Debug)]
pub(crate) struct ListDrops;

impl Query for ListDrops {
    type Reply = Vec<DropRow>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        Ok(tables.drops()?)
    }
}

/// Adds to what was dropped of the events of subscriptions.
#[derive(Debug)]
pub(crate) struct NoteDropped(pub(crate) Vec<(JobId, Dropped)>);

impl Command for NoteDropped {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        transaction.note_dropped(&self.0)
    }

    /// A crash takes away what was not written as well.
    fn is_durable(&self) -> bool {
        false
    }
}

/// Takes deliveries that are due.
#[derive(Debug)]
pub(crate) struct ClaimDeliveries(pub(crate) Wish);

impl Command for ClaimDeliveries {
    type Reply = Claimed;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Claimed> {
        transaction.claim_deliveries(&self.0)
    }

    /// A claim that a power cut takes away leaves the delivery where it was: it is sent again, with the same id.
    fn is_durable(&self) -> bool {
        false
    }
}

/// Notes how an attempt ended.
#[derive(Debug)]
pub(crate) struct SettleDelivery {
    /// Which delivery.
    pub(crate) id: JobId,
    /// Its lease when it was claimed.
    pub(crate) lease: i64,
    /// What came of it.
    pub(crate) report: Report,
}

impl Command for SettleDelivery {
    /// The state that follows; `None` when another node has taken the delivery over.
    type Reply = Option<DeliveryState>;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Self::Reply> {
        transaction.settle_delivery(self.id, self.lease, &self.report)
    }
}

/// Sends a delivery again now.
#[derive(Debug)]
pub(crate) struct RetryDelivery(pub(crate) JobId);

impl Command for RetryDelivery {
    type Reply = DeliveryRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<DeliveryRow> {
        transaction.retry_delivery(self.0)
    }
}

/// One delivery.
#[derive(Debug)]
pub(crate) struct GetDelivery(pub(crate) JobId);

impl Query for GetDelivery {
    type Reply = DeliveryRow;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<DeliveryRow> {
        let not_found = || OjsError::not_found("delivery", &format!("{DELIVERY}{}", self.0));
        let row = tables.delivery(self.0, Read::Plain)?.ok_or_else(not_found)?;
        if is_seen(tables, row.subscription)? { Ok(row) } else { Err(not_found().into()) }
    }
}

/// A page of deliveries, the newest first, and how many there are.
#[derive(Debug)]
pub(crate) struct ListDeliveries(pub(crate) DeliveryFilter);

impl Query for ListDeliveries {
    type Reply = (Vec<DeliveryRow>, usize);

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        if tables.names().scope == Scope::All {
            return Ok(tables.deliveries(&self.0)?);
        }
        // A tenant has few subscriptions: a page of each, of which the newest are the page.
        let own = ListSubscriptions.answer(tables)?.into_iter().map(|row| row.id);
        let own: Vec<JobId> = own.filter(|id| self.0.subscription.is_none_or(|only| only == *id)).collect();
        let (mut page, mut total) = (Vec::new(), 0);
        for id in own {
            let (rows, count) = tables.deliveries(&DeliveryFilter { subscription: Some(id), ..self.0.clone() })?;
            page.extend(rows);
            total += count;
        }
        page.sort_by_key(|row| std::cmp::Reverse(row.id));
        page.truncate(self.0.limit);
        Ok((page, total))
    }

    fn is_search(&self) -> bool {
        true
    }
}
