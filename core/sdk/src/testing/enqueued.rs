//! The jobs that requests enqueue, and what tests say about them.
use ojs_model::json::{members, push_member};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::client::forms;
use crate::error::Error;
use crate::members::find;
use crate::transport::Request;

/// The jobs that a request enqueues, as JSON texts in the form in which they go over the wire: options under their
/// names there, shorthands written out, defaults of the type filled in. An id is there only if the program has given
/// one. Other requests enqueue nothing. This is what the fakes of all languages record.
///
/// ```
/// use ojs::testing::recorded;
/// let jobs = recorded("POST", "/jobs", br#"{"type":"a","args":[],"options":{"timeout":"5m"}}"#);
/// assert_eq!(jobs, [r#"{"type":"a","args":[],"options":{"timeout_ms":300000}}"#]);
/// assert!(recorded("GET", "/jobs", b"").is_empty());
/// ```
#[must_use]
pub fn recorded(method: &str, path: &str, body: &[u8]) -> Vec<String> {
    let Some(body) = std::str::from_utf8(body).ok().filter(|_| method == "POST") else { return Vec::new() };
    let jobs: Vec<&RawValue> = match path {
        "/jobs" => serde_json::from_str(body).into_iter().collect(),
        "/jobs/batch" | "/jobs/bulk" => {
            let batch = members(body).unwrap_or_default();
            find(&batch, "jobs").and_then(|jobs| serde_json::from_str(jobs).ok()).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    // A job with a wrong option is not sent, so none is recorded. What is sent as it is has no options that could be
    // wrong.
    jobs.into_iter().map(|job| forms::job(job.get()).unwrap_or_else(|_| job.get().to_owned())).collect()
}

/// Where in a list of [`recorded`] jobs those stand that a test asks for. `wanted` is a JSON object: `type`, `args`,
/// `id` and `schema` are equal, `meta` is a part of the job's, and all other members are options, which may be
/// written as they are in a program (`"timeout": "5m"`). A job that names no queue is in `default`, and one without a
/// priority has 0. Of `train` the members that are asked for are compared.
///
/// # Errors
/// [`Error::Validation`] for an option that does not exist: no job could have it.
///
/// ```
/// use ojs::testing::matching;
/// let jobs = r#"[{"type":"a","args":[1]},{"type":"a","args":[2],"options":{"queue":"mail","timeout_ms":300000}}]"#;
/// assert_eq!(matching(jobs, r#"{"type":"a","queue":"mail","timeout":"5m"}"#)?, [1]);
/// assert_eq!(matching(jobs, r#"{"queue":"default"}"#)?, [0]);
/// assert!(matching(jobs, r#"{"queu":"mail"}"#).is_err());
/// # Ok::<(), ojs::Error>(())
/// ```
pub fn matching(jobs: &str, wanted: &str) -> Result<Vec<usize>, Error> {
    let wrong = |error: serde_json::Error| Error::validation("jobs", error.to_string());
    let jobs: Vec<Value> = serde_json::from_str(jobs).map_err(wrong)?;
    let wanted: Map<String, Value> = serde_json::from_str(&completed(wanted)?).map_err(wrong)?;
    Ok(jobs.iter().enumerate().filter(|(_, job)| matches(job, &wanted)).map(|(at, _)| at).collect())
}

/// What is asked for in the form of a job, with its options as they are sent.
fn completed(wanted: &str) -> Result<String, Error> {
    let given = members(wanted).map_err(|error| Error::validation("wanted", format!("must be a JSON object: {error}")))?;
    let (mut job, mut options) = (String::from("{"), String::from("{"));
    for (name, value) in &given {
        // The type is no part of it: its defaults were not asked for.
        match name.as_ref() {
            "type" if *value == "null" => {}
            "type" => push_member(&mut job, "wanted_type", value),
            "args" | "id" | "schema" | "meta" => push_member(&mut job, name, value),
            _ => push_member(&mut options, name, value),
        }
    }
    options.push('}');
    push_member(&mut job, "options", &options);
    job.push('}');
    forms::job(&job)
}

fn matches(job: &Value, wanted: &Map<String, Value>) -> bool {
    let member = |name: &str| job.get(name).unwrap_or(&Value::Null);
    wanted.iter().all(|(name, value)| match (name.as_str(), value) {
        ("wanted_type", _) => same(member("type"), value),
        ("meta", Value::Object(meta)) => {
            meta.iter().all(|(key, value)| same(member("meta").get(key).unwrap_or(&Value::Null), value))
        }
        ("options", Value::Object(options)) => options.iter().all(|(name, value)| has_option(member("options"), name, value)),
        (name, value) => same(member(name), value),
    })
}

fn has_option(options: &Value, name: &str, value: &Value) -> bool {
    match (options.get(name), name) {
        (None, "queue") => value == "default" || value.is_null(),
        (None, "priority") => value == 0 || value.is_null(),
        // A test that asks for a train by its id does not ask for its policies.
        (Some(Value::Object(train)), "train") => {
            value.as_object().is_some_and(|wanted| wanted.iter().all(|(name, value)| train.get(name) == Some(value)))
        }
        (given, _) => same(given.unwrap_or(&Value::Null), value),
    }
}

/// Equal, with 1 and 1.0 the same number.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => one == other,
    }
}

/// The jobs that a request enqueues.
pub(super) fn jobs_of(request: &Request) -> Vec<Value> {
    let body = request.body.as_deref().unwrap_or_default();
    let texts = recorded(request.method.as_str(), &request.path, body);
    texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect()
}

/// The last of these jobs that has this type; panics when there is none.
#[track_caller]
#[expect(clippy::panic, reason = "an assertion for tests")]
pub(super) fn last_of(jobs: &[Value], job_type: &str) -> Value {
    match jobs.iter().rfind(|job| is(job, job_type)) {
        Some(job) => job.clone(),
        None => panic!("no '{job_type}' was enqueued; enqueued were {:?}", types(jobs)),
    }
}

/// Panics when one of these jobs has this type.
#[track_caller]
pub(super) fn none_of(jobs: &[Value], job_type: &str) {
    assert!(!jobs.iter().any(|job| is(job, job_type)), "a '{job_type}' was enqueued; enqueued were {:?}", types(jobs));
}

fn is(job: &Value, job_type: &str) -> bool {
    job.get("type").and_then(Value::as_str) == Some(job_type)
}

fn types(jobs: &[Value]) -> Vec<&str> {
    jobs.iter().filter_map(|job| job.get("type")?.as_str()).collect()
}
