//! Reads the server's answers to a worker: fetched jobs, results of an exchange, the manifest.
//!
//! Jobs are cut out of the answer as slices of its bytes; arguments are never parsed here.
use std::borrow::Cow;

use bytes::Bytes;
use ojs_model::{OjsError, json};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::failures::Fate;
use super::held::About;
use crate::error::Error;
use crate::manifest::has_extension;

/// The name under which a server advertises the exchange (ADR 1).
const EXCHANGE: &str = "x-worker-exchange";
/// The name under which a server advertises that a request for jobs may name their types.
const FETCH_TYPES: &str = "fetch_types";

/// An answer to fetch or exchange.
#[derive(Debug, Default)]
pub(super) struct Handout {
    pub jobs: Vec<Envelope>,
    /// Of an exchange: one per outcome, in order.
    pub results: Vec<Result<Fate, OjsError>>,
    pub state: Option<String>,
    pub directive: Option<String>,
}

/// One fetched job: the members that the driver needs, and the whole text.
#[derive(Debug)]
pub(super) struct Envelope {
    pub head: Head,
    pub text: Bytes,
}

#[derive(Debug, Default)]
pub(super) struct Head {
    pub id: String,
    pub job_type: String,
    pub queue: Option<String>,
    pub attempt: Option<u32>,
    pub max_attempts: Option<u32>,
    pub lease_token: Option<u64>,
    timeout_ms: Option<u64>,
    timeout: Option<f64>,
    pub visibility_timeout_ms: Option<u64>,
    /// The version of the arguments.
    pub version: Option<Value>,
    /// The saved state of earlier attempts.
    pub checkpoint: Option<Box<RawValue>>,
}

impl Head {
    /// Reads the members that the driver needs of a job, which is JSON. An unexpected optional member does not prevent
    /// the job from running, because servers differ in how they write them.
    ///
    /// # Errors
    /// The name of a member that is missing or no text.
    pub fn read(text: &str) -> Result<Self, &'static str> {
        let mut head = Self::default();
        let (mut id, mut job_type) = (None, None);
        for (name, value) in json::known_members(text) {
            match &*name {
                "id" => id = owned(value),
                "type" => job_type = owned(value),
                "queue" => head.queue = owned(value),
                "attempt" => head.attempt = value.parse().ok(),
                "max_attempts" => head.max_attempts = value.parse().ok(),
                "lease_token" => head.lease_token = value.parse().ok(),
                "timeout_ms" => head.timeout_ms = value.parse().ok(),
                "timeout" => head.timeout = value.parse().ok(),
                "visibility_timeout_ms" => head.visibility_timeout_ms = value.parse().ok(),
                "version" => head.version = serde_json::from_str(value).ok().filter(|version| *version != Value::Null),
                "checkpoint" => head.checkpoint = serde_json::from_str(value).ok().flatten(),
                _ => {}
            }
        }
        Ok(Self { id: id.ok_or("id")?, job_type: job_type.ok_or("type")?, ..head })
    }

    /// What log records show of the job, which is in `envelope`.
    pub fn about(&self, envelope: &Bytes) -> About {
        About { envelope: envelope.clone(), attempt: self.attempt.unwrap_or(1), max_attempts: self.max_attempts }
    }

    /// Milliseconds one attempt may run; zero means "no limit of its own".
    pub fn timeout_ms(&self) -> Option<u64> {
        let seconds = self.timeout.filter(|s| *s > 0.0).map(|s| (s * 1000.0) as u64);
        self.timeout_ms.or(seconds).filter(|ms| *ms > 0)
    }
}

/// Reads an answer. Jobs without id or type cannot even be refused; they are left to their lease.
pub(super) fn handout(body: &Bytes) -> Result<Handout, Error> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(borrow, default)]
        jobs: Option<Vec<&'a RawValue>>,
        #[serde(borrow, default)]
        results: Vec<ResultWire<'a>>,
        #[serde(default)]
        state: Option<String>,
        #[serde(default)]
        directive: Option<String>,
    }
    #[derive(Deserialize)]
    struct ResultWire<'a> {
        #[serde(borrow, default)]
        error: Option<&'a RawValue>,
        #[serde(borrow, default)]
        state: Option<&'a RawValue>,
        #[serde(borrow, default)]
        attempt: Option<&'a RawValue>,
        #[serde(borrow, default)]
        max_attempts: Option<&'a RawValue>,
        #[serde(borrow, default)]
        next_attempt_at: Option<&'a RawValue>,
        #[serde(borrow, default)]
        retry_delay_ms: Option<&'a RawValue>,
    }
    impl<'a> ResultWire<'a> {
        fn read(&self) -> Result<Fate, OjsError> {
            if let Some(error) = self.error {
                return Err(refusal(error));
            }
            let text = |raw: Option<&'a RawValue>| raw.map(RawValue::get);
            // The answer to most outcomes has no more members.
            match text(self.state) {
                None | Some("\"completed\"") => Ok(Fate::default()),
                Some(state) => Ok(Fate::of_result(
                    state,
                    text(self.attempt),
                    text(self.max_attempts),
                    text(self.next_attempt_at),
                    text(self.retry_delay_ms),
                )),
            }
        }
    }
    if body.is_empty() {
        return Ok(Handout::default());
    }
    let wire: Wire<'_> = serde_json::from_slice(body).map_err(|e| Error::json("fetch answer", e))?;
    let jobs = wire.jobs.unwrap_or_default().into_iter().filter_map(|raw| envelope(body, raw)).collect();
    let results = wire.results.iter().map(ResultWire::read).collect();
    Ok(Handout { jobs, results, state: wire.state, directive: wire.directive })
}

