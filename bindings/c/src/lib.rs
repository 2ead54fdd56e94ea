//! The C ABI: convert, guard, delegate to `ojs-abi`. The rules are at the top of the header, `include/ojs.h`, which is made
//! of this crate.
//!
//! All `unsafe` is in [`slice`] (reading what C points at, writing where C points to), in `signals` and in the functions that free.
#![expect(non_camel_case_types, reason = "names of C")]

pub mod answer;
pub mod client;
mod defaults;
pub mod doorbell;
pub mod error;
pub mod job;
pub mod logs;
pub mod outbox;
pub mod outcome;
pub mod server;
mod signals;
pub mod slice;
pub mod transport;
pub mod version;
pub mod worker;
