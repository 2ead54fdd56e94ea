//! Reads the server's answers to a worker: fetched jobs, results of an exchange, the manifest.
//!
//! Jobs are cut out of the answer as slices of its bytes; arguments are never parsed here.
use bytes::Bytes;
use ojs_model::OjsError;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::failures::{Fate, lenient};
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

#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub id: String,
    #[serde(rename = "type")]
    pub job_type: String,
    // An unexpected optional member must not prevent the job from running: servers differ in how they write them.
    #[serde(default, deserialize_with = "lenient")]
    pub queue: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub attempt: Option<u32>,
    #[serde(default, deserialize_with = "lenient")]
    pub max_attempts: Option<u32>,
    #[serde(default, deserialize_with = "lenient")]
    pub lease_token: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    timeout_ms: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    timeout: Option<f64>,
    #[serde(default, deserialize_with = "lenient")]
    pub visibility_timeout_ms: Option<u64>,
    /// The version of the arguments.
    #[serde(default)]
    pub version: Option<Value>,
    /// The saved state of earlier attempts.
    #[serde(default)]
    pub checkpoint: Option<Box<RawValue>>,
}

impl Head {
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
    match serde_json::from_str(raw.get()) {
        Ok(head) => Some(Envelope { head, text: body.slice_ref(raw.get().as_bytes()) }),
        Err(error) => {
            tracing::error!(%error, "the server handed out a job that cannot be read; its lease will run out");
            None
        }
    }
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
