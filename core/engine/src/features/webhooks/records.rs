//! Subscriptions and deliveries as stores keep them.
use ojs_model::JobId;

use super::backlog::Dropped;
use crate::error::Result;
use crate::kernel::event::{Event, Origin, is_of_queue, is_of_tenant};
use crate::kernel::scope::Scope;
use crate::outgoing::Secret;
use crate::store::record::{Read, RecordTables, Records, Scan, record, words};

/// Most subscriptions: every connection keeps them in memory, and every event is compared with each.
pub const MAX_SUBSCRIPTIONS: usize = 1_000;
/// Most subscriptions of one tenant.
pub const MAX_OF_TENANT: usize = 20;
/// Deliveries counted one by one for the total of a list.
pub const MAX_COUNTED: usize = 10_000;

/// `due_at` of a delivery that has ended.
const ENDED: i64 = 0;

/// What has become of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum DeliveryState {
    /// It waits for its first or next attempt.
    Pending = 0,
    /// A node is sending it.
    Sending = 1,
    /// The endpoint has taken it.
    Delivered = 2,
    /// It is not tried again unless a client asks for it.
    Dead = 3,
}

words! { DeliveryState { Pending = "pending", Sending = "sending", Delivered = "delivered", Dead = "dead" } }

impl DeliveryState {
    /// Whether nothing more happens by itself.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Delivered | Self::Dead)
    }
}

/// How events are sent to a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Format {
    /// As the log has them.
    #[default]
    Ojs = 0,
    /// As CloudEvents in structured mode.
    CloudEvents = 1,
    /// As CloudEvents in binary mode.
    CloudEventsBinary = 2,
}

words! { Format { Ojs = "ojs", CloudEvents = "cloudevents", CloudEventsBinary = "cloudevents-binary" } }

record! {
    /// A subscription. Times are milliseconds since the epoch; 0 is "never". Lists have an entry a line.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SubscriptionRow in "webhook_subscriptions" {
        key ("id");
        remember Everything;
        /// On the wire `sub_` stands before it.
        pub id: JobId,
        /// Where events are sent.
        pub url: String,
        /// Types of events: `job.completed`, `job.*` or `*`.
        pub events: String,
        /// Only events of these queues; empty for all.
        pub queues: String,
        /// Only events of jobs of these types; empty for all.
        pub job_types: String,
        /// Whether events become deliveries, and deliveries are sent.
        pub active: bool,
        /// Signs requests.
        pub secret: Secret,
        /// Signs them as well, until `previous_until`.
        pub previous_secret: Secret,
        /// When the previous secret ends.
        pub previous_until: i64,
        /// What the client keeps with it: a JSON object.
        pub metadata: String,
        /// When it was created.
        pub created_at: i64,
        /// When it was last changed.
        pub updated_at: i64,
        /// When it was deleted: then only its deliveries are left to be removed.
        pub deleted_at: i64,
        /// How events are sent.
        pub format: Format = 0,
        /// Id of the tenant that it belongs to: it gets the events of that tenant only. Empty for those of operators,
        /// which get the events of all.
        pub tenant: String = "",
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').filter(|line| !line.is_empty())
}

impl SubscriptionRow {
    /// Whether it is shown to a caller.
    #[must_use]
    pub fn is_seen_by(&self, scope: &Scope) -> bool {
        scope.id().is_none_or(|own| **own == *self.tenant)
    }

    /// Whether an event becomes a delivery.
    #[must_use]
    pub fn wants(&self, event: &Event) -> bool {
        let of_job = event.origin.is_some();
        let is_own = || is_of_tenant(&self.tenant, event.tenant.as_deref(), of_job, &event.name);
        (self.tenant.is_empty() || is_own()) && self.selects(&event.name, event.origin.as_ref(), &event.subject)
    }

    /// Whether the client has asked for events such as this one.
    fn selects(&self, name: &str, origin: Option<&Origin>, subject: &str) -> bool {
        let fits = |pattern: &str| pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start));
        if !self.active || !lines(&self.events).any(fits) {
            return false;
        }
        let is_in = |list: &str, value: &str| list.is_empty() || lines(list).any(|entry| entry == value);
        match origin {
            Some(origin) => is_in(&self.queues, &origin.queue) && is_in(&self.job_types, &origin.job_type),
            // A worker, a cron entry or a workflow may have the name of a queue.
            None => {
                let of_queue = self.queues.is_empty() || is_of_queue(name);
                self.job_types.is_empty() && of_queue && is_in(&self.queues, subject)
            }
        }
    }

    /// The secrets that sign now, the newest first.
    #[must_use]
    pub fn secrets(&self, now: i64) -> Vec<&str> {
        Secret::valid(&self.secret, &self.previous_secret, self.previous_until, now)
    }

    /// The entries of one of its lists.
    #[must_use]
    pub fn entries(list: &str) -> Vec<&str> {
        lines(list).collect()
    }
}

