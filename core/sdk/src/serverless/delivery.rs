//! One job as it reaches a function.
use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::Error;

/// Members of a job, as they arrived.
type Members = BTreeMap<String, Box<RawValue>>;

/// A job, and what its delivery says about the lease under which it runs.
#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) id: String,
    pub(super) attempt: u32,
    /// The name under which the server has leased the job; empty where the delivery does not say.
    pub(super) worker_id: String,
    /// New for every attempt to push a job; `None` where a queue has brought it.
    pub(super) delivery_id: Option<String>,
    /// Whether the delivery proves the lease by a token.
    pub(super) is_fenced: bool,
    members: Members,
}

impl Delivery {
    /// Reads the body of a push delivery, `{"job": …, "worker_id", "delivery_id"}`, or a job alone.
    ///
    /// # Errors
    /// [`Error::Validation`], which names the wrong member.
    pub(super) fn parse(body: &[u8]) -> Result<Self, Error> {
        let data: Members = serde_json::from_slice(body)
            .map_err(|error| Error::validation("body", format!("the body is no JSON object: {error}")))?;
        let job = data.get("job").map(|job| serde_json::from_str::<Members>(job.get()));
        let pushed = job.transpose().map_err(|_| Error::validation("job", "'job' must be an object"))?;
        let (mut members, around) = match pushed {
            Some(members) => (members, data),
            None => (data, Members::new()),
        };
        for name in ["worker_id", "lease_token"] {
            if let Some(value) = around.get(name) {
                members.insert(name.to_owned(), value.clone());
            }
        }
        let delivery_id = text(&around, "delivery_id");
        let named = |name: &'static str| {
            let found = text(&members, name).filter(|text| !text.is_empty());
            found.ok_or_else(|| Error::validation(name, format!("'{name}' of the job must be a text that is not empty")))
        };
        let id = named("id")?;
        named("type")?;
        if members.get("args").is_some_and(|args| !args.get().starts_with('[')) {
            return Err(Error::validation("args", "'args' of the job must be an array"));
        }
        let attempt = members.get("attempt").and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or(1);
        let worker_id = text(&members, "worker_id").unwrap_or_default();
        let is_fenced = members.get("lease_token").is_some_and(|token| token.get() != "null");
        Ok(Self { id, attempt, worker_id, delivery_id, is_fenced, members })
    }

    /// Whether the message has the job itself: of a job that is too large for a queue it has a reference, without
    /// `args`.
    pub(super) fn is_whole(&self) -> bool {
        self.members.contains_key("args")
    }

    /// Whether the server has a checkpoint of the job that is too large for the message as well.
    pub(super) fn refers_to_checkpoint(&self) -> bool {
        self.members.get("checkpoint_ref").is_some_and(|raw| raw.get() == "true")
    }

    /// The same delivery with the whole job, as the server has it. Members of the message count: its lease and its
    /// attempt are those of this delivery.
    ///
    /// # Errors
    /// [`Error::Serialization`] for answers that cannot be read.
    pub(super) fn completed(mut self, job: &str, checkpoint: Option<&[u8]>) -> Result<Self, Error> {
        #[derive(Deserialize, serde::Serialize)]
        struct Saved {
            state: Box<RawValue>,
            sequence: u64,
        }
        let wrong = |error| Error::json("job of the server", error);
        let mut members: Members = serde_json::from_str(job).map_err(wrong)?;
        members.append(&mut self.members);
        members.remove("checkpoint_ref");
        if let Some(checkpoint) = checkpoint {
            let saved: Saved = serde_json::from_slice(checkpoint).map_err(wrong)?;
            members.insert("checkpoint".to_owned(), serde_json::value::to_raw_value(&saved).map_err(wrong)?);
        }
        self.members = members;
        Ok(self)
    }

    /// The job as JSON text.
    ///
    /// # Errors
    /// [`Error::Serialization`], which does not happen for members that were read.
    pub(super) fn envelope(&self) -> Result<Bytes, Error> {
        serde_json::to_vec(&self.members).map(Bytes::from).map_err(|error| Error::json("job", error))
    }
}

fn text(members: &Members, name: &str) -> Option<String> {
    serde_json::from_str(members.get(name)?.get()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The vectors of all languages: what the server sends, and what a function makes of it.
    #[test]
    fn references_are_those_of_the_vectors() {
        let vectors: Value = serde_json::from_str(include_str!("../../../../tests/vectors/serverless_reference.json")).unwrap();
        for case in vectors["cases"].as_array().unwrap() {
            let delivery = Delivery::parse(case["message"].to_string().as_bytes()).unwrap();
            let checkpoint = Some(&case["checkpoint"]).filter(|saved| !saved.is_null()).map(Value::to_string);
            assert_eq!((delivery.is_whole(), delivery.refers_to_checkpoint()), (false, checkpoint.is_some()), "{}", case["name"]);
            let whole = delivery.completed(&case["job"].to_string(), checkpoint.as_deref().map(str::as_bytes)).unwrap();
            let runs: Value = serde_json::from_slice(&whole.envelope().unwrap()).unwrap();
            assert_eq!(runs, case["runs"], "{}", case["name"]);
        }
    }

    #[test]
    fn a_push_delivery_and_a_job_alone_are_read_and_the_rest_is_refused() {
        let job = json!({"id": "1", "type": "t", "args": [1.50], "lease_token": 7});
        let pushed = json!({"job": job, "worker_id": "push_worker_1", "delivery_id": "del_1"});
        let delivery = Delivery::parse(pushed.to_string().as_bytes()).unwrap();
        assert_eq!((delivery.worker_id.as_str(), delivery.delivery_id.as_deref()), ("push_worker_1", Some("del_1")));
        assert!(delivery.is_fenced && delivery.is_whole());
        assert!(Delivery::parse(job.to_string().as_bytes()).unwrap().worker_id.is_empty());
        for wrong in
            ["", "[]", r#"{"job":1}"#, r#"{"type":"t"}"#, r#"{"id":"","type":"t"}"#, r#"{"id":"1","type":"t","args":{}}"#]
        {
            assert!(matches!(Delivery::parse(wrong.as_bytes()), Err(Error::Validation { .. })), "{wrong}");
        }
    }
}
