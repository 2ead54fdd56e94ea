//! `POST /jobs`: an enqueue request, or a CloudEvent that enqueues a job.
use std::sync::Arc;

use axum::extract::State;
use ojs_model::json::{push_bare, push_text};
use ojs_model::{JobId, envelope};
use sha2::{Digest, Sha256};

use super::commands::{EnqueueOnce, Triggered};
use super::trigger::{Trigger, is_event, read};
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
    if !is_event(&call.headers) {
        return jobs::enqueue(State(engine), call).await;
    }
    let trigger = read(&call.headers, &call.body)?;
    let mut job = engine.parse_job(envelope::check_body(trigger.request.as_bytes())?, engine.now(), call.request_id())?;
    call.asker.sign(&mut job);
    let key = key(&trigger, call.asker.key.as_deref(), job.tenant.as_deref());
    let id = job.id;
    match engine.execute(EnqueueOnce { job: Arc::new(job), key }).await? {
        Triggered::Now(placed) => {
            let mut out = String::from("{\"job\":");
            for placed in &placed {
                owner::placed(&mut out, placed);
            }
            out.push('}');
            Ok(Json::created(out, Some(format!("/ojs/v1/jobs/{id}"))))
        }
        Triggered::Before(id) => known(&engine, id).await,
    }
}

/// The job that the event has enqueued before, under the same key; of one that is gone, its id.
async fn known(engine: &Engine, id: JobId) -> Result<Json, Failure> {
    let mut out = String::from("{\"job\":");
    match engine.query(GetJob(id)).await {
        Ok(view) => render::job(&mut out, &view),
        Err(Refusal::Ojs(_)) => {
            out.push('{');
            push_text(&mut out, "id", &id.to_string());
            out.push('}');
        }
        Err(fault) => return Err(fault.into()),
    }
    push_bare(&mut out, "deduplicated", true);
    out.push('}');
    Ok(Json::ok(out))
}

/// What names an event: its source and id, within its tenant and the key that it came with.
fn key(trigger: &Trigger, caller: Option<&str>, tenant: Option<&str>) -> IdempotencyKey {
    let named = [tenant.unwrap_or_default(), &trigger.source, &trigger.id].map(|part| format!("{}:{part}", part.len()));
    let digest: [u8; 32] = Sha256::digest(named.concat()).into();
    IdempotencyKey::new("cloudevents", caller, &ojs_model::hex::encode(&digest), digest)
}
