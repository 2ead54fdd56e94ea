//! What is asked for CloudEvents.
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ojs_model::{JobId, NewJob};
use serde_json::{Value, json};

use crate::error::{Applied, Refusal, StoreError};
use crate::features::idempotency::records::{IdempotencyKey, Remembered};
use crate::kernel::placed::Placed;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::Command;
use crate::store::wanted::Wanted;

/// An event that asks for a job.
#[derive(Debug, Clone)]
pub(super) struct Event {
    /// The job.
    pub(super) job: Arc<NewJob>,
    /// What names the event.
    pub(super) key: IdempotencyKey,
}

/// Store the jobs of events, all or none. An event that has stored a job in the last 24 hours stores no other one.
#[derive(Debug, Clone)]
pub(super) struct EnqueueOnce(pub(super) Vec<Event>);

/// What has become of an event.
pub(super) enum Triggered {
    /// It has enqueued a job.
    Now(Box<Placed>),
    /// It had enqueued this one before.
    Before(JobId),
}

impl Command for EnqueueOnce {
    /// One for each event.
    type Reply = Vec<Triggered>;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Self::Reply> {
        let mut jobs = self.known(transaction)?;
        let mut fresh: Vec<usize> = Vec::new();
        for (index, event) in self.0.iter().enumerate() {
            // The same event twice in one batch is one event.
            jobs.entry(&event.key.name).or_insert_with(|| {
                fresh.push(index);
                event.job.id
            });
        }
        let new: Vec<Arc<NewJob>> =
            fresh.iter().filter_map(|index| self.0.get(*index)).map(|event| Arc::clone(&event.job)).collect();
        let placed = if new.is_empty() {
            Vec::new()
        } else {
            transaction.enqueue(&new).map_err(|refusal| located(refusal, &fresh, self.0.len()))?
        };
        let mut placed: BTreeMap<usize, Placed> = fresh.iter().copied().zip(placed).collect();
        let now = transaction.now.as_millis();
        for (index, placed) in &placed {
            let Some(Event { key, .. }) = self.0.get(*index) else { continue };
            // Of a job that was there already, under a unique key, the event gets that one again.
            let job = placed.job.row.id;
            jobs.insert(&key.name, job);
            let (name, digest) = (key.name.clone(), key.digest.to_vec());
            transaction.tables.remember(&Remembered { name, digest, status: 201, body: job.to_string(), at: now })?;
        }
        let triggered = self.0.iter().enumerate().map(|(index, event)| match placed.remove(&index) {
            Some(placed) => Triggered::Now(Box::new(placed)),
            None => Triggered::Before(jobs.get(event.key.name.as_str()).copied().unwrap_or(event.job.id)),
        });
        Ok(triggered.collect())
    }

    fn weight(&self) -> usize {
        self.0.len()
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        self.0.iter().for_each(|event| wanted.new_job(&event.job));
    }
}

impl EnqueueOnce {
    /// The jobs of events that came before, by key. Keys are reserved in their order, so that two batches that name the
    /// same events wait for each other instead of stopping each other.
    fn known(&self, transaction: &mut Transaction<'_>) -> Result<HashMap<&str, JobId>, StoreError> {
        let now = transaction.now.as_millis();
        let mut names: Vec<&str> = self.0.iter().map(|event| event.key.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let mut jobs = HashMap::new();
        for name in names {
            let Some(known) = transaction.tables.answer_under(name)?.filter(|known| known.is_recent(now)) else { continue };
            let unreadable = |_| StoreError::Failed(format!("the answer '{name}' names no job"));
            jobs.insert(name, known.body.parse().map_err(unreadable)?);
        }
        Ok(jobs)
    }
}

/// A refusal names the place of its job among the new ones; the client knows the place among its events.
fn located(refusal: Refusal, fresh: &[usize], of: usize) -> Refusal {
    let Refusal::Ojs(mut error) = refusal else { return refusal };
    let Some(details) = error.details.as_mut().and_then(Value::as_object_mut).filter(|_| of > 1) else {
        return Refusal::Ojs(error);
    };
    let named = details.get("index").and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
    // A refusal of a single new job names no place.
    let at = if fresh.len() == 1 { Some(0) } else { named };
    let Some((at, place)) = at.and_then(|at| Some((at, *fresh.get(at)?))) else { return Refusal::Ojs(error) };
    details.insert("index".into(), json!(place));
    if let Some(Value::String(field)) = details.get_mut("field") {
        let inner = field.strip_prefix(&format!("jobs[{at}].")).unwrap_or(field);
        *field = format!("events[{place}].{inner}");
    }
    Refusal::Ojs(error)
}
