//! What is asked for a CloudEvent.
use std::sync::Arc;

use ojs_model::{JobId, NewJob};

use crate::error::{Applied, StoreError};
use crate::features::idempotency::records::{IdempotencyKey, Remembered};
use crate::kernel::placed::Placed;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::Command;
use crate::store::wanted::Wanted;

/// Store a job, unless the event that asks for it has stored one in the last 24 hours.
#[derive(Debug, Clone)]
pub(super) struct EnqueueOnce {
    /// The job.
    pub(super) job: Arc<NewJob>,
    /// What names the event.
    pub(super) key: IdempotencyKey,
}

/// What has become of an event.
pub(super) enum Triggered {
    /// It has enqueued a job.
    Now(Vec<Placed>),
    /// It had enqueued this one before.
    Before(JobId),
}

impl Command for EnqueueOnce {
    type Reply = Triggered;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Triggered> {
        let (name, now) = (&self.key.name, transaction.now.as_millis());
        if let Some(known) = transaction.tables.answer_under(name)?.filter(|known| known.is_recent(now)) {
            let unreadable = |_| StoreError::Failed(format!("the answer '{name}' names no job"));
            return Ok(Triggered::Before(known.body.parse().map_err(unreadable)?));
        }
        let placed = transaction.enqueue(std::slice::from_ref(&self.job))?;
        // Of a job that was there already, under a unique key, the event gets that one again.
        let job = placed.first().map_or(self.job.id, |placed| placed.job.row.id);
        let (name, digest) = (name.clone(), self.key.digest.to_vec());
        transaction.tables.remember(&Remembered { name, digest, status: 201, body: job.to_string(), at: now })?;
        Ok(Triggered::Now(placed))
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        wanted.new_job(&self.job);
    }
}
