//! A job as a row to be written by the application's own connection.
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use ojs_model::envelope::check_body;
use ojs_model::{JobId, NewJob, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::database::Value;
use super::dialect::{Dialect, Sql, Style, Table, bind};
use super::same_database;
use crate::client::Client;
use crate::encryption::Codec;
use crate::error::Error;
use crate::job::Job;
use crate::middleware::{EnqueueNext, Terminal};
use crate::request::JobRequest;

/// A row to be written: run [`statement`](Self::statement) in the transaction that the job belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staged {
    /// The id that the job will have: the same however often it is sent.
    pub job_id: String,
    sql: String,
    values: Vec<(&'static str, Value)>,
}

impl Staged {
    pub(super) const fn new(job_id: String, sql: String, values: Vec<(&'static str, Value)>) -> Self {
        Self { job_id, sql, values }
    }

    /// The statement, with parameters as the driver wants them, and their values.
    #[must_use]
    pub fn statement(&self, style: Style) -> (String, Vec<Value>) {
        let statement = bind(&self.sql, style, &self.values);
        (statement.sql, statement.params)
    }

    /// The same for drivers that take texts: that is what all the values are, or NULL.
    #[must_use]
    pub fn texts(&self, style: Style) -> (String, Vec<Option<String>>) {
        let (sql, values) = self.statement(style);
        (sql, values.into_iter().map(Value::into_text).collect())
    }
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(rename = "type")]
    job_type: String,
    #[serde(borrow)]
    args: &'a RawValue,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    meta: Option<Json>,
    #[serde(default)]
    schema: Option<Json>,
    #[serde(default)]
    options: Map<String, Json>,
}

/// An enqueue request that a server would take, in the parts that rows are made of.
pub(super) struct Parts<'a> {
    pub job_id: String,
    pub job_type: String,
    /// A JSON array, as it was written.
    pub args: &'a str,
    pub meta: Option<Json>,
    pub schema: Option<Json>,
    /// With times that count from now.
    pub options: Map<String, Json>,
}

impl<'a> Parts<'a> {
    pub(super) fn of(request: &'a [u8]) -> Result<Self, Error> {
        check(request)?;
        let request: Request<'a> = serde_json::from_slice(request).map_err(|e| Error::validation("job", e.to_string()))?;
        let job_id = request.id.unwrap_or_else(|| JobId::now_v7().to_string());
        let given = |value: Option<Json>| value.filter(|value| !value.is_null());
        let (meta, schema, mut options) = (given(request.meta), given(request.schema), request.options);
        relative_time(&mut options)?;
        Ok(Self { job_id, job_type: request.job_type, args: request.args.get(), meta, schema, options })
    }
}

/// The request with its options as they are sent: what is wrong in them is refused while the transaction can still be rolled back.
pub(super) fn completed(request: &[u8]) -> Result<Cow<'_, [u8]>, Error> {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow, rename = "type", default)]
        job_type: Option<&'a RawValue>,
        #[serde(borrow, default)]
        options: Option<&'a RawValue>,
    }
    // What is no job is refused below, with its place.
    let Ok(head) = serde_json::from_slice::<Head<'_>>(request) else { return Ok(Cow::Borrowed(request)) };
    let job_type = head.job_type.and_then(|raw| ojs_model::json::string(raw.get()));
    let completed = crate::options::complete(request, job_type.as_deref().unwrap_or_default(), head.options)?;
    Ok(completed.map_or(Cow::Borrowed(request), Cow::Owned))
}

/// The rules of the protocol, as servers apply them. Here the transaction can still be rolled back: a job that is refused later has been
/// called enqueued, and is found among the parked rows.
fn check(request: &[u8]) -> Result<(), Error> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    let now = Timestamp::from_millis(i64::try_from(now).unwrap_or(i64::MAX));
    let checked = check_body(request).and_then(|text| NewJob::parse(text, now));
    let Err(error) = checked else { return Ok(()) };
    let field = error.details.as_ref().and_then(|details| details.get("field")).and_then(Json::as_str).unwrap_or("job");
    Err(Error::validation(field.to_owned(), error.message))
}

