//! What a run keeps for the attempts after it: its checkpoint, and the results of its steps (extensions section 21).
//!
//! The server keeps one document for each job. Where steps were run, it holds both, the results of the steps under a
//! reserved member:
//!
//! ```json
//! {"$ojs.state": {"page": 7}, "$ojs.steps": {"charge": {"id": "ch_1"}}}
//! ```
//!
//! Without steps it is what the handler has saved, and nothing else. All languages read and write it here.
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ojs_model::json::{push_bare, push_member, push_text};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::held::{Entry, Stage};
use super::reports::Reports;
use super::shared::Shared;
use crate::dispatch::{CancelReason, DeliveryKey};
use crate::error::Error;
use crate::json::Json;
use crate::transport::Request;

/// The member with what the handler has saved, where there are steps.
const STATE: &str = "$ojs.state";
/// The member with the results of steps.
const STEPS: &str = "$ojs.steps";
/// Longest name of a step in bytes.
const MAX_NAME: usize = 255;

/// What one run keeps.
#[derive(Debug, Default)]
pub(crate) struct Durable {
    document: Mutex<Document>,
    /// Saves of one run come one after the other.
    saving: tokio::sync::Mutex<()>,
    /// Reports of progress that wait to be sent.
    pub reports: Mutex<Reports>,
}

impl Durable {
    /// Of a job that was delivered with this `checkpoint`.
    pub fn delivered(checkpoint: Option<&RawValue>) -> Self {
        #[derive(Deserialize)]
        struct Saved {
            state: Box<RawValue>,
        }
        let saved = checkpoint.and_then(|raw| serde_json::from_str::<Saved>(raw.get()).ok());
        let document = saved.map(|saved| Document::read(saved.state)).unwrap_or_default();
        Self { document: document.into(), ..Self::default() }
    }

    /// What the handler has saved.
    pub fn state(&self) -> Option<Json> {
        self.document().state.as_deref().map(json)
    }

    /// The result of a step.
    pub fn step(&self, name: &str) -> Option<Json> {
        self.document().steps.get(name).map(|raw| json(raw))
    }

    /// Changes the document, and keeps the change when `save` has confirmed it.
    pub async fn change<T>(&self, change: Change, save: impl AsyncFnOnce(String) -> Result<T, Error>) -> Result<T, Error> {
        let _turn = self.saving.lock().await;
        let mut next = self.document().clone();
        match change {
            Change::State(state) if state.is_null() => {
                return Err(Error::validation("state", "a checkpoint must not be null: delete it instead"));
            }
            Change::State(state) => next.state = Some(raw(&state)?),
            Change::Step(name, result) => drop(next.steps.insert(checked(name)?, raw(&result)?)),
        }
        let saved = save(next.text()).await?;
        *self.document() = next;
        Ok(saved)
    }

    fn document(&self) -> MutexGuard<'_, Document> {
        // The document is replaced as a whole.
        self.document.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is to be saved.
#[derive(Debug)]
pub(crate) enum Change {
    /// The handler's own document.
    State(Json),
    /// The result of a step.
    Step(String, Json),
}

/// What the server keeps of a job.
#[derive(Debug, Default, Clone)]
struct Document {
    state: Option<Box<RawValue>>,
    steps: BTreeMap<String, Box<RawValue>>,
}

impl Document {
    fn read(text: Box<RawValue>) -> Self {
        #[derive(Deserialize)]
        struct Both {
            #[serde(rename = "$ojs.state")]
            state: Option<Box<RawValue>>,
            #[serde(rename = "$ojs.steps")]
            steps: BTreeMap<String, Box<RawValue>>,
        }
        if is_reserved(text.get())
            && let Ok(Both { state, steps }) = serde_json::from_str(text.get())
        {
            return Self { state, steps };
        }
        Self { state: Some(text), steps: BTreeMap::new() }
    }

    fn text(&self) -> String {
        let state = self.state.as_deref().map(RawValue::get);
        match state {
            // A document of the handler that looks like one with steps is put into one, or it would be read as one.
            Some(state) if self.steps.is_empty() && !is_reserved(state) => state.to_owned(),
            _ => {
                let mut out = String::from("{");
                if let Some(state) = state {
                    push_member(&mut out, STATE, state);
                }
                push_member(&mut out, STEPS, "{");
                for (name, result) in &self.steps {
                    push_member(&mut out, name, result.get());
                }
                out.push_str("}}");
                out
            }
        }
    }
}

fn is_reserved(text: &str) -> bool {
    text.contains(STEPS)
}

fn json(raw: &RawValue) -> Json {
    Json::parsed(raw.get().to_owned().into())
}

fn raw(value: &Json) -> Result<Box<RawValue>, Error> {
    RawValue::from_string(value.as_str().to_owned()).map_err(|error| Error::json("checkpoint", error))
}

fn checked(name: String) -> Result<String, Error> {
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(Error::validation("step", format!("the name of a step must have 1 to {MAX_NAME} bytes")));
    }
    Ok(name)
}

impl Shared {
    /// A running delivery, and what it keeps.
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

    /// Sends something about a running delivery under its lease. Should the lease be lost, its handler is asked to stop.
    pub async fn put(&self, key: DeliveryKey, entry: &Entry, what: &str, mut body: String) -> Result<bytes::Bytes, Error> {
        push_text(&mut body, "worker_id", &self.worker_id);
        if let Some(token) = entry.lease_token {
            push_bare(&mut body, "lease_token", token);
        }
        body.push('}');
        let mut request = Request::new(http::Method::PUT, format!("/jobs/{}/{what}", entry.id));
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
        let id = Arc::clone(&entry.id);
        drop(held);
        tracing::info!(worker = %self.worker_id, job_id = %id, ?reason, "the server no longer wants this run");
        self.cancel(key, &id, reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document::read(RawValue::from_string(text.to_owned()).unwrap())
    }

    #[test]
    fn a_document_without_steps_is_what_was_saved() {
        for text in [r#"{"page":7}"#, "[1,2]", "7", r#""x""#, "{}"] {
            let read = document(text);
            assert_eq!((read.state.as_deref().map(RawValue::get), read.steps.len()), (Some(text), 0));
            assert_eq!(read.text(), text);
        }
    }

    #[test]
    fn steps_stand_beside_what_was_saved() {
        let mut read = document(r#"{"page":7}"#);
        read.steps.insert("charge".into(), RawValue::from_string("{\"id\":1.0}".into()).unwrap());
        let text = read.text();
        assert_eq!(text, r#"{"$ojs.state":{"page":7},"$ojs.steps":{"charge":{"id":1.0}}}"#);
        let again = document(&text);
        assert_eq!((again.text(), again.steps["charge"].get()), (text, r#"{"id":1.0}"#));
        let mut bare = Document::default();
        bare.steps.insert("a".into(), RawValue::from_string("null".into()).unwrap());
        let again = document(&bare.text());
        assert!(again.state.is_none() && again.steps["a"].get() == "null", "{}", bare.text());
    }

    #[test]
    fn a_document_of_the_handler_is_never_taken_for_steps() {
        let own = r#"{"$ojs.steps":{"mine":1}}"#;
        let saved = Document { state: Some(RawValue::from_string(own.to_owned()).unwrap()), steps: BTreeMap::new() };
        let again = document(&saved.text());
        assert_eq!((again.state.as_deref().map(RawValue::get), again.steps.len()), (Some(own), 0));
    }
}
