//! What a server tells of itself: OTLP, Prometheus, Grafana; and the live views of the command.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
#[path = "../common/mod.rs"]
mod common;
mod otlp;
mod prometheus;
mod terminal;
