//! A CloudEvent that is to enqueue a job: how it is recognised, read, and mapped to an enqueue request.
use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use ojs_model::json::{push_member, push_text};
use ojs_model::{ErrorCode, OjsError, Timestamp};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::answer::{BATCH, STRUCTURED, TYPE_PREFIX};
use super::data::{Media, argument, decoded};
use crate::http::header::CE_SPECVERSION;
use crate::http::request::{media_type, parse};

/// How the type of an event begins that enqueues a job; the rest is the type of the job.
const TRIGGER: &str = "org.openjobspec.trigger.";
/// The attribute with the media type of the data.
const MEDIA_TYPE: &str = "datacontenttype";
/// The member with data that is no JSON.
const BASE64: &str = "data_base64";
/// How headers of attributes begin.
const HEADER: &str = "ce-";

/// A CloudEvent that enqueues a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Trigger {
    /// Its source and its id: together they name it.
    pub(super) source: String,
    pub(super) id: String,
    /// The enqueue request that follows from it.
    pub(super) request: String,
}

/// How a request carries events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// One event, which is the body.
    Structured,
    /// One event: its attributes are headers, the body is its data.
    Binary,
    /// A body with several events.
    Batch,
}

impl Mode {
    /// The mode by the media type, or by the header that all in binary mode have; `None` for what is no event.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let is = |wanted: &str| media_type(headers).is_some_and(|media| media.eq_ignore_ascii_case(wanted));
        if is(BATCH) {
            Some(Self::Batch)
        } else if is(STRUCTURED) {
            Some(Self::Structured)
        } else {
            headers.contains_key(&CE_SPECVERSION).then_some(Self::Binary)
        }
    }
}

fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers.get(CONTENT_TYPE)?.to_str().ok()
}

/// Attributes by name, and the data as JSON text.
type Parts<'a> = (BTreeMap<String, Value>, Option<Cow<'a, str>>);

/// Reads an event in binary mode.
///
/// # Errors
/// 400 that names the attribute at fault.
pub(super) fn read_binary(headers: &HeaderMap, body: &[u8]) -> Result<Trigger, OjsError> {
    trigger(binary(headers, body)?)
}

/// Reads an event in structured mode.
///
/// # Errors
/// As [`read_binary`].
pub(super) fn read_structured(body: &[u8]) -> Result<Trigger, OjsError> {
    trigger(structured(body)?)
}

fn trigger((attributes, data): Parts<'_>) -> Result<Trigger, OjsError> {
    let text = |name: &str| match attributes.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.as_str())),
        Some(_) => Err(wrong(name, format!("{name} must be a text that is not empty."))),
    };
    let required = |name: &str| text(name)?.ok_or_else(|| wrong(name, format!("{name} is required of a CloudEvent.")));
    let version = required("specversion")?;
    if version != "1.0" {
        return Err(wrong("specversion", format!("specversion must be 1.0, got '{version}'.")));
    }
    let (id, source, name) = (required("id")?, required("source")?, required("type")?);
    let job_type = job_type(name)?;
    if let Some(time) = text("time")? {
        Timestamp::parse(time).map_err(|_| wrong("time", format!("time must be a time (RFC 3339), got '{time}'.")))?;
    }
    let mut meta = String::from("{");
    push_text(&mut meta, "trigger_event_id", id);
    push_text(&mut meta, "trigger_source", source);
    let carried =
        [("trigger_subject", "subject"), ("trigger_time", "time"), ("traceparent", "traceparent"), ("tracestate", "tracestate")];
    for (member, attribute) in carried {
        if let Some(value) = text(attribute)? {
            push_text(&mut meta, member, value);
        }
    }
    if let Some(media) = text(MEDIA_TYPE)?.filter(|media| Media::of(Some(media)) != Media::Json) {
        push_text(&mut meta, "trigger_datacontenttype", media);
    }
    meta.push('}');
    let mut request = String::from("{");
    push_text(&mut request, "type", job_type);
    push_member(&mut request, "args", &args(data.as_deref()));
    push_member(&mut request, "meta", &meta);
    request.push('}');
    Ok(Trigger { source: source.to_owned(), id: id.to_owned(), request })
}

/// The type of the job. Events of this server enqueue nothing: otherwise a bridge back to it would never end.
fn job_type(name: &str) -> Result<&str, OjsError> {
    if let Some(job_type) = name.strip_prefix(TRIGGER) {
        return Ok(job_type);
    }
    let message = format!("type must begin with {TRIGGER}: what follows is the type of the job. Got '{name}'.");
    let error = wrong("type", message);
    Err(if name.starts_with(TYPE_PREFIX) { error.with_hint("Events of an OJS server enqueue no jobs.") } else { error })
}

/// The arguments: a list as it is, anything else as the only argument.
fn args(data: Option<&str>) -> String {
    match data {
        None => "[]".to_owned(),
        Some(list) if list.starts_with('[') => list.to_owned(),
        Some(one) => format!("[{one}]"),
    }
}

fn structured(body: &[u8]) -> Result<Parts<'_>, OjsError> {
    let mut members: BTreeMap<String, &RawValue> = parse(body)?;
    let (data, encoded) = (members.remove("data"), members.remove(BASE64));
    let value = |raw: &RawValue| serde_json::from_str(raw.get()).unwrap_or_default();
    let attributes: BTreeMap<String, Value> = members.into_iter().map(|(name, raw)| (name, value(raw))).collect();
    let Some(encoded) = encoded.filter(|raw| raw.get() != "null") else {
        return Ok((attributes, data.map(|raw| Cow::Borrowed(raw.get()))));
    };
    if data.is_some() {
        return Err(wrong(BASE64, "data and data_base64 exclude each other.".to_owned()));
    }
    let media = Media::of(attributes.get(MEDIA_TYPE).and_then(Value::as_str));
    let bytes = decoded(encoded.get()).map_err(|message| wrong(BASE64, message))?;
    let argument = argument(&bytes, media).map_err(|message| wrong(BASE64, message))?;
    Ok((attributes, Some(Cow::Owned(argument))))
}

