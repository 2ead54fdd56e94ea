//! The request of an attempt: the event, stamped and signed for this attempt.
use bytes::Bytes;
use ojs_model::{JobId, Timestamp};

use super::records::SubscriptionRow;
use crate::outgoing::signed::{add, headers};
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
pub(crate) fn post(subscription: &SubscriptionRow, sent: Sent<'_>, now: Timestamp) -> Post {
    let delivery = format!("{DELIVERY}{}", sent.delivery);
    let mut headers = headers(&delivery, sent.payload.as_bytes(), &subscription.secrets(now.as_millis()), now);
    // A type of an event has characters of headers only.
    add(&mut headers, "x-ojs-event-type", sent.event_type);
    add(&mut headers, "x-ojs-subscription-id", &format!("{SUBSCRIPTION}{}", subscription.id));
    let body = Bytes::copy_from_slice(sent.payload.as_bytes());
    Post { url: subscription.url.clone(), headers, body, bounds: Bounds::default() }
}
