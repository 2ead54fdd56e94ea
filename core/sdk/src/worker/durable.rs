//! State that a run saves for later attempts: its checkpoint, and the results of its steps (extensions section 21).
//!
//! The server keeps one document for each job. Where steps were run, it holds both, the results of the steps under a
//! reserved member:
//!
//! ```json
//! {"$ojs.state": {"page": 7}, "$ojs.steps": {"charge": {"id": "ch_1"}}}
//! ```
//!
//! Without steps the document is the handler's checkpoint alone. All languages read and write it by this code.
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ojs_model::json::push_member;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::reports::Reports;
use crate::error::Error;
use crate::json::Json;

/// The member with the handler's checkpoint, where there are steps.
const STATE: &str = "$ojs.state";
/// The member with the results of steps.
const STEPS: &str = "$ojs.steps";
/// Longest name of a step in bytes.
const MAX_NAME: usize = 255;

/// The saved state of one run.
#[derive(Debug, Default)]
pub(crate) struct Durable {
    document: Mutex<Document>,
    /// Locked by a save: saves of one run are made one after the other.
    saving: tokio::sync::Mutex<()>,
    /// Reports of progress that wait to be sent.
    reports: Mutex<Reports>,
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

    /// Reports of progress that wait to be sent.
    pub fn reports(&self) -> MutexGuard<'_, Reports> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn document(&self) -> MutexGuard<'_, Document> {
        // The document is replaced as a whole.
        self.document.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A change of the saved state.
#[derive(Debug)]
pub(crate) enum Change {
    /// The handler's own document.
    State(Json),
    /// The result of a step.
    Step(String, Json),
}

/// The document that the server keeps for a job.
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
            // A checkpoint that looks like a document with steps is wrapped in one; otherwise it would be read as one.
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
