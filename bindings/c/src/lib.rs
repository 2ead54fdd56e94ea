//! The C ABI: convert, guard, delegate to `ojs-abi`. The rules are at the top of the header, `include/ojs.h`, which is made
//! of this crate.
//!
//! An export that takes a pointer, a slice or an object is `unsafe`: its caller promises the rules at the top of the header. What reads and
//! writes through these pointers is in [`slice`], crate-private, and called from such exports only.
#![expect(non_camel_case_types, reason = "names of C")]
#![expect(clippy::missing_safety_doc, reason = "the rules at the top of the header are what the caller of each export promises")]

pub mod answer;
pub mod client;
pub mod context;
mod defaults;
pub mod doorbell;
pub mod durable;
pub mod enqueue_layer;
pub mod error;
pub mod events;
pub mod fake;
pub mod job;
pub mod layer;
pub mod layers;
pub mod logs;
pub mod outbox;
pub mod outcome;
mod request_context;
pub mod server;
mod signals;
pub mod slice;
pub mod transport;
pub mod user_data;
pub mod version;
mod versions;
mod webhook;
pub mod worker;
