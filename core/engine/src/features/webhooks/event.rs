//! Events as they are sent.
use ojs_model::{JobId, Timestamp, json};

use crate::kernel::event::Event;

/// Events of webhooks themselves are not sent: each delivery would cause the next one.
const OWN: &str = "webhook.";

/// Whether an event may be sent at all.
pub(crate) fn is_deliverable(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(OWN)
}

/// An event ready to be sent: its id and its text. The id is made here, because the event's place in the log, from
/// which readers of the log get an id, is not known before the commit.
pub(crate) fn prepared(event: Event) -> (String, String) {
    let event = Event { id: format!("evt_{}", JobId::now_v7()), ..event };
    let text = event.render();
    (event.id, text)
}

/// The event that `POST …/test` sends.
pub(crate) fn test_event(subscription: &str, now: Timestamp) -> (String, String) {
    let mut data = String::from("{");
    json::push_text(&mut data, "subscription_id", subscription);
    json::push_text(&mut data, "message", "This is a test of a webhook subscription.");
    data.push('}');
    let event = Event {
        id: String::new(),
        place: Default::default(),
        name: "webhook.test".to_owned(),
        change: None,
        tenant: None,
        origin: None,
        at: now,
        subject: subscription.to_owned(),
        data,
    };
    prepared(event)
}