record! {
    /// One event on its way to one subscription. Times are milliseconds since the epoch; 0 is "never".
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DeliveryRow in "webhook_deliveries" {
        key ("id");
        fixed ("subscription", "event_id", "event_type", "payload", "created_at");
        index LINE = "webhook_deliveries_line" ("subscription", "due_at");
        index OF = "webhook_deliveries_of" ("subscription");
        index STATE = "webhook_deliveries_state" ("state");
        index KEPT = "webhook_deliveries_kept" ("keep_until") positive;
        /// On the wire `del_` stands before it. It is the same in all attempts.
        pub id: JobId,
        /// Which subscription.
        pub subscription: JobId,
        /// The event's id.
        pub event_id: String,
        /// The event's type.
        pub event_type: String,
        /// The event as it is sent.
        pub payload: String,
        /// When the event happened.
        pub created_at: i64,
        /// What has become of it.
        pub state: DeliveryState,
        /// When it is sent next. While a node sends it, the time at which another node may take it over.
        pub due_at: i64,
        /// A number of the latest attempt: a node that was too slow cannot settle a later one.
        pub lease: i64,
        /// Attempts that were begun.
        pub attempts: i64,
        /// Attempts that failed since it was stored or last retried by hand.
        pub failures: i64,
        /// When the latest attempt began.
        pub attempted_at: i64,
        /// How long it took, milliseconds.
        pub took: i64,
        /// The status of the latest answer; 0 without one.
        pub status: i64,
        /// Why the latest attempt failed.
        pub error: String,
        /// The beginning of the latest answer.
        pub answer: String,
        /// When it was delivered or given up.
        pub ended_at: i64,
        /// Until when it is kept after its end.
        pub keep_until: i64,
    }
}

record! {
    /// Events that became no delivery of a subscription, because too many deliveries waited.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DropRow in "webhook_drops" {
        key ("subscription");
        /// Which subscription.
        pub subscription: JobId,
        /// How many they are.
        pub events: i64,
        /// When the first of them happened, milliseconds since the epoch.
        pub since: i64,
    }
}

impl DropRow {
    /// Without the subscription.
    #[must_use]
    pub const fn dropped(&self) -> Dropped {
        Dropped { events: self.events, since: self.since }
    }
}

/// Which deliveries to list.
#[derive(Debug, Clone, Default)]
pub struct DeliveryFilter {
    /// Of this subscription.
    pub subscription: Option<JobId>,
    /// In this state.
    pub state: Option<DeliveryState>,
    /// Older than this one.
    pub after: Option<JobId>,
    /// Page size.
    pub limit: usize,
}

impl DeliveryFilter {
    fn scan(&self) -> Scan<'_> {
        let scan = match (&self.subscription, &self.state) {
            (Some(subscription), Some(state)) => Scan::over(DeliveryRow::OF).under(subscription).only("state", state),
            (Some(subscription), None) => Scan::over(DeliveryRow::OF).under(subscription),
            (None, Some(state)) => Scan::over(DeliveryRow::STATE).under(state),
            (None, None) => Scan::over(DeliveryRow::KEY),
        };
        scan.descending()
    }
}

/// Subscriptions and deliveries.
pub trait WebhookTables: RecordTables {
    /// All subscriptions that are not deleted, the oldest first.
    ///
    /// # Errors
    /// A store that cannot be read, as everywhere here.
    fn subscriptions(&mut self) -> Result<Vec<SubscriptionRow>> {
        let mut rows: Vec<SubscriptionRow> = Records::of(self).scan(&Scan::over(SubscriptionRow::KEY))?;
        rows.retain(|row| row.deleted_at == 0);
        Ok(rows)
    }

    /// Subscriptions whose deliveries are left to be removed.
    ///
    /// # Errors
    /// See [`subscriptions`](Self::subscriptions).
    fn deleted_subscriptions(&mut self) -> Result<Vec<SubscriptionRow>> {
        let mut rows: Vec<SubscriptionRow> = Records::of(self).scan(&Scan::over(SubscriptionRow::KEY))?;
        rows.retain(|row| row.deleted_at > 0);
        Ok(rows)
    }

    /// Whether there are any. Costs no look at the store: connections remember it.
    ///
    /// # Errors
    /// See [`subscriptions`](Self::subscriptions).
    fn has_subscriptions(&mut self) -> Result<bool> {
        Records::<SubscriptionRow, _>::of(self).has_any()
    }

