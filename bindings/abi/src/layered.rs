//! Enqueue requests on their way through layers of a host that does not read JSON: the jobs of a request, one by one,
//! and their metadata. Values stay the text that they came in.
use std::borrow::Cow;

use bytes::Bytes;
use ojs::request_context::RequestContext;
use ojs_model::json::{member, members, push_member};
use serde_json::value::RawValue;

use crate::error::AbiError;

/// What a request enqueues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enqueues {
    /// The body is a job.
    One,
    /// The body has jobs under `jobs`.
    Many,
}

impl Enqueues {
    /// What this request enqueues; `None` when layers around enqueueing have nothing to do with it.
    #[must_use]
    pub fn of(method: &str, path: &str) -> Option<Self> {
        match (method, path) {
            ("POST", "/jobs") => Some(Self::One),
            ("POST", "/jobs/batch" | "/jobs/bulk") => Some(Self::Many),
            _ => None,
        }
    }
}

fn text(body: &[u8]) -> Result<&str, AbiError> {
    std::str::from_utf8(body).map_err(|e| AbiError::invalid(format!("the body is not UTF-8: {e}")))
}

fn object(what: &str, json: &str) -> Result<(), AbiError> {
    members(json).map(drop).map_err(|e| AbiError::invalid(format!("{what} must be a JSON object: {e}")))
}

/// The job in a body of [`Enqueues::One`].
///
/// # Errors
/// It is no JSON object.
pub fn job(body: &[u8]) -> Result<&str, AbiError> {
    let job = text(body)?;
    object("a job", job)?;
    Ok(job)
}

/// The jobs in a body of [`Enqueues::Many`].
///
/// # Errors
/// It is not `{"jobs": […]}`.
pub fn jobs(body: &[u8]) -> Result<Vec<&str>, AbiError> {
    #[derive(serde::Deserialize)]
    struct Batch<'a> {
        #[serde(borrow)]
        jobs: Vec<&'a RawValue>,
    }
    let batch: Batch<'_> =
        serde_json::from_slice(body).map_err(|e| AbiError::invalid(format!("a batch must be {{\"jobs\": […]}}: {e}")))?;
    Ok(batch.jobs.into_iter().map(RawValue::get).collect())
}

/// The same body with other jobs.
///
/// # Errors
/// As [`jobs`].
pub fn with_jobs(body: &[u8], jobs: &[Bytes]) -> Result<Bytes, AbiError> {
    let jobs: Vec<_> = jobs.iter().map(|job| text(job)).collect::<Result<_, _>>()?;
    let jobs = format!("[{}]", jobs.join(","));
    let given = members(text(body)?).map_err(|e| AbiError::invalid(format!("a batch must be a JSON object: {e}")))?;
    let mut out = String::from("{");
    for (name, value) in &given {
        push_member(&mut out, name, if name == "jobs" { &jobs } else { value });
    }
    out.push('}');
    Ok(out.into())
}

/// The job in an answer `{"job": …}`; the answer itself when there is none.
#[must_use]
pub fn answered(answer: &Bytes) -> Bytes {
    let job = std::str::from_utf8(answer).ok().and_then(|text| member(text, "job"));
    job.map_or_else(|| answer.clone(), |job| answer.slice_ref(job.as_bytes()))
}

/// The answer about one job that the layers let through.
#[must_use]
pub fn answer_of(job: &[u8]) -> Bytes {
    [b"{\"job\":", job, b"}"].concat().into()
}

