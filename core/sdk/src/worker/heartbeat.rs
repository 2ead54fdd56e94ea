//! Heartbeats: they extend leases and carry the server's directives back (protocol section 5.2).
use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt;
use ojs_model::json::{push_bare, push_member, push_string, push_text};
use serde::Deserialize;
use tokio::time::Instant;

use super::event::WorkerEvent;
use super::held::{Entry, Stage};
use super::shared::{Shared, panic_message};
use crate::dispatch::{CancelReason, DeliveryKey, Phase};
use crate::error::Error;
use crate::transport::{Request, Response};

/// Longest wait for the answer; after it a new heartbeat is better than waiting.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// The same for the last one, which nothing depends on.
const FAREWELL_WITHIN: Duration = Duration::from_secs(2);

/// [`run`], started again when it panics (an injected transport may).
pub(super) async fn supervise(shared: &Shared) {
    while let Err(panic) = AssertUnwindSafe(run(shared)).catch_unwind().await {
        shared.restarted("heartbeat", panic_message(&*panic));
        tokio::time::sleep(shared.options.heartbeat_interval).await;
    }
}

/// Beats until the worker has stopped, and at once when it goes quiet or starts to drain.
async fn run(shared: &Shared) {
    let mut control = shared.control();
    let mut told = Phase::Running;
    let mut next = Instant::now() + shared.options.heartbeat_interval;
    loop {
        let changed = control.wait_for(|control| control.phase != told);
        tokio::select! {
            _ = changed => {}
            () = tokio::time::sleep_until(next) => {}
        }
        told = shared.phase();
        if told == Phase::Stopped {
            return;
        }
        next = Instant::now() + shared.options.heartbeat_interval;
        let held = shared.held().snapshot();
        if let Err(error) = beat(shared, &held).await {
            tracing::warn!(worker = %shared.worker_id, %error, held = held.len(), "heartbeat failed");
            shared.emit(WorkerEvent::HeartbeatFailed(error.into()));
        }
    }
}

/// Sends the last heartbeat: the server then knows at once that the worker has stopped.
pub(super) async fn farewell(shared: &Shared) {
    let beat = beat(shared, &[]);
    if let Ok(Err(error)) = tokio::time::timeout(FAREWELL_WITHIN, beat).await {
        tracing::debug!(worker = %shared.worker_id, %error, "last heartbeat failed");
    }
}

/// Sends one heartbeat for these deliveries and acts on the answer.
pub(super) async fn beat(shared: &Shared, held: &[(DeliveryKey, Entry)]) -> Result<(), Error> {
    // One at a time: the last one, above all, must not be overtaken by one that was sent before it.
    let _turn = shared.beating.lock().await;
    let sent = Instant::now();
    let response = send(shared, held).await?;
    let answer: Answer = if response.body.is_empty() {
        Answer::default()
    } else {
        serde_json::from_slice(&response.body).map_err(|e| Error::json("heartbeat answer", e))?
    };
    obey(shared, answer.state.as_deref(), answer.directive.as_deref());
    mark(shared, held, &answer, sent);
    Ok(())
}

/// In the specification's form first; a server that answers 400 gets the list form from then on.
async fn send(shared: &Shared, held: &[(DeliveryKey, Entry)]) -> Result<Response, Error> {
    let list = shared.list_heartbeats.load(Ordering::Relaxed);
    let response = post(shared, body(shared, held, list)).await?;
    if response.is_success() {
        return Ok(response);
    }
    if response.status != 400 || list {
        return Err(Error::from_response(&response));
    }
    let second = post(shared, body(shared, held, true)).await?;
    if !second.is_success() {
        return Err(Error::from_response(&response));
    }
    tracing::debug!(worker = %shared.worker_id, "this server takes heartbeats in the list form");
    shared.list_heartbeats.store(true, Ordering::Relaxed);
    Ok(second)
}

async fn post(shared: &Shared, body: String) -> Result<Response, Error> {
    let request = Request::post("/workers/heartbeat", body).with_resend(true);
    let late = |_| {
        Error::Transport(crate::transport::TransportError::new(
            crate::transport::TransportErrorKind::Timeout,
            "no answer to a heartbeat",
        ))
    };
    Ok(tokio::time::timeout(ANSWER_WITHIN, shared.transport.request(request)).await.map_err(late)??)
}

