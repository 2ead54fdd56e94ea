//! Whether a server keeps its jobs in the application's PostgreSQL, found out step by step: the host runs a query on
//! its driver's connection and asks the server for its health; the core says which of the two comes next, and
//! decides.
//!
//! Between two steps the host keeps the state as a text that it does not read, so nothing has to be freed.
use ojs::outbox::same_database::{Detection, IDENTITY, Step, clock};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::AbiError;

/// What has happened.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    /// As the step before gave it; null before the first one.
    state: Option<Detection>,
    /// `begin`, `database` or `server`.
    event: String,
    /// Of `begin`: what the settings say, true, false or null. Of `database`: the first value of the first row. Of
    /// `server`: its health.
    #[serde(default)]
    value: Value,
    /// Instead of a value: what the driver or the client said.
    error: Option<String>,
}

/// What the host does next.
#[derive(Serialize)]
#[serde(tag = "next", rename_all = "snake_case")]
enum Next {
    Database { state: Detection, sql: &'static str },
    Server { state: Detection },
    Enqueue { state: Detection, shared: bool, lasting: bool, reason: Option<String> },
}

/// One step, from JSON to JSON. In: `{"state", "event", "value", "error"}`. Out: `{"state", "next": "database",
/// "sql"}` to run that query, in a savepoint where a transaction is open, and to come back with the event `database`;
/// `{"state", "next": "server"}` to ask the server for its health, and to come back with `server`; `{"state", "next":
/// "enqueue", "shared", "lasting", "reason"}` to write the engine's own row (`shared`) or one of the outbox.
/// `lasting` says that the answer stays as it is, `reason` is a sentence for the log, or null.
///
/// # Errors
/// Text of another form.
pub fn step(event: &str) -> Result<String, AbiError> {
    let wrong = |error: serde_json::Error| AbiError::invalid(format!("a step of same-database detection: {error}"));
    let Event { state, event, value, error } = serde_json::from_str(event).map_err(wrong)?;
    let mut state = match state {
        Some(state) => state,
        None => Detection::new(value.as_bool()),
    };
    let now = clock();
    let step = match (event.as_str(), error) {
        ("begin", None) => state.begin(now),
        ("database", None) => state.database(Ok(value.as_str().map(str::to_owned)), now),
        ("database", Some(error)) => state.database(Err(error), now),
        ("server", None) => state.server(Ok(&value), now),
        ("server", Some(error)) => state.server(Err(error), now),
        (other, _) => return Err(AbiError::invalid(format!("'{other}' is no event of same-database detection"))),
    };
    let next = match step {
        Step::AskDatabase => Next::Database { state, sql: IDENTITY },
        Step::AskServer => Next::Server { state },
        Step::Enqueue { shared, lasting, reason } => Next::Enqueue { state, shared, lasting, reason },
    };
    serde_json::to_string(&next).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn after(state: &Value, event: Value) -> Value {
        let mut event = event;
        event["state"] = state.clone();
        serde_json::from_str(&step(&event.to_string()).unwrap()).unwrap()
    }

    #[test]
    fn a_host_is_led_from_the_first_question_to_the_answer() {
        let first = after(&Value::Null, json!({"event": "begin", "value": null}));
        assert_eq!((first["next"].as_str(), first["sql"].as_str()), (Some("database"), Some(IDENTITY)));
        let second = after(&first["state"], json!({"event": "database", "value": "1.2.3"}));
        assert_eq!(second["next"], "server");
        let last = after(&second["state"], json!({"event": "server", "value": {"backend": {"id": "1.2.3"}}}));
        assert_eq!((&last["next"], &last["shared"], &last["lasting"]), (&json!("enqueue"), &json!(true), &json!(true)));
    }

    #[test]
    fn an_event_that_does_not_exist_is_named() {
        for (event, word) in [(r#"{"event":"start"}"#, "start"), ("{}", "event"), ("[", "EOF")] {
            assert!(step(event).unwrap_err().to_string().contains(word), "{event}");
        }
    }
}