    /// One subscription.
    ///
    /// # Errors
    /// See [`subscriptions`](Self::subscriptions).
    fn subscription(&mut self, id: JobId) -> Result<Option<SubscriptionRow>> {
        let row: Option<SubscriptionRow> = Records::of(self).get(&id)?;
        Ok(row.filter(|row| row.deleted_at == 0))
    }

    /// Writes a subscription, new or known.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn put_subscription(&mut self, row: &SubscriptionRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// Forgets a subscription, and what was dropped of its events.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn forget_subscription(&mut self, id: JobId) -> Result<()> {
        Records::<DropRow, _>::of(self).delete(&id)?;
        Records::<SubscriptionRow, _>::of(self).delete(&id)
    }

    /// Counts the deliveries of a subscription that have not ended, at most so many.
    ///
    /// # Errors
    /// See [`subscriptions`](Self::subscriptions).
    fn count_waiting(&mut self, subscription: JobId, limit: usize) -> Result<usize> {
        let scan = Scan::over(DeliveryRow::LINE).under(&subscription).above(&ENDED).limit(limit);
        Records::<DeliveryRow, _>::of(self).count(&scan)
    }

    /// What was dropped, by subscription.
    ///
    /// # Errors
    /// See [`subscriptions`](Self::subscriptions).
    fn drops(&mut self) -> Result<Vec<DropRow>> {
        Records::of(self).scan(&Scan::over(DropRow::KEY))
    }

    /// One delivery. A transaction that writes holds it until its end.
    ///
    /// # Errors
    /// See [`subscriptions`](Self::subscriptions).
    fn delivery(&mut self, id: JobId, read: Read) -> Result<Option<DeliveryRow>> {
        Records::of(self).find(DeliveryRow::KEY, &id, read)
    }

    /// Writes deliveries, new or known.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn put_deliveries(&mut self, rows: &[DeliveryRow]) -> Result<()> {
        Records::of(self).put_all(rows)
    }

    /// Deliveries of a subscription that are due, the earliest first; those that another node holds now are left out.
    ///
    /// # Errors
    /// See [`subscriptions`](Self::subscriptions).
    fn due_deliveries(&mut self, subscription: JobId, now: i64, limit: usize) -> Result<Vec<DeliveryRow>> {
        let scan = Scan::over(DeliveryRow::LINE).under(&subscription).above(&ENDED).to(&now).limit(limit);
        Records::of(self).scan(&scan.hold(Read::HeldIfFree))
    }

    /// When the next delivery of a subscription is due, later than `now`.
    ///
    /// # Errors
    /// See [`subscriptions`](Self::subscriptions).
    fn next_delivery(&mut self, subscription: JobId, now: i64) -> Result<Option<i64>> {
        let next: Option<DeliveryRow> =
            Records::of(self).first(Scan::over(DeliveryRow::LINE).under(&subscription).above(&now))?;
        Ok(next.map(|row| row.due_at))
    }

    /// A page of deliveries, the newest first, and how many there are: at most [`MAX_COUNTED`] are counted.
    ///
    /// # Errors
    /// See [`subscriptions`](Self::subscriptions).
    fn deliveries(&mut self, filter: &DeliveryFilter) -> Result<(Vec<DeliveryRow>, usize)> {
        let total = Records::<DeliveryRow, _>::of(self).count(&filter.scan().limit(MAX_COUNTED))?;
        let scan = filter.scan().limit(filter.limit);
        let scan = match &filter.after {
            Some(after) => scan.after(after),
            None => scan,
        };
        Ok((Records::of(self).scan(&scan)?, total))
    }

    /// Adds to what was dropped of the events of a subscription.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn add_dropped(&mut self, subscription: JobId, more: Dropped) -> Result<()> {
        let mut rows = Records::<DropRow, _>::of(self);
        let before: Option<DropRow> = rows.find(DropRow::KEY, &subscription, Read::Reserved)?;
        let before = before.as_ref().map_or_else(Dropped::default, DropRow::dropped);
        let Dropped { events, since } = before.and(more);
        rows.put(&DropRow { subscription, events, since })
    }

    /// Removes some deliveries of a subscription; returns how many.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn remove_deliveries(&mut self, subscription: JobId, limit: usize) -> Result<usize> {
        let scan = Scan::over(DeliveryRow::OF).under(&subscription).limit(limit);
        let gone: Vec<DeliveryRow> = Records::of(self).take(&scan)?;
        Ok(gone.len())
    }

    /// Removes some deliveries that are past their retention; returns how many.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn remove_old_deliveries(&mut self, now: i64, limit: usize) -> Result<usize> {
        let gone: Vec<DeliveryRow> = Records::of(self).take(&Scan::over(DeliveryRow::KEPT).to(&now).limit(limit))?;
        Ok(gone.len())
    }
}

impl<T: RecordTables + ?Sized> WebhookTables for T {}
