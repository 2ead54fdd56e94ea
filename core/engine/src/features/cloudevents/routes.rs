//! `POST /jobs`: an enqueue request, or CloudEvents that enqueue jobs.
use std::sync::Arc;

use axum::extract::State;
use ojs_model::json::{push_bare, push_text};
use ojs_model::{ErrorCode, JobId, OjsError, envelope};
use serde_json::json;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::answer::MAX_BATCH_EVENTS;
use super::commands::{EnqueueOnce, Event, Triggered};
use super::trigger::{Mode, Trigger, read_binary, read_structured};
use crate::engine::Engine;
use crate::error::Refusal;
use crate::features::idempotency::records::IdempotencyKey;
use crate::http::call::Call;
use crate::http::jobs;
use crate::http::reply::{Failure, Json};
use crate::kernel::query::GetJob;
use crate::kernel::{owner, render};

/// `POST /jobs`.
pub async fn enqueue(State(engine): State<Engine>, call: Call) -> Result<Json, Failure> {
    let trigger = match Mode::of(&call.headers) {
        None => return jobs::enqueue(State(engine), call).await,
        Some(Mode::Batch) => return batch(&engine, &call).await,
        Some(Mode::Structured) => read_structured(&call.body)?,
        Some(Mode::Binary) => read_binary(&call.headers, &call.body)?,
    };
    let event = event(&engine, &call, &trigger)?;
    let id = event.job.id;
    let mut out = String::from("{\"job\":");
    let is_new = match engine.execute(EnqueueOnce(vec![event])).await?.pop() {
        Some(Triggered::Now(placed)) => {
            owner::placed(&mut out, &placed);
            true
        }
        Some(Triggered::Before(id)) => {
            known(&mut out, &engine, id).await?;
            push_bare(&mut out, "deduplicated", true);
            false
        }
        None => false,
    };
    out.push('}');
    Ok(if is_new { Json::created(out, Some(format!("/ojs/v1/jobs/{id}"))) } else { Json::ok(out) })
}

/// A batch in structured mode: the jobs of all its events are stored, or none.
async fn batch(engine: &Engine, call: &Call) -> Result<Json, Failure> {
    let raw: Vec<&RawValue> = call.parse()?;
    if raw.is_empty() {
        return Err(OjsError::new(ErrorCode::InvalidPayload, "The batch is empty: it must have at least one event.").into());
    }
    if raw.len() > MAX_BATCH_EVENTS {
        let message = format!("The batch has {} events; the limit is {MAX_BATCH_EVENTS}.", raw.len());
        let error = OjsError::new(ErrorCode::BatchSizeExceeded, message);
        return Err(error.with_details(json!({"max_batch_size": MAX_BATCH_EVENTS})).into());
    }
    let events = raw.iter().enumerate().map(|(index, raw)| {
        let read = read_structured(raw.get().as_bytes()).and_then(|trigger| event(engine, call, &trigger));
        read.map_err(|error| located(error, index))
    });
    let events = events.collect::<Result<Vec<_>, _>>()?;
    let (mut out, mut new, count) = (String::from("{\"jobs\":["), 0, events.len());
    for (index, triggered) in engine.execute(EnqueueOnce(events)).await?.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        match triggered {
            Triggered::Now(placed) => {
                owner::placed(&mut out, &placed);
                new += 1;
            }
            Triggered::Before(id) => known(&mut out, engine, id).await?,
        }
    }
    out.push(']');
    push_bare(&mut out, "count", count);
    push_bare(&mut out, "deduplicated", count - new);
    out.push('}');
    Ok(if new > 0 { Json::created(out, None) } else { Json::ok(out) })
}

/// The job that an event asks for, and what names the event.
fn event(engine: &Engine, call: &Call, trigger: &Trigger) -> Result<Event, OjsError> {
    let mut job = engine.parse_job(envelope::check_body(trigger.request.as_bytes())?, engine.now(), call.request_id())?;
    call.asker.sign(&mut job);
    let key = key(trigger, call.asker.key.as_deref(), job.tenant.as_deref());
    Ok(Event { job: Arc::new(job), key })
}

/// Says which event of a batch is at fault.
fn located(mut error: OjsError, index: usize) -> OjsError {
    error.message = format!("events[{index}]: {}", error.message);
    let details = error.details.get_or_insert_with(|| json!({}));
    if let Some(details) = details.as_object_mut() {
        details.insert("index".into(), json!(index));
    }
    error
}

/// Appends the job that an event has enqueued before, under the same key; of one that is gone, its id.
async fn known(out: &mut String, engine: &Engine, id: JobId) -> Result<(), Failure> {
    match engine.query(GetJob(id)).await {
        Ok(view) => render::job(out, &view),
        Err(Refusal::Ojs(_)) => {
            out.push('{');
            push_text(out, "id", &id.to_string());
            out.push('}');
        }
        Err(fault) => return Err(fault.into()),
    }
    Ok(())
}

/// What names an event: its source and id, within its tenant and the key that it came with.
fn key(trigger: &Trigger, caller: Option<&str>, tenant: Option<&str>) -> IdempotencyKey {
    let named = [tenant.unwrap_or_default(), &trigger.source, &trigger.id].map(|part| format!("{}:{part}", part.len()));
    let digest: [u8; 32] = Sha256::digest(named.concat()).into();
    IdempotencyKey::new("cloudevents", caller, &ojs_model::hex::encode(&digest), digest)
}
