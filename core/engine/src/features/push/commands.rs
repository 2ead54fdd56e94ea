//! What is asked of endpoints, and changed in them.
use ojs_model::{ErrorCode, JobId, OjsError, json};
use serde_json::json;

use super::health::{Change, Note};
use super::records::{EndpointRow, MAX_ENDPOINTS, PushTables};
use super::register::wire_id;
use crate::error::Applied;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::kernel::wake::Signal;
use crate::outgoing::Secret;
use crate::store::record::Read;
use crate::store::tables::Tables;

fn unknown(id: JobId) -> OjsError {
    OjsError::not_found("push_endpoint", &wire_id(id))
}

/// Stores an endpoint.
#[derive(Debug)]
pub(crate) struct CreateEndpoint(pub(crate) EndpointRow);

impl Command for CreateEndpoint {
    type Reply = EndpointRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<EndpointRow> {
        if transaction.tables.count_endpoints()? >= MAX_ENDPOINTS {
            let message = format!("There are {MAX_ENDPOINTS} push endpoints, which is the most that a server keeps.");
            return Err(OjsError::new(ErrorCode::Conflict, message)
                .with_details(json!({"reason": "too_many_endpoints", "max_endpoints": MAX_ENDPOINTS}))
                .into());
        }
        transaction.tables.put_endpoint(&self.0)?;
        transaction.signals.push(Signal::Endpoints);
        Ok(self.0.clone())
    }
}

/// Changes an endpoint.
pub(crate) struct ChangeEndpoint<F> {
    /// Which one.
    pub(crate) id: JobId,
    /// What is changed in it.
    pub(crate) change: F,
}

impl<F> std::fmt::Debug for ChangeEndpoint<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChangeEndpoint").field("id", &self.id).finish_non_exhaustive()
    }
}

impl<F: Fn(&mut EndpointRow, i64) -> Result<(), OjsError> + Send + Sync + 'static> Command for ChangeEndpoint<F> {
    type Reply = EndpointRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<EndpointRow> {
        let mut row = transaction.tables.endpoint(self.id, Read::Held)?.ok_or_else(|| unknown(self.id))?;
        let now = transaction.now.as_millis();
        (self.change)(&mut row, now)?;
        // Nodes compare this time with the one that they know, so two changes within a millisecond differ, too.
        row.updated_at = now.max(row.updated_at.saturating_add(1));
        row.trust_again();
        transaction.tables.put_endpoint(&row)?;
        transaction.signals.push(Signal::Endpoints);
        Ok(row)
    }
}

/// Gives an endpoint another secret; the one before signs as well for a day.
pub(crate) fn rotation(
    id: JobId,
    secret: Secret,
) -> ChangeEndpoint<impl Fn(&mut EndpointRow, i64) -> Result<(), OjsError> + Send + Sync + 'static> {
    let change = move |row: &mut EndpointRow, now: i64| {
        Secret::rotate(&mut row.secret, &mut row.previous_secret, &mut row.previous_until, &secret, now);
        Ok(())
    };
    ChangeEndpoint { id, change }
}

/// Deletes an endpoint. Deliveries that are under way are settled; its other jobs stay available.
#[derive(Debug)]
pub(crate) struct DeleteEndpoint(pub(crate) JobId);

impl Command for DeleteEndpoint {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        if transaction.tables.endpoint(self.0, Read::Held)?.is_none() {
            return Err(unknown(self.0).into());
        }
        transaction.tables.forget_endpoint(self.0)?;
        transaction.signals.push(Signal::Endpoints);
        Ok(())
    }
}

/// Notes what a delivery says about its endpoint. Replies whether the endpoint had been disabled before: another
/// delivery, which was under way at the same time, has shown that its address or key is wrong.
#[derive(Debug)]
pub(crate) struct NoteDelivery {
    /// The endpoint as it was when the delivery was claimed.
    pub(crate) id: JobId,
    /// What the delivery says.
    pub(crate) note: Note,
}

impl Command for NoteDelivery {
    type Reply = bool;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<bool> {
        let Some(before) = transaction.tables.endpoint(self.id, Read::Held)? else { return Ok(false) };
        let was_disabled = before.disabled_at > 0;
        let mut row = before.clone();
        let change = row.note(&self.note, transaction.now.as_millis());
        if row != before {
            transaction.tables.put_endpoint(&row)?;
        }
        let Some(change) = change else { return Ok(was_disabled) };
        let name = match change {
            Change::Opened => "push.endpoint.opened",
            Change::Closed => "push.endpoint.closed",
            Change::Disabled => "push.endpoint.disabled",
        };
        let mut extra = String::new();
        json::push_text(&mut extra, "endpoint_id", &wire_id(row.id));
        json::push_text(&mut extra, "reason", &self.note.reason);
        transaction.journal.other(name, transaction.now, &wire_id(row.id), &extra);
        Ok(was_disabled)
    }

    /// What a crash takes away, the next delivery shows again.
    fn is_durable(&self) -> bool {
        false
    }
}

/// One endpoint.
#[derive(Debug)]
pub(crate) struct GetEndpoint(pub(crate) JobId);

impl Query for GetEndpoint {
    type Reply = EndpointRow;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<EndpointRow> {
        Ok(tables.endpoint(self.0, Read::Plain)?.ok_or_else(|| unknown(self.0))?)
    }
}

/// Endpoints, the oldest first, and how many there are.
#[derive(Debug)]
pub(crate) struct ListEndpoints {
    /// So many are passed over.
    pub(crate) skip: usize,
    /// At most so many are listed.
    pub(crate) limit: usize,
}

impl Query for ListEndpoints {
    type Reply = (Vec<EndpointRow>, usize);

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        Ok((tables.endpoints(self.skip, self.limit)?, tables.count_endpoints()?))
    }
}

/// The names of all queues.
#[derive(Debug)]
pub(crate) struct QueueNames;

impl Query for QueueNames {
    type Reply = Vec<String>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        Ok(tables.queues()?.into_iter().map(|queue| queue.name.to_string()).collect())
    }
}
