//! Media types of answers, for modules that do not import each other.

/// A stream of events, of the server to one client.
pub const EVENT_STREAM: &str = "text/event-stream";
