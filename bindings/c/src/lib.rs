//! The C ABI: convert, guard, delegate to `ojs-abi`. The rules are at the top of the header, `include/ojs.h`, which is made
//! of this crate.
//!
//! An export that takes a pointer, a slice or an object is `unsafe`: its caller promises the rules at the top of the header. What reads and
//! writes through these pointers is in [`slice`], crate-private, and called from such exports only.
#![expect(non_camel_case_types, reason = "names of C")]
#![expect(clippy::missing_safety_doc, reason = "the rules at the top of the header are what the caller of each export promises")]

pub mod answer;
pub mod client;
mod defaults;
pub mod doorbell;
pub mod durable;
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
mod versions;
mod webhook;
pub mod worker;
