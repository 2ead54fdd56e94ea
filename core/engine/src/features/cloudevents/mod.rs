//! CloudEvents 1.0: events are given out as CloudEvents, and a CloudEvent may enqueue a job (extensions section 24).
//!
//! Jobs are never CloudEvents. Events are, where a client asks for that form: `/events`, `/events/stream` and webhooks.
pub mod answer;
mod commands;
mod data;
pub(crate) mod routes;
mod trigger;
