//! The program `ojs` as it is called in a shell. One test program, because linking each file apart takes longer than
//! running it.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
mod codec_server;
mod common;
mod doctor;
mod edge;
mod front;
mod lists;
mod observe;
mod older_servers;
mod push;
mod relay;
mod server;
mod tools;
