//! The request of an attempt: the event, stamped and signed for this attempt.
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use bytes::Bytes;
use ojs_model::{JobId, Timestamp};

use super::records::{Format, SubscriptionRow};
use crate::features::cloudevents::answer::CloudEvent;
use crate::outgoing::signed::Headers;
use crate::outgoing::{Bounds, Post};

/// How ids of subscriptions begin on the wire.
pub(crate) const SUBSCRIPTION: &str = "sub_";
/// How ids of deliveries begin on the wire.
pub(crate) const DELIVERY: &str = "del_";

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent<'a> {
    /// The delivery.
    pub(crate) delivery: JobId,
    /// Type of the event.
    pub(crate) event_type: &'a str,
    /// The event.
    pub(crate) payload: &'a str,
}

/// The request of an attempt that begins now.
pub(crate) fn post(subscription: &SubscriptionRow, sent: Sent<'_>, source: &str, now: Timestamp) -> Post {
    let delivery = format!("{DELIVERY}{}", sent.delivery);
    let (own, body) = written(subscription.format, sent.payload, source);
    let mut headers = Headers::signed(&delivery, body.as_bytes(), &subscription.secrets(now.as_millis()), now);
    // A type of an event has characters of headers only.
    headers.add("x-ojs-event-type", sent.event_type);
    headers.add("x-ojs-subscription-id", format_args!("{SUBSCRIPTION}{}", subscription.id));
    let mut headers = headers.finish();
    headers.extend(own);
    Post { url: subscription.url.clone(), headers, body: Bytes::from(body), bounds: Bounds::default(), aws: None }
}

/// The event in a subscription's format: its headers and its body.
fn written(format: Format, payload: &str, source: &str) -> (HeaderMap, String) {
    let event = if format == Format::Ojs { None } else { CloudEvent::of_text(payload, source) };
    match event {
        None => (HeaderMap::new(), payload.to_owned()),
        Some(event) if format == Format::CloudEventsBinary => {
            let (headers, body) = event.binary();
            (headers, body.to_owned())
        }
        Some(event) => {
            let media = HeaderValue::from_static("application/cloudevents+json; charset=utf-8");
            (HeaderMap::from_iter([(CONTENT_TYPE, media)]), event.structured())
        }
    }
}