fn envelope(body: &Bytes, raw: &RawValue) -> Option<Envelope> {
    match Head::read(raw.get()) {
        Ok(head) => Some(Envelope { head, text: body.slice_ref(raw.get().as_bytes()) }),
        Err(missing) => {
            tracing::error!("the server handed out a job whose {missing} is missing or no text; its lease will run out");
            None
        }
    }
}

fn owned(raw: &str) -> Option<String> {
    json::string(raw).map(Cow::into_owned)
}

fn refusal(raw: &RawValue) -> OjsError {
    let body = format!("{{\"error\":{}}}", raw.get());
    OjsError::from_body(0, body.as_bytes()).unwrap_or_else(|| {
        OjsError::new(ojs_model::ErrorCode::InternalError, "The server refused an outcome without saying why.")
    })
}

/// What a server offers to workers beyond the plain protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    pub exchange: bool,
    pub fetch_types: bool,
}

impl Manifest {
    /// Reads the extensions, an object of lists or a list of names.
    pub fn read(manifest: &[u8]) -> Self {
        Self { exchange: has_extension(manifest, EXCHANGE), fetch_types: has_extension(manifest, FETCH_TYPES) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_keep_their_text() {
        let body = Bytes::from_static(
            br#"{"jobs":[{"id":"a","type":"t","attempt":2,"args":[1.0, 1e3],"x":null},{"no":"id"}],"job":{"id":"a"}}"#,
        );
        let handout = handout(&body).unwrap();
        assert_eq!(handout.jobs.len(), 1);
        assert_eq!(handout.jobs[0].text, r#"{"id":"a","type":"t","attempt":2,"args":[1.0, 1e3],"x":null}"#);
        assert_eq!(handout.jobs[0].head.attempt, Some(2));
    }

    #[test]
    fn odd_members_of_a_job_count_as_absent() {
        let head = Head::read(
            r#"{"id":"a\u0062","type":"t","queue":7,"attempt":"2","max_attempts":3.5,"timeout":1.5,"timeout_ms":-1,"version":null,
               "checkpoint":null,"lease_token":18446744073709551615}"#,
        )
        .unwrap();
        assert_eq!((head.id.as_str(), head.job_type.as_str(), &head.queue), ("ab", "t", &None));
        assert_eq!((head.attempt, head.max_attempts, head.lease_token), (None, None, Some(u64::MAX)));
        assert_eq!((head.timeout_ms(), head.version.is_none(), head.checkpoint.is_none()), (Some(1500), true, true));
        let saved = Head::read(r#"{"type":"t","id":"a","version":"2.0","checkpoint":{"x": 1}}"#).unwrap();
        assert_eq!((saved.version.unwrap(), saved.checkpoint.unwrap().get()), (Value::from("2.0"), r#"{"x": 1}"#));
        for (text, missing) in [("{}", "id"), (r#"{"id":"a"}"#, "type"), (r#"{"id":1,"type":"t"}"#, "id"), ("[]", "id")] {
            assert_eq!(Head::read(text).unwrap_err(), missing, "{text}");
        }
    }

    #[test]
    fn empty_answers_hand_out_nothing() {
        for body in ["", "{}", r#"{"jobs":[]}"#, r#"{"jobs":null}"#] {
            assert!(handout(&Bytes::from(body)).unwrap().jobs.is_empty(), "{body}");
        }
        assert!(handout(&Bytes::from_static(b"<html>")).is_err());
    }

    #[test]
    fn extensions_are_found_in_every_form() {
        for (manifest, exchange, fetch_types) in [
            (
                r#"{"extensions":{"official":[],"experimental":[{"name":"x-worker-exchange","uri":"urn:ojs:ext:x-worker-exchange"}]}}"#,
                true,
                false,
            ),
            (r#"{"extensions":{"experimental":[{"name":"fetch_types","uri":"urn:ojs:ext:fetch_types"}]}}"#, false, true),
            (r#"{"extensions":["x-worker-exchange","fetch_types"]}"#, true, true),
            (r#"{"extensions":{"experimental":[]}}"#, false, false),
            (r#"{"name":"x-worker-exchange"}"#, false, false),
            ("", false, false),
        ] {
            assert_eq!(Manifest::read(manifest.as_bytes()), Manifest { exchange, fetch_types }, "{manifest}");
        }
    }
}