/// Prepares a job given as the JSON text of an enqueue request, as it comes out of the enqueue chain: nothing is added to it later but
/// what the server adds.
///
/// # Errors
/// [`Error::Validation`] for a request that no server would take, and for text that PostgreSQL's JSON cannot hold.
pub fn stage(request: &[u8], dialect: Dialect, table: &Table) -> Result<Staged, Error> {
    let request = &*completed(request)?;
    let Parts { job_id, job_type, args, meta, schema, mut options } = Parts::of(request)?;
    for (name, value) in [("meta", meta), ("schema", schema)] {
        if let Some(value) = value {
            options.insert(name.to_owned(), value);
        }
    }
    let options = Json::Object(options).to_string();
    if dialect == Dialect::Postgres && (has_nul(args) || has_nul(&options)) {
        return Err(Error::validation("args", r"holds the character \u0000, which PostgreSQL cannot store in JSON"));
    }
    // An application's connection to MySQL may speak a smaller alphabet than the table: only ASCII passes through all of them.
    let text = |json: &str| Value::Text(if dialect == Dialect::Mysql { ascii(json) } else { json.to_owned() });
    let values = vec![
        ("type", Value::from(job_type.as_str())),
        ("args", text(args)),
        ("options", text(&options)),
        ("job_id", Value::from(job_id.as_str())),
    ];
    Ok(Staged::new(job_id, dialect.template(Sql::insert, table), values))
}

/// An enqueue request as its row holds it: the relay that sends it later has no key.
///
/// # Errors
/// There is no current key.
pub fn encrypted<'a>(request: &'a [u8], codec: Option<&Codec>) -> Result<Cow<'a, [u8]>, Error> {
    let Some(codec) = codec else { return Ok(Cow::Borrowed(request)) };
    // The key of a unique job is made of the plain arguments, by its whole policy.
    let request = completed(request)?;
    let encoded = match std::str::from_utf8(&request) {
        Ok(text) => codec.encode(text)?,
        Err(_) => None,
    };
    Ok(encoded.map_or(request, |text| Cow::Owned(text.into_bytes())))
}

/// A delay counts from now, not from when the relay gets to it.
fn relative_time(options: &mut Map<String, Json>) -> Result<(), Error> {
    for name in ["delay_until", "scheduled_at", "expires_at"] {
        let Some(Json::String(text)) = options.get(name) else { continue };
        let Some(delay) = text.strip_prefix('+') else { continue };
        let delay = ojs_model::duration::IsoDuration::parse(delay).map_err(|e| Error::validation(name, e.to_string()))?;
        let at = crate::When::from(SystemTime::now() + delay.value());
        options.insert(name.to_owned(), Json::String(at.text().to_owned()));
    }
    Ok(())
}

/// The same JSON with escapes: characters beyond ASCII stand in strings only.
fn ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() {
            out.push(character);
        } else {
            let units = character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
            out.push_str(&units);
        }
    }
    out
}

/// An escaped NUL; `\\u0000` is a backslash and text.
fn has_nul(json: &str) -> bool {
    json.match_indices(r"\u0000")
        .any(|(at, _)| json.get(..at).unwrap_or_default().bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 0)
}

impl Client {
    /// Prepares a job for an outbox: the layers around enqueueing run now, as for [`enqueue`](Self::enqueue), and what they make of
    /// the job is what the relay will send. `None` when a layer has dropped it.
    ///
    /// # Errors
    /// As [`stage`], and whatever a layer refuses.
    pub async fn stage(&self, request: JobRequest, dialect: Dialect, table: &Table) -> Result<Option<Staged>, Error> {
        let table = table.clone();
        self.staged(request, move |text| stage(text, dialect, &table)).await
    }

