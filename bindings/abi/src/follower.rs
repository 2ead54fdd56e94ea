//! Following the log of events, for hosts that make the requests themselves: the core says what to ask and when, and
//! which errors end the reader.
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use ojs::EventFilter;
use ojs::client::follower::{Fault, Follower};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error::AbiError;

/// Times of this process are counted from here.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// What a host has to say.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Said {
    /// Which events it wants.
    Begin(EventFilter),
    /// An answer has come, with so many events.
    Answered { state: String, events: usize, cursor: String },
    /// The request has failed.
    Failed { state: String, error: Fault },
}

/// What a host keeps between two calls, as text that it need not read.
#[derive(Serialize, Deserialize)]
struct State {
    follower: Follower,
    /// When the request is made, in milliseconds since [`START`].
    asked_ms: u64,
}

/// The next request of a reader of events: `{"path", "wait_ms", "pause_ms", "state"}`. The host pauses, sends
/// `GET path` with that much time for the server to hold its answer back, and says what has come of it:
///
/// - `{"begin": {"types", "queues", "job_types", "after"}}` for the first request, all members optional;
/// - `{"answered": {"state", "events", "cursor"}}` with the number of events, once they have been read;
/// - `{"failed": {"state", "error": {"connection", "status", "code", "retryable"}}}`. The reply is `null` when the
///   error ends the reader.
///
/// # Errors
/// Text of another form.
pub fn follow(said: &str) -> Result<String, AbiError> {
    let wrong = |e: serde_json::Error| AbiError::invalid(format!("events: {e}"));
    let now = millis(START.elapsed());
    let read = |state: &str| serde_json::from_str::<State>(state).map_err(wrong);
    let (follower, pause) = match serde_json::from_str(said).map_err(wrong)? {
        Said::Begin(filter) => (Follower::new(filter), Some(Duration::ZERO)),
        Said::Answered { state, events, cursor } => {
            let State { mut follower, asked_ms } = read(&state)?;
            let pause = follower.answered(events, cursor, Duration::from_millis(now.saturating_sub(asked_ms)));
            (follower, Some(pause))
        }
        Said::Failed { state, error } => {
            let mut follower = read(&state)?.follower;
            let pause = follower.failed(&error);
            (follower, pause)
        }
    };
    let Some(pause_ms) = pause.map(millis) else { return Ok("null".to_owned()) };
    let (path, wait_ms) = (follower.path(), millis(follower.wait()));
    let state = json!(State { follower, asked_ms: now + pause_ms }).to_string();
    Ok(json!({"path": path, "wait_ms": wait_ms, "pause_ms": pause_ms, "state": state}).to_string())
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn asked(said: &Value) -> Value {
        serde_json::from_str(&follow(&said.to_string()).unwrap()).unwrap()
    }

    fn failed(step: &Value, status: u16) -> Value {
        asked(&json!({"failed": {"state": step["state"], "error": {"status": status, "code": "x", "retryable": false}}}))
    }

    #[test]
    fn a_reader_begins_goes_on_and_ends() {
        let begin = asked(&json!({"begin": {"queues": ["mail"], "after": "evt_1"}}));
        assert_eq!(begin["path"], "/events?after=evt_1&queues=mail&limit=500&wait_ms=0");
        assert_eq!((&begin["wait_ms"], &begin["pause_ms"]), (&json!(0), &json!(0)));
        assert_eq!(failed(&begin, 503), Value::Null);
        let second = asked(&json!({"answered": {"state": begin["state"], "events": 2, "cursor": "evt_3"}}));
        assert_eq!(second["path"], "/events?after=evt_3&queues=mail&limit=500&wait_ms=20000");
        assert_eq!((&second["wait_ms"], &second["pause_ms"]), (&json!(20_000), &json!(0)));
        let again = failed(&second, 503);
        assert_eq!(again["path"], second["path"]);
        assert!((50..=100).contains(&again["pause_ms"].as_u64().unwrap()), "{again}");
        assert_eq!(failed(&again, 401), Value::Null);
        let idle = asked(&json!({"answered": {"state": again["state"], "events": 0, "cursor": "evt_3"}}));
        assert_eq!(idle["pause_ms"], 500);
    }

    #[test]
    fn what_is_said_wrongly_is_an_error() {
        for said in ["", "{}", r#"{"begin":{"type":["a"]}}"#, r#"{"answered":{"state":"{}","events":1,"cursor":"a"}}"#] {
            let error = follow(said).unwrap_err().to_string();
            assert!(error.starts_with("events: "), "{error}");
        }
    }
}
