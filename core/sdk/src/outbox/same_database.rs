//! Jobs of an engine that shares the application's PostgreSQL: the transaction inserts the engine's own row, and there is neither an
//! outbox nor a relay ("Framework Adapters", section 6.1).
//!
//! A server on PostgreSQL says in its health which table its jobs are in, as `backend.id`. Where the application's connection gets the
//! same answer from [`IDENTITY`], [`stage`] makes the row, and after the commit [`NOTIFY`] notifies the nodes.
use std::time::{Duration, Instant};

use ojs_model::lazy::Lazy;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::database::Value;
use super::stage::{Parts, Staged, completed};
use crate::error::Error;

/// Notifies the nodes after a commit; without it they look ten times a second.
pub const NOTIFY: &str = "NOTIFY ojs_ready, '+'";

/// What a server says as `backend.id`, asked on the application's connection: NULL where it sees no such table, or may not insert.
pub const IDENTITY: &str = include_str!("sql/same_database/identity.sql");

/// The query that lists the jobs which the application's transactions have inserted and which no node has taken in
/// yet, in the form of [`Dialect::staged`](super::Dialect::staged): id, type, arguments and options, each as text.
/// Queue and metadata, which have columns of their own in this table, are among the options, as they are in an
/// outbox.
pub const STAGED: &str = include_str!("sql/same_database/staged.sql");

/// How long an answer that decides nothing is kept before both are asked again.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a caller of [`Detection`] does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Run [`IDENTITY`] on the application's connection, in a savepoint where a transaction is open, and give the
    /// first value of the first row to [`Detection::database`].
    AskDatabase,
    /// Give the server's health to [`Detection::server`].
    AskServer,
    /// Enqueue.
    Enqueue {
        /// The row is the engine's own ([`stage`]); otherwise it goes into the outbox.
        shared: bool,
        /// Nothing will change this answer: keep it.
        lasting: bool,
        /// Why it is the outbox although that was not decided, in a sentence for the log; only from the call that
        /// found out.
        reason: Option<String>,
    },
}

/// Finds out whether a server keeps its jobs in the application's PostgreSQL, for one client and one database. It
/// asks nothing itself: it says what to ask, reads the answers, and decides. Callers that share one ask one after the
/// other.
///
/// The server's answer is final: the same table, or another one. Everything else decides nothing and is asked again
/// after 30 seconds: an error of the database, a database without the table, a role that may not insert into it, a
/// server that does not answer. Until then jobs go through the outbox.
///
/// ```
/// use ojs::outbox::same_database::{Detection, Step, clock};
/// let mut detection = Detection::new(None);
/// assert_eq!(detection.begin(clock()), Step::AskDatabase);
/// assert_eq!(detection.database(Ok(Some("7.5.16421".to_owned())), clock()), Step::AskServer);
/// let health = serde_json::json!({"backend": {"id": "7.5.16421"}});
/// assert_eq!(detection.server(Ok(&health), clock()), Step::Enqueue { shared: true, lasting: true, reason: None });
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Detection {
    known: Option<bool>,
    /// What the database said.
    identity: Option<String>,
    /// When both are asked again, in milliseconds of [`clock`].
    ask_at: Option<u64>,
}

/// The time since this process first asked for it.
#[must_use]
pub fn clock() -> Duration {
    static START: Lazy<Instant> = Lazy::new(Instant::now);
    START.elapsed()
}

impl Detection {
    /// `known` is what the application's settings say; `None` finds out.
    #[must_use]
    pub const fn new(known: Option<bool>) -> Self {
        Self { known, identity: None, ask_at: None }
    }

    /// A job is to be enqueued.
    #[must_use]
    pub fn begin(&self, now: Duration) -> Step {
        match self.known {
            Some(shared) => Step::Enqueue { shared, lasting: true, reason: None },
            None if self.ask_at.is_some_and(|at| millis(now) < at) => {
                Step::Enqueue { shared: false, lasting: false, reason: None }
            }
            None => Step::AskDatabase,
        }
    }

    /// The database has answered [`IDENTITY`], or with an error.
    pub fn database(&mut self, answer: Result<Option<String>, String>, now: Duration) -> Step {
        match answer {
            Ok(Some(identity)) => {
                self.identity = Some(identity);
                Step::AskServer
            }
            Ok(None) => self.later("the database shows no table of a server into which this role may insert".to_owned(), now),
            Err(error) => self.later(format!("the database does not say which one it is ({error})"), now),
        }
    }

    /// The server has answered with its health, or with an error.
    pub fn server(&mut self, answer: Result<&Json, String>, now: Duration) -> Step {
        match answer {
            Ok(health) => {
                let theirs = health.pointer("/backend/id").and_then(Json::as_str);
                let shared = theirs.is_some() && theirs == self.identity.as_deref();
                self.known = Some(shared);
                Step::Enqueue { shared, lasting: true, reason: None }
            }
            Err(error) => self.later(format!("the server did not say where it keeps them ({error})"), now),
        }
    }

