//! `ojs server --ui-server`: the page in front of another server.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
mod front;
mod keys;
mod other;
mod refusals;
