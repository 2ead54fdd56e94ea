//! How events are printed as CloudEvents.
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use ojs_model::json::{push_member, push_text};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::kernel::event::Event;

/// Media type of one event in structured mode.
pub const STRUCTURED: &str = "application/cloudevents+json";
/// Media type of a list of events.
pub const BATCH: &str = "application/cloudevents-batch+json";
/// Most events of a batch.
pub const MAX_BATCH_EVENTS: usize = 100;
/// Most bytes of a batch; one event alone may be larger.
pub const MAX_BATCH_BYTES: usize = 1 << 20;
/// How the types of our events begin among the events of the world.
pub const TYPE_PREFIX: &str = "org.openjobspec.";

/// An event in the form of the log: read back from its text.
#[derive(Debug, Deserialize)]
struct Envelope<'a> {
    id: String,
    r#type: String,
    time: String,
    subject: String,
    #[serde(borrow)]
    data: &'a RawValue,
}

/// A CloudEvent: its attributes in the order in which they are printed, and its data as JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloudEvent {
    attributes: [(&'static str, String); 7],
    data: String,
}

impl CloudEvent {
    /// An event of the log. `source` is the URI of the deployment.
    #[must_use]
    pub fn of(event: &Event, source: &str) -> Self {
        Self::new(&event.id, &event.name, &event.at.to_string(), &event.subject, source, &event.data)
    }

    /// An event that [`Event::render`] has printed; `None` when the text is none.
    #[must_use]
    pub fn of_text(text: &str, source: &str) -> Option<Self> {
        let event: Envelope<'_> = serde_json::from_str(text).ok()?;
        Some(Self::new(&event.id, &event.r#type, &event.time, &event.subject, source, event.data.get()))
    }

    fn new(id: &str, name: &str, time: &str, subject: &str, source: &str, data: &str) -> Self {
        let attributes = [
            ("specversion", "1.0".to_owned()),
            ("id", id.to_owned()),
            ("source", source.to_owned()),
            ("type", format!("{TYPE_PREFIX}{name}")),
            ("subject", subject.to_owned()),
            ("time", time.to_owned()),
            ("datacontenttype", "application/json".to_owned()),
        ];
        Self { attributes, data: data.to_owned() }
    }

    /// Attributes that are there: an attribute is never an empty text.
    fn attributes(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.attributes.iter().map(|(name, value)| (*name, value.as_str())).filter(|(_, value)| !value.is_empty())
    }

    /// Structured mode: attributes and data in one JSON object.
    #[must_use]
    pub fn structured(&self) -> String {
        let mut out = String::with_capacity(self.data.len() + 320);
        out.push('{');
        for (name, value) in self.attributes() {
            push_text(&mut out, name, value);
        }
        push_member(&mut out, "data", &self.data);
        out.push('}');
        out
    }

    /// Binary mode: attributes as headers, the data as body.
    #[must_use]
    pub fn binary(&self) -> (HeaderMap, &str) {
        let mut headers = HeaderMap::new();
        for (name, value) in self.attributes() {
            let (name, value) = match name {
                "datacontenttype" => ("content-type".to_owned(), value.to_owned()),
                name => (format!("ce-{name}"), percent_encoded(value)),
            };
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                headers.insert(name, value);
            }
        }
        (headers, &self.data)
    }
}

/// A value as a header has it (CloudEvents HTTP binding, section 3.1.3.2): space, quotation mark, percent sign and all
/// that is not printable ASCII are percent-encoded.
fn percent_encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_graphic() && !matches!(byte, b'"' | b'%') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// A batch of as many of the events as may stand in one, and how many they are.
#[must_use]
pub fn batch(events: &[Event], source: &str) -> (String, usize) {
    let mut out = String::from("[");
    let mut count = 0;
    for event in events.iter().take(MAX_BATCH_EVENTS) {
        let text = CloudEvent::of(event, source).structured();
        if count > 0 && out.len() + text.len() + 2 > MAX_BATCH_BYTES {
            break;
        }
        if count > 0 {
            out.push(',');
        }
        out.push_str(&text);
        count += 1;
    }
    out.push(']');
    (out, count)
}

#[cfg(test)]
mod tests {
    use ojs_model::Timestamp;
    use serde_json::{Value, json};

    use super::*;

    fn event(subject: &str) -> Event {
        Event {
            id: "evt_1".into(),
            place: Default::default(),
            name: "job.completed".into(),
            change: None,
            origin: None,
            tenant: None,
            at: Timestamp::from_millis(1_767_225_600_000),
            subject: subject.into(),
            data: r#"{"attempt":1}"#.into(),
        }
    }

    #[test]
    fn structured_events_have_the_attributes_of_the_document() {
        let text = CloudEvent::of(&event("job-1"), "https://jobs.example.com/ojs").structured();
        let expected = json!({
            "specversion": "1.0", "id": "evt_1", "source": "https://jobs.example.com/ojs", "subject": "job-1",
            "type": "org.openjobspec.job.completed", "time": "2026-01-01T00:00:00.000Z",
            "datacontenttype": "application/json", "data": {"attempt": 1},
        });
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
        assert_eq!(CloudEvent::of_text(&event("job-1").render(), "s"), Some(CloudEvent::of(&event("job-1"), "s")));
        assert_eq!(CloudEvent::of_text("nonsense", "s"), None);
    }

    #[test]
    fn an_event_without_a_subject_has_no_such_attribute() {
        let text = CloudEvent::of(&event(""), "s").structured();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap().get("subject"), None);
    }

    #[test]
    fn binary_events_have_the_attributes_in_headers() {
        let event = CloudEvent::of(&event("Euro € \"5%\""), "ojs://ojs/engine/local");
        let (headers, body) = event.binary();
        assert_eq!(body, r#"{"attempt":1}"#);
        assert_eq!(headers["ce-subject"], "Euro%20%E2%82%AC%20%225%25%22");
        assert_eq!(
            (&headers["ce-specversion"], &headers["ce-type"]),
            (&"1.0".parse().unwrap(), &"org.openjobspec.job.completed".parse().unwrap())
        );
        assert_eq!((&headers["content-type"], headers.get("ce-datacontenttype")), (&"application/json".parse().unwrap(), None));
        assert_eq!(headers.len(), 7);
    }

    #[test]
    fn a_batch_is_bounded_in_events_and_bytes() {
        let many: Vec<Event> = (0..150).map(|n| event(&n.to_string())).collect();
        let (text, count) = batch(&many, "s");
        assert_eq!((count, serde_json::from_str::<Vec<Value>>(&text).unwrap().len()), (100, 100));
        let large: Vec<Event> =
            (0..3).map(|_| Event { data: json!({"x": "y".repeat(600_000)}).to_string(), ..event("s") }).collect();
        let (text, count) = batch(&large, "s");
        assert_eq!((count, serde_json::from_str::<Vec<Value>>(&text).unwrap().len()), (1, 1));
        assert_eq!(batch(&[], "s"), ("[]".to_owned(), 0));
    }
}