    fn later(&mut self, reason: String, now: Duration) -> Step {
        self.ask_at = Some(millis(now + PATIENCE));
        let reason = Some(format!("jobs go through the outbox for now: {reason}"));
        Step::Enqueue { shared: false, lasting: false, reason }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

const INSERT: &str = include_str!("sql/same_database/insert.sql");

/// Prepares a job, given as the JSON text of an enqueue request, as a row of `ojs_jobs`.
///
/// # Errors
/// [`Error::Validation`] for a request that no server would take, and for one with a schema, which the table has no place for.
///
/// ```
/// use ojs::outbox::{Style, same_database};
/// let staged = same_database::stage(br#"{"type":"email.welcome","args":[7]}"#)?;
/// let (sql, values) = staged.statement(Style::Dollar);
/// assert!(sql.starts_with("INSERT INTO ojs_jobs (id, type, args, queue, meta, options)"));
/// assert_eq!(values.len(), 6);
/// # Ok::<(), ojs::Error>(())
/// ```
pub fn stage(request: &[u8]) -> Result<Staged, Error> {
    let request = &*completed(request)?;
    let Parts { job_id, job_type, args, meta, schema, mut options } = Parts::of(request)?;
    if schema.is_some() {
        let why = "has no place in a row of ojs_jobs: enqueue this job through the outbox (same_database off)";
        return Err(Error::validation("schema", why));
    }
    let queue = match options.remove("queue") {
        Some(Json::String(queue)) => queue,
        None => "default".to_owned(),
        Some(_) => return Err(Error::validation("queue", "must be a text")),
    };
    let options = (!options.is_empty()).then(|| Json::Object(options).to_string());
    let meta = meta.map(|meta| meta.to_string());
    let values = vec![
        ("id", Value::from(job_id.as_str())),
        ("type", Value::from(job_type.as_str())),
        ("args", Value::from(args)),
        ("queue", Value::from(queue.as_str())),
        ("meta", Value::from(meta.as_deref())),
        ("options", Value::from(options.as_deref())),
    ];
    Ok(Staged::new(job_id, INSERT.to_owned(), values))
}

#[cfg(test)]
mod tests {
    use super::super::dialect::Style;
    use super::*;

    #[test]
    fn a_request_becomes_the_engines_columns() {
        let id = "0190b6f0-3c52-7f00-8000-000000000001";
        let text =
            format!(r#"{{"type":"a.b","args":[1.50],"id":"{id}","meta":{{"k":1}},"options":{{"queue":"q","priority":3}}}}"#);
        let (sql, values) = stage(text.as_bytes()).unwrap().statement(Style::Question);
        assert_eq!(sql.matches('?').count(), 6, "{sql}");
        let expected = [id, "a.b", "[1.50]", "q", r#"{"k":1}"#, r#"{"priority":3}"#];
        assert_eq!(values, expected.map(Value::from));
        let (_, bare) = stage(br#"{"type":"a.b","args":[]}"#).unwrap().statement(Style::Dollar);
        assert_eq!(bare[3..], [Value::from("default"), Value::Null, Value::Null]);
    }

    #[test]
    fn an_answer_that_decides_nothing_is_asked_for_again_after_a_while() {
        let (start, outbox) = (Duration::from_secs(5), Step::Enqueue { shared: false, lasting: false, reason: None });
        let health = serde_json::json!({"backend": {"id": "1.2.3"}});
        let failed = |text: &str| Err::<Option<String>, _>(text.to_owned());
        for answer in [failed("permission denied (42501)"), failed("terminating connection"), Ok(None)] {
            let mut detection = Detection::new(None);
            let Step::Enqueue { shared: false, lasting: false, reason: Some(_) } = detection.database(answer.clone(), start)
            else {
                panic!("{answer:?} decides nothing")
            };
            assert_eq!(detection.begin(start + PATIENCE - Duration::from_millis(1)), outbox, "{answer:?}");
            assert_eq!(detection.begin(start + PATIENCE), Step::AskDatabase, "{answer:?}");
            assert_eq!(detection.database(Ok(Some("1.2.3".to_owned())), start + PATIENCE), Step::AskServer);
            let lasting = Step::Enqueue { shared: true, lasting: true, reason: None };
            assert_eq!(detection.server(Ok(&health), start + PATIENCE), lasting);
            assert_eq!(detection.begin(start), lasting);
        }
        let mut detection = Detection::new(None);
        assert_eq!(detection.database(Ok(Some("1.2.3".to_owned())), start), Step::AskServer);
        let Step::Enqueue { reason: Some(reason), .. } = detection.server(Err("refused".to_owned()), start) else {
            panic!("a server that does not answer decides nothing")
        };
        assert_eq!(reason, "jobs go through the outbox for now: the server did not say where it keeps them (refused)");
        assert_eq!(detection.begin(start + PATIENCE), Step::AskDatabase);
    }

    #[test]
    fn what_the_table_cannot_hold_is_refused() {
        for (text, field) in [
            (r#"{"type":"a","args":[],"schema":"urn:x"}"#, "schema"),
            (r#"{"type":"a","args":[],"options":{"queue":5}}"#, "queue"),
            (r#"{"type":"","args":[]}"#, "type"),
        ] {
            let error = stage(text.as_bytes()).unwrap_err();
            assert!(matches!(&error, Error::Validation { field: found, .. } if found == field), "{text}: {error}");
        }
    }
}
