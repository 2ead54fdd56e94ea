//! The SDK against played servers and against the engine in this process. One program, because linking each file apart
//! takes longer than running it. Tests that change what belongs to the whole process are programs of their own.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
#[path = "../support/recorded.rs"]
mod recorded;
#[path = "../support/mod.rs"]
mod support;

mod client;
mod dialects;
mod durable;
mod embedded;
mod encryption;
mod events;
mod handlers;
mod http_faults;
mod operations;
mod orchestration;
mod other_servers;
mod pages;
mod secrets;
mod tenants;
mod testing;
mod trains;
mod unknown_types;
mod values;
mod versions;
mod worker_acks;
mod worker_drain;
mod worker_exchange;
mod worker_heartbeats;
mod worker_plain;