fn binary<'a>(headers: &HeaderMap, body: &'a [u8]) -> Result<Parts<'a>, OjsError> {
    let mut attributes = BTreeMap::new();
    for (name, value) in headers {
        let Some(attribute) = name.as_str().strip_prefix(HEADER) else { continue };
        let decoded = value.to_str().ok().and_then(percent_decoded);
        let text = decoded.ok_or_else(|| wrong(name.as_str(), format!("{name} cannot be read.")))?;
        attributes.insert(attribute.to_owned(), json!(text));
    }
    let media = Media::of(content_type(headers));
    if media != Media::Json {
        attributes.insert(MEDIA_TYPE.to_owned(), json!(content_type(headers)));
    }
    if body.is_empty() {
        return Ok((attributes, None));
    }
    if media != Media::Json {
        let argument = argument(body, media).map_err(|message| wrong("data", message))?;
        return Ok((attributes, Some(Cow::Owned(argument))));
    }
    let data: &RawValue = parse(body)?;
    Ok((attributes, Some(Cow::Borrowed(data.get()))))
}

/// The value of a header of binary mode; `None` when it is not UTF-8 once it is decoded.
fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let pair = after.get(..2).and_then(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        match (byte, pair) {
            (b'%', Some(decoded)) => {
                out.push(decoded);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                out.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8(out).ok()
}

fn wrong(field: &str, message: String) -> OjsError {
    OjsError::new(ErrorCode::InvalidPayload, message).with_details(json!({"field": field}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn event(change: impl FnOnce(&mut Value)) -> Result<Trigger, OjsError> {
        let mut event = json!({
            "specversion": "1.0", "id": "e1", "source": "/shop", "type": "org.openjobspec.trigger.mail.send",
            "subject": "order 7", "time": "2026-01-01T00:00:00Z", "data": {"to": "a@example.com"},
        });
        change(&mut event);
        read_structured(event.to_string().as_bytes())
    }

    #[test]
    fn an_event_becomes_a_request() {
        let trigger = event(|_| {}).unwrap();
        assert_eq!((trigger.id.as_str(), trigger.source.as_str()), ("e1", "/shop"));
        let request: Value = serde_json::from_str(&trigger.request).unwrap();
        let meta = json!({"trigger_event_id": "e1", "trigger_source": "/shop", "trigger_subject": "order 7",
            "trigger_time": "2026-01-01T00:00:00Z"});
        assert_eq!(request, json!({"type": "mail.send", "args": [{"to": "a@example.com"}], "meta": meta}));
        let args = |data: Value| {
            let trigger = event(|event| event["data"] = data).unwrap();
            serde_json::from_str::<Value>(&trigger.request).unwrap()["args"].clone()
        };
        assert_eq!((args(json!([1, 2])), args(json!("x")), args(Value::Null)), (json!([1, 2]), json!(["x"]), json!([null])));
        let trigger = event(|event| drop(event.as_object_mut().unwrap().remove("data"))).unwrap();
        assert!(trigger.request.contains("\"args\":[]"));
    }

    #[test]
    fn both_modes_say_the_same() {
        let same = [
            ("ce-specversion", "1.0"),
            ("ce-id", "e1"),
            ("ce-source", "/shop"),
            ("ce-type", "org.openjobspec.trigger.mail.send"),
            ("ce-subject", "order%207"),
            ("ce-time", "2026-01-01T00:00:00Z"),
            ("content-type", "application/json"),
        ];
        assert_eq!(Mode::of(&headers(&same)), Some(Mode::Binary));
        let binary = read_binary(&headers(&same), br#"{"to":"a@example.com"}"#).unwrap();
        assert_eq!(binary, event(|_| {}).unwrap());
        let mode = |media: &'static str| Mode::of(&headers(&[("content-type", media)]));
        assert_eq!(mode("application/json"), None);
        assert_eq!(mode("application/CloudEvents+json; charset=utf-8"), Some(Mode::Structured));
        assert_eq!(mode("application/cloudevents-batch+json"), Some(Mode::Batch));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let field = |change: fn(&mut Value)| event(change).unwrap_err().details.unwrap()["field"].clone();
        for name in ["specversion", "id", "source", "type"] {
            let without = event(|event| drop(event.as_object_mut().unwrap().remove(name))).unwrap_err();
            assert_eq!(without.details.unwrap()["field"], name);
            let empty = event(|event| event[name] = json!("")).unwrap_err();
            assert_eq!(empty.details.unwrap()["field"], name);
        }
        assert_eq!(field(|event| event["specversion"] = json!("0.3")), "specversion");
        assert_eq!(field(|event| event["time"] = json!("yesterday")), "time");
        assert_eq!(field(|event| event["id"] = json!(7)), "id");
        assert_eq!(field(|event| event["type"] = json!("com.example.order")), "type");
        assert_eq!(field(|event| event["type"] = json!("org.openjobspec.job.completed")), "type");
        assert_eq!(field(|event| event["data_base64"] = json!("AAAA")), "data_base64", "beside data");
        fn encoded(event: &mut Value, text: Value) {
            drop(event.as_object_mut().unwrap().remove("data"));
            event["data_base64"] = text;
        }
        assert_eq!(field(|event| encoded(event, json!("no base64"))), "data_base64");
        assert_eq!(field(|event| encoded(event, json!(7))), "data_base64");
        assert_eq!(field(|event| encoded(event, json!("bm8="))), "data_base64", "without a media type it is JSON");
    }
}
