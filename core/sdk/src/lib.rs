//! Open Job Spec SDK for Rust.
#![forbid(unsafe_code)]

mod backoff;
pub mod client;
pub mod dispatch;
pub mod error;
pub mod transport;
pub mod worker;

pub use client::Client;
pub use error::Error;