/// A job with further metadata, a JSON object. Of a member that the job has already, `keep` says whose value counts:
/// with it the job's. Then a job that names its tenant among the options does not get `tenant_id`, either.
///
/// # Errors
/// One of them is no JSON object.
pub fn with_meta(job: &str, meta: &str, keep: bool) -> Result<String, AbiError> {
    let given = members(job).map_err(|e| AbiError::invalid(format!("a job must be a JSON object: {e}")))?;
    let more = members(meta).map_err(|e| AbiError::invalid(format!("meta must be a JSON object: {e}")))?;
    let find = |name: &str| given.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    let names_tenant = keep && find("options").is_some_and(|options| member(options, "tenant").is_some());
    let own = match find("meta") {
        None | Some("null") => Vec::new(),
        Some(own) => members(own).map_err(|e| AbiError::invalid(format!("meta of the job must be a JSON object: {e}")))?,
    };
    let mut merged: Vec<(Cow<'_, str>, &str)> = own;
    for (name, value) in more {
        match merged.iter_mut().find(|(known, _)| *known == name) {
            Some(_) if keep => {}
            Some((_, there)) => *there = value,
            None if names_tenant && name == "tenant_id" => {}
            None => merged.push((name, value)),
        }
    }
    if merged.is_empty() {
        return Ok(job.to_owned());
    }
    let mut out = String::from("{");
    for (name, value) in given.iter().filter(|(name, _)| name != "meta") {
        push_member(&mut out, name, value);
    }
    push_member(&mut out, "meta", &object_of(&merged));
    out.push('}');
    Ok(out)
}

/// What a job hands on to the jobs that its handler makes, out of its metadata: a JSON object.
///
/// # Errors
/// It is no job.
pub fn handed_on(job: &[u8]) -> Result<String, AbiError> {
    let job = self::job(job)?;
    let meta = member(job, "meta").and_then(|meta| members(meta).ok()).unwrap_or_default();
    let of_request: Vec<_> = meta.into_iter().filter(|(name, _)| RequestContext::NAMES.contains(&&**name)).collect();
    Ok(object_of(&of_request))
}

fn object_of(members: &[(Cow<'_, str>, &str)]) -> String {
    let mut out = String::from("{");
    for (name, value) in members {
        push_member(&mut out, name, value);
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_added_and_values_keep_their_text() {
        let job = r#"{"type":"a","args":[1.0],"meta":{"n":1e2,"by":"me"}}"#;
        let meta = r#"{"by":"layer","traceparent":"00-a"}"#;
        let kept = r#"{"type":"a","args":[1.0],"meta":{"n":1e2,"by":"me","traceparent":"00-a"}}"#;
        assert_eq!(with_meta(job, meta, true).unwrap(), kept);
        assert_eq!(with_meta(job, meta, false).unwrap(), kept.replace("\"me\"", "\"layer\""));
        assert_eq!(with_meta(r#"{"type":"a"}"#, "{}", true).unwrap(), r#"{"type":"a"}"#);
        let tenant = r#"{"type":"a","options":{"tenant":"acme"}}"#;
        assert_eq!(with_meta(tenant, r#"{"tenant_id":"globex"}"#, true).unwrap(), tenant);
        for (job, meta) in [("[]", "{}"), ("{}", "7"), (r#"{"meta":7}"#, "{}")] {
            assert!(with_meta(job, meta, true).is_err(), "{job} {meta}");
        }
    }

    #[test]
    fn the_jobs_of_a_batch_are_taken_out_and_put_back() {
        let body = br#"{"atomicity":"partial","jobs":[{"type":"a"},{"type":"b"}]}"#;
        assert_eq!(jobs(body).unwrap(), [r#"{"type":"a"}"#, r#"{"type":"b"}"#]);
        let one = [Bytes::from_static(br#"{"type":"c"}"#)];
        assert_eq!(with_jobs(body, &one).unwrap(), r#"{"atomicity":"partial","jobs":[{"type":"c"}]}"#);
        assert!(jobs(b"[]").is_err() && job(b"7").is_err());
        assert_eq!(Enqueues::of("POST", "/jobs/bulk"), Some(Enqueues::Many));
        assert_eq!(Enqueues::of("POST", "/jobs/bulk/cancel"), None);
    }

    #[test]
    fn a_job_hands_on_what_belongs_to_its_request() {
        let job = br#"{"type":"a","meta":{"traceparent":"00-a","k":1,"tenant_id":"acme"}}"#;
        assert_eq!(handed_on(job).unwrap(), r#"{"traceparent":"00-a","tenant_id":"acme"}"#);
        assert_eq!(handed_on(br#"{"type":"a"}"#).unwrap(), "{}");
        assert_eq!(answered(&answer_of(br#"{"id":"x"}"#)), r#"{"id":"x"}"#);
    }
}
