//! Requests of a run under its lease: checkpoints, results of steps, progress.
use std::sync::Arc;
use std::time::Duration;

use ojs_model::json::{push_bare, push_member, push_text};
use serde::Deserialize;
use tokio::runtime::Handle;

use super::durable::{Change, Durable};
use super::held::{Entry, Stage};
use super::reports::Progress;
use super::shared::Shared;
use crate::client::segment;
use crate::dispatch::{CancelReason, DeliveryKey};
use crate::error::Error;
use crate::transport::Request;

/// The least time between two reports of progress of one run.
const PAUSE: Duration = Duration::from_millis(250);

impl Shared {
    /// A running delivery, and its saved state.
    pub fn durable(&self, key: DeliveryKey) -> Result<(Entry, Arc<Durable>), Error> {
        let mut held = self.held();
        let entry = held.get_mut(key).filter(|entry| entry.stage == Stage::Running).ok_or(Error::NotHeld)?;
        let durable = Arc::clone(entry.durable.get_or_insert_default());
        Ok((entry.clone(), durable))
    }

    /// Saves a part of the document of a running delivery; the sequence of the checkpoint.
    pub async fn save(&self, key: DeliveryKey, change: Change) -> Result<u64, Error> {
        #[derive(Deserialize)]
        struct Answer {
            sequence: u64,
        }
        let (entry, durable) = self.durable(key)?;
        let save = async |state: String| {
            let mut body = String::with_capacity(state.len() + 128);
            body.push('{');
            push_member(&mut body, "state", &state);
            let answer = self.put(key, &entry, "checkpoint", body).await?;
            let answer: Answer = serde_json::from_slice(&answer).map_err(|error| Error::json("checkpoint answer", error))?;
            Ok(answer.sequence)
        };
        durable.change(change, save).await
    }

    /// Sends something about a running delivery under its lease. Should the lease be lost, its handler is asked to
    /// stop.
    pub async fn put(&self, key: DeliveryKey, entry: &Entry, what: &str, mut body: String) -> Result<bytes::Bytes, Error> {
        push_text(&mut body, "worker_id", &self.worker_id);
        if let Some(token) = entry.lease_token {
            push_bare(&mut body, "lease_token", token);
        }
        body.push('}');
        let mut request = Request::new(http::Method::PUT, format!("/jobs/{}/{what}", segment(&entry.id)));
        request.body = Some(body.into());
        let answer = self.transport.request(request).await?;
        if answer.is_success() {
            return Ok(answer.body);
        }
        let error = Error::from_response(&answer);
        let Some(refusal) = error.ojs().filter(|refusal| refusal.status == 409) else { return Err(error) };
        let cancelled = refusal.details.as_ref().is_some_and(|details| details["current_state"] == "cancelled");
        self.lose(key, if cancelled { CancelReason::Cancelled } else { CancelReason::LeaseLost });
        Err(Error::NotHeld)
    }

    /// The server has said that this worker does not hold the job any more.
    fn lose(&self, key: DeliveryKey, reason: CancelReason) {
        let mut held = self.held();
        let running = held.get_mut(key).filter(|entry| entry.stage == Stage::Running && entry.cancelled.is_none());
        let Some(entry) = running else { return };
        entry.cancelled = Some(reason);
        let (id, about) = (Arc::clone(&entry.id), entry.about.clone());
        drop(held);
        self.stop_run(key, &id, &about, reason);
    }

    /// Accepts a report and returns at once. Reports that cannot be sent are dropped: the job does not depend on them.
    pub fn report(self: &Arc<Self>, key: DeliveryKey, progress: Progress) {
        // JSON has no NaN and no infinity.
        let is_number = progress.fraction.is_none_or(f64::is_finite);
        let (Ok((_, durable)), true, Ok(runtime)) = (self.durable(key), is_number, Handle::try_current()) else { return };
        if !durable.reports().add(progress) {
            return;
        }
        let shared = Arc::clone(self);
        runtime.spawn(async move {
            loop {
                let Some(progress) = durable.reports().next() else { return };
                if let Err(error) = shared.send_report(key, &progress).await {
                    tracing::debug!(worker = %shared.worker_id, %error, "a report of progress was not taken");
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
    }

    async fn send_report(&self, key: DeliveryKey, progress: &Progress) -> Result<(), Error> {
        let (entry, _) = self.durable(key)?;
        self.put(key, &entry, "progress", progress.body()).await.map(drop)
    }
}
