//! Ids that the client gives to new jobs, so that a request sent twice makes one job.
use bytes::Bytes;
use ojs_model::JobId;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::Error;

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

#[derive(Deserialize)]
struct Head {
    id: Option<String>,
}

/// Reads the job's id; makes one when it has none and `make` says so.
pub(super) fn job(text: Bytes, make: bool) -> Result<Identified, Error> {
    let head: Head = serde_json::from_slice(&text).map_err(malformed)?;
    match head.id {
        Some(id) => Ok(Identified { text, id: Some(id) }),
        None if make => {
            let id = JobId::now_v7().to_string();
            let mut with_id = Vec::with_capacity(text.len() + 48);
            splice(&mut with_id, &text, &id)?;
            Ok(Identified { text: with_id.into(), id: Some(id) })
        }
        None => Ok(Identified { text, id: None }),
    }
}

/// Wraps the array in a batch request, giving ids as [`job`] does.
pub(super) fn batch(array: &[u8], make: bool) -> Result<IdentifiedBatch, Error> {
    let jobs: Vec<&RawValue> = serde_json::from_slice(array).map_err(malformed)?;
    let mut text = Vec::with_capacity(array.len() + 16 + if make { jobs.len() * 48 } else { 0 });
    let mut ids = Vec::with_capacity(jobs.len());
    text.extend_from_slice(b"{\"jobs\":[");
    for (index, raw) in jobs.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        let bytes = raw.get().as_bytes();
        let head: Head = serde_json::from_slice(bytes).map_err(malformed)?;
        match head.id {
            Some(id) => {
                text.extend_from_slice(bytes);
                ids.push(id);
            }
            None if make => {
                let id = JobId::now_v7().to_string();
                splice(&mut text, bytes, &id)?;
                ids.push(id);
            }
            None => text.extend_from_slice(bytes),
        }
    }
    text.extend_from_slice(b"]}");
    let complete = ids.len() == jobs.len();
    Ok(IdentifiedBatch { text, ids: complete.then_some(ids) })
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

/// Whether the refusal may mean "you have stored this yourself": a duplicate, and not of somebody else's job.
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
        let same = job(text.clone(), false).unwrap();
        assert_eq!((same.text, same.id), (text.clone(), None));
        let made = job(text, true).unwrap();
        let id = made.id.unwrap();
        assert_eq!(made.text, format!(r#"{{"id":"{id}","type":"a","args":[]}}"#));
        assert!(id.parse::<JobId>().is_ok());
        let own = job(Bytes::from_static(br#"{"id":"x","type":"a"}"#), true).unwrap();
        assert_eq!((own.text.as_ref(), own.id.as_deref()), (&br#"{"id":"x","type":"a"}"#[..], Some("x")));
    }

    #[test]
    fn batches_get_an_id_each() {
        let made = batch(br#"[{"type":"a"}, {"id":"x"},{}]"#, true).unwrap();
        let ids = made.ids.unwrap();
        assert_eq!(ids[1], "x");
        let text = String::from_utf8(made.text).unwrap();
        assert_eq!(text, format!(r#"{{"jobs":[{{"id":"{}","type":"a"}},{{"id":"x"}},{{"id":"{}"}}]}}"#, ids[0], ids[2]));
        assert_eq!(batch(br#"[{"type":"a"}]"#, false).unwrap().ids, None);
        assert!(batch(br#"{"jobs":[]}"#, false).is_err());
    }
}