/// `{worker_id, state, active_jobs, active_job_ids}`, and the lease tokens where the server gave some.
fn body(shared: &Shared, held: &[(DeliveryKey, Entry)], list: bool) -> String {
    let mut ids = String::from("[");
    let mut tokens = String::from("{");
    for (_, entry) in held {
        if ids.len() > 1 {
            ids.push(',');
        }
        push_string(&mut ids, &entry.id);
        if let Some(token) = entry.lease_token {
            push_bare(&mut tokens, &entry.id, token);
        }
    }
    ids.push(']');
    let mut body = String::from("{");
    push_text(&mut body, "worker_id", &shared.worker_id);
    push_text(&mut body, "state", word(shared.phase()));
    if list {
        push_member(&mut body, "active_jobs", &ids);
    } else {
        push_bare(&mut body, "active_jobs", held.len());
    }
    push_member(&mut body, "active_job_ids", &ids);
    if tokens.len() > 1 {
        tokens.push('}');
        push_member(&mut body, "lease_tokens", &tokens);
    }
    if shared.shown.load(Ordering::Relaxed) {
        describe(shared, &mut body);
    }
    if !shared.options.labels.is_empty() {
        let labels: Vec<_> = shared.options.labels.iter().map(String::as_str).collect();
        push_member(&mut body, "labels", &serde_json::json!(labels).to_string());
    }
    body.push('}');
    body
}

/// The worker's description for operators. Only for servers that keep it: others get the specification's form.
fn describe(shared: &Shared, body: &mut String) {
    if let Some(host) = crate::machine::name() {
        push_text(body, "hostname", host);
    }
    push_bare(body, "pid", std::process::id());
    push_member(body, "queues", &serde_json::json!(shared.options.queues).to_string());
    push_bare(body, "concurrency", shared.options.concurrency);
    if let Some(handlers) = shared.declared.as_deref() {
        push_member(body, "handlers", handlers);
    }
    push_text(body, "version", concat!("ojs-rust/", env!("CARGO_PKG_VERSION")));
}

fn word(phase: Phase) -> &'static str {
    match phase {
        Phase::Running => "running",
        Phase::Quiet => "quiet",
        Phase::Draining | Phase::Stopped => "terminate",
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    state: Option<String>,
    directive: Option<String>,
    jobs_extended: Option<Vec<String>>,
    cancelled_jobs: Option<Vec<String>>,
}

/// The stronger of `state` and `directive`; unknown words mean "continue".
pub(super) fn obey(shared: &Shared, state: Option<&str>, directive: Option<&str>) {
    let says = |word: &str| [state, directive].contains(&Some(word));
    if says("terminate") {
        // Sent again at every beat of the drain: only the first one counts, a second stop would end the grace period.
        if shared.phase() < Phase::Draining {
            tracing::info!(worker = %shared.worker_id, "the server asks the worker to terminate");
            shared.stop(None);
        }
    } else if says("quiet") {
        shared.quiet();
    }
}

/// Notes extended leases, and asks handlers to stop whose job was cancelled or handed to another worker.
fn mark(shared: &Shared, held: &[(DeliveryKey, Entry)], answer: &Answer, sent: Instant) {
    let extended: Option<HashSet<&str>> = answer.jobs_extended.as_ref().map(|ids| ids.iter().map(String::as_str).collect());
    let cancelled: HashSet<&str> = answer.cancelled_jobs.iter().flatten().map(String::as_str).collect();
    let mut stop = Vec::new();
    let mut table = shared.held();
    for (key, _) in held {
        let Some(entry) = table.get_mut(*key) else { continue };
        let is_extended = extended.as_ref().is_none_or(|ids| ids.contains(&*entry.id));
        let reason = if cancelled.contains(&*entry.id) {
            CancelReason::Cancelled
        } else if is_extended {
            if let Some(lease) = shared.options.visibility_timeout {
                entry.lease_until = entry.lease_until.max(sent + lease);
            }
            continue;
        } else if entry.lease_token.is_some() {
            // Only a server that fences its leases is trusted to list every extended job.
            CancelReason::LeaseLost
        } else {
            continue;
        };
        if entry.stage == Stage::Running && entry.cancelled.is_none() {
            entry.cancelled = Some(reason);
            stop.push((*key, entry.id.clone(), entry.about.clone(), reason));
        }
    }
    drop(table);
    for (key, job_id, about, reason) in stop {
        shared.stop_run(key, &job_id, &about, reason);
    }
}
