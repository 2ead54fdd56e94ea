//! Jobs of an engine that shares the application's PostgreSQL: the transaction inserts the engine's own row, and there is neither an
//! outbox nor a relay ("Framework Adapters", section 6.1).
//!
//! A server on PostgreSQL says in its health which table its jobs are in, as `backend.id`. Where the application's connection gets the
//! same answer from [`IDENTITY`], [`stage`] makes the row, and after the commit [`NOTIFY`] tells the nodes.
use serde_json::Value as Json;

use super::database::Value;
use super::stage::{Parts, Staged, completed};
use crate::error::Error;

/// Tells the nodes after a commit; without it they look ten times a second.
pub const NOTIFY: &str = "NOTIFY ojs_ready, '+'";

/// What a server says as `backend.id`, asked on the application's connection: NULL where it sees no such table, or may not insert.
pub const IDENTITY: &str = include_str!("sql/same_database/identity.sql");

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
