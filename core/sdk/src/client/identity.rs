//! Ids that the client gives to new jobs, so that a request sent twice makes one job.
use bytes::Bytes;
use ojs_model::JobId;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::error::Error;
use crate::options;

/// An enqueue request, with the id it will have if the client knows it.
pub(super) struct Identified {
    pub text: Bytes,
    pub id: Option<String>,
}

/// A batch request, with all ids if the client knows every one.
pub(super) struct IdentifiedBatch {
    pub text: Vec<u8>,
    pub ids: Option<Vec<String>>,
}

/// Where the options of a job come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A program enqueues it: wrong options are refused, the defaults of its type are filled in.
    New,
    /// It was accepted before and comes from a table: its options are sent unchanged.
    #[cfg(feature = "outbox")]
    Stored,
}

impl Source {
    fn complete(self, text: &[u8], head: &Head<'_>) -> Result<Option<Vec<u8>>, Error> {
        match self {
            Self::New => {
                let job_type = head.job_type.and_then(|raw| ojs_model::json::string(raw.get()));
                options::complete(text, job_type.as_deref().unwrap_or_default(), head.options)
            }
            #[cfg(feature = "outbox")]
            Self::Stored => Ok(options::complete(text, "", head.options).unwrap_or_default()),
        }
    }
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type", default)]
    job_type: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    id: Id,
    #[serde(borrow, default)]
    options: Option<&'a RawValue>,
}

/// An id may be missing, or be there as null: then none can be put in beside it.
#[derive(Default)]
enum Id {
    #[default]
    Missing,
    Null,
    Given(String),
}

/// serde would read a struct from an array as well.
fn head(text: &[u8]) -> Result<Head<'_>, Error> {
    if text.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
        return Err(Error::validation("job", "must be a JSON object"));
    }
    serde_json::from_slice(text).map_err(malformed)
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Id, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map_or(Id::Null, Id::Given))
}

/// Reads the job's id; makes one when it has none and `make` says so.
pub(super) fn job(text: Bytes, make: bool, source: Source) -> Result<Identified, Error> {
    let head = head(&text)?;
    if matches!(head.id, Id::Null | Id::Given(_)) || !make {
        let spelled = source.complete(&text, &head)?;
        let id = match head.id {
            Id::Given(id) => Some(id),
            Id::Missing | Id::Null => None,
        };
        return Ok(Identified { text: spelled.map_or_else(|| text.clone(), Bytes::from), id });
    }
    let mut out = Vec::with_capacity(text.len() + 48);
    let id = push(&mut out, &text, head, true, source)?;
    Ok(Identified { text: out.into(), id })
}

/// Wraps the array in a batch request, giving ids as [`job`] does.
pub(super) fn batch(array: &[u8], make: bool, source: Source) -> Result<IdentifiedBatch, Error> {
    let jobs: Vec<&RawValue> = serde_json::from_slice(array).map_err(malformed)?;
    let mut text = Vec::with_capacity(array.len() + 16 + if make { jobs.len() * 48 } else { 0 });
    let mut ids = Vec::with_capacity(jobs.len());
    text.extend_from_slice(b"{\"jobs\":[");
    for (index, raw) in jobs.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        let object = raw.get().as_bytes();
        let added = head(object).and_then(|head| push(&mut text, object, head, make, source));
        ids.extend(added.map_err(|error| at(index, error))?);
    }
    text.extend_from_slice(b"]}");
    let complete = ids.len() == jobs.len();
    Ok(IdentifiedBatch { text, ids: complete.then_some(ids) })
}

/// Puts the place of a wrong job in its batch before the message.
fn at(index: usize, error: Error) -> Error {
    match error {
        Error::Validation { field, message } => Error::validation(format!("jobs[{index}].{field}"), message),
        other => other,
    }
}

/// Appends one job, with a new id where wanted; returns its id if it is known.
fn push(out: &mut Vec<u8>, object: &[u8], head: Head<'_>, make: bool, source: Source) -> Result<Option<String>, Error> {
    let spelled = source.complete(object, &head)?;
    let object = spelled.as_deref().unwrap_or(object);
    let known = match head.id {
        Id::Given(id) => Some(id),
        Id::Missing if make => {
            let id = JobId::now_v7().to_string();
            splice(out, object, &id)?;
            return Ok(Some(id));
        }
        Id::Missing | Id::Null => None,
    };
    out.extend_from_slice(object);
    Ok(known)
}