    /// The same as a row of the engine's own table, where it shares the application's PostgreSQL ([`same_database`]).
    ///
    /// # Errors
    /// As [`same_database::stage`], and whatever a layer refuses.
    pub async fn stage_in_engine(&self, request: JobRequest) -> Result<Option<Staged>, Error> {
        self.staged(request, same_database::stage).await
    }

    async fn staged(
        &self,
        request: JobRequest,
        row: impl Fn(&[u8]) -> Result<Staged, Error> + Send + Sync + 'static,
    ) -> Result<Option<Staged>, Error> {
        let id = request.id.clone().unwrap_or_else(|| JobId::now_v7().to_string());
        let request = request.with_id(id.clone());
        let place = Arc::new(Mutex::new(None));
        let (slot, codec) = (Arc::clone(&place), self.transport().codec().cloned());
        let terminal: Terminal = Arc::new(move |request: JobRequest| {
            let staged = request.to_json().and_then(|text| Ok((row(&encrypted(text.as_bytes(), codec.as_ref())?)?, text)));
            let answer = staged.and_then(|(staged, text)| {
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(staged);
                // What the layers see on the way out: the job as it will be sent.
                job_of(&text)
            });
            Box::pin(std::future::ready(answer.map(Some)))
        });
        EnqueueNext::new(Arc::clone(self.middleware().freeze()), Some(id), terminal).run(request).await?;
        Ok(place.lock().unwrap_or_else(PoisonError::into_inner).take())
    }
}

fn job_of(text: &str) -> Result<Job, Error> {
    crate::job::from_answer(&format!(r#"{{"job":{text}}}"#).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_becomes_the_seeds_columns() {
        let text = br#"{"type":"email.welcome","args":[1.50,{"b":1,"a":2}],"meta":{"tenant_id":"t"},"options":{"queue":"mail"}}"#;
        let staged = stage(text, Dialect::Postgres, &Table::default()).unwrap();
        let (sql, values) = staged.statement(Style::Percent);
        assert!(sql.starts_with("INSERT INTO ojs_outbox (job_type, job_args, job_options, job_id)\nVALUES (%s, CAST("), "{sql}");
        assert_eq!(values[0], Value::from("email.welcome"));
        assert_eq!(values[1], Value::from(r#"[1.50,{"b":1,"a":2}]"#));
        assert_eq!(values[2], Value::from(r#"{"meta":{"tenant_id":"t"},"queue":"mail"}"#));
        assert_eq!(values[3], Value::from(staged.job_id.as_str()));
    }

    #[test]
    fn scenario_50_what_no_server_would_take_is_refused_in_the_transaction() {
        for (text, field) in [
            (r#"{"type":"","args":[]}"#, "type"),
            (r#"{"type":"a","args":{}}"#, "args"),
            (r#"{"type":"a","args":[],"id":"7"}"#, "id"),
            (r#"{"type":"a","args":["\u0000"]}"#, "args"),
            (r#"{"type":"a","args":[],"options":{"delay_until":"+5"}}"#, "delay_until"),
            (r#"{"type":"a","args":[],"options":{"priority":5000}}"#, "priority"),
            (r#"{"type":"a","args":[],"options":{"queue":"Mail"}}"#, "queue"),
            (r#"{"type":"a","args":[],"options":{"retry":{"max_attempts":-1}}}"#, "retry.max_attempts"),
            (r#"{"type":"a"}"#, "args"),
            (r#"[]"#, "job"),
        ] {
            let error = stage(text.as_bytes(), Dialect::Postgres, &Table::default()).unwrap_err();
            assert!(matches!(&error, Error::Validation { field: found, .. } if found == field), "{text}: {error}");
        }
        assert!(stage(br#"{"type":"a","args":["\\u0000"]}"#, Dialect::Postgres, &Table::default()).is_ok());
        assert!(stage(br#"{"type":"a","args":["\u0000"]}"#, Dialect::Sqlite, &Table::default()).is_ok());
    }
}