/// Appends the object with `"id"` as its first member.
fn splice(out: &mut Vec<u8>, object: &[u8], id: &str) -> Result<(), Error> {
    let open = object.iter().position(|b| *b == b'{').ok_or_else(|| Error::validation("job", "must be a JSON object"))?;
    let rest = object.get(open + 1..).unwrap_or_default();
    out.extend_from_slice(b"{\"id\":\"");
    out.extend_from_slice(id.as_bytes());
    out.push(b'"');
    if rest.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'}') {
        out.push(b',');
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// Whether the refusal may mean that an earlier send has stored the job: a duplicate with its own id.
pub(super) fn may_be_own(refusal: &Error, is_own: impl Fn(&str) -> bool) -> bool {
    let Some(error) = refusal.ojs().filter(|e| e.is_duplicate()) else { return false };
    let existing = error.details.as_ref().and_then(|d| d.get("existing_job_id")).and_then(serde_json::Value::as_str);
    existing.is_none_or(is_own)
}

/// The answer the first send would have got, from the jobs' own documents (`{"job": …}` each).
pub(super) fn batch_answer(jobs: &[Bytes]) -> Result<Bytes, Error> {
    #[derive(Deserialize)]
    struct One<'a> {
        #[serde(borrow)]
        job: &'a RawValue,
    }
    let mut text = String::from("{\"jobs\":[");
    for (index, body) in jobs.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        let one: One<'_> = serde_json::from_slice(body).map_err(|e| Error::json("job", e))?;
        text.push_str(one.job.get());
    }
    text.push_str(&format!("],\"count\":{}}}", jobs.len()));
    Ok(text.into())
}

fn malformed(error: serde_json::Error) -> Error {
    Error::validation("job", format!("is not a JSON object with a string id: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_made_only_when_wanted_and_missing() {
        let text = Bytes::from_static(br#"{"type":"a","args":[]}"#);
        let same = job(text.clone(), false, Source::New).unwrap();
        assert_eq!((same.text, same.id), (text.clone(), None));
        let made = job(text, true, Source::New).unwrap();
        let id = made.id.unwrap();
        assert_eq!(made.text, format!(r#"{{"id":"{id}","type":"a","args":[]}}"#));
        assert!(id.parse::<JobId>().is_ok());
        for (own, known) in [(&br#"{"id":"x","type":"a"}"#[..], Some("x")), (br#"{"id":null,"type":"a"}"#, None)] {
            let kept = job(Bytes::from_static(own), true, Source::New).unwrap();
            assert_eq!((kept.text.as_ref(), kept.id.as_deref()), (own, known));
        }
    }

    #[test]
    fn batches_get_an_id_each() {
        let made = batch(br#"[{"type":"a"}, {"id":"x"},{}]"#, true, Source::New).unwrap();
        let ids = made.ids.unwrap();
        assert_eq!(ids[1], "x");
        let text = String::from_utf8(made.text).unwrap();
        assert_eq!(text, format!(r#"{{"jobs":[{{"id":"{}","type":"a"}},{{"id":"x"}},{{"id":"{}"}}]}}"#, ids[0], ids[2]));
        assert_eq!(batch(br#"[{"type":"a"}]"#, false, Source::New).unwrap().ids, None);
        assert!(batch(br#"{"jobs":[]}"#, false, Source::New).is_err());
    }

    #[test]
    fn policies_are_spelled_out_with_and_without_a_new_id() {
        let text = br#"{"type":"a","args":[1.0],"options":{"retry":{"initial_interval_ms":500},"x_a":1}}"#;
        let spelled = r#""options":{"retry":{"initial_interval":"PT0.5S","initial_interval_ms":500},"x_a":1}}"#;
        for make in [true, false] {
            let one = job(Bytes::from_static(text), make, Source::New).unwrap();
            assert!(one.text.ends_with(spelled.as_bytes()), "{:?}", one.text);
            let many = batch(&[b"[".as_slice(), text, b"]"].concat(), make, Source::New).unwrap();
            assert!(String::from_utf8(many.text).unwrap().contains(spelled));
        }
    }
}
