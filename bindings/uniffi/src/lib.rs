//! What Kotlin and Swift share: the host layer `ojs-abi` as objects of uniffi, which makes the code of both languages
//! out of this crate. Convert, guard, delegate; the packages in `kotlin/` and `swift/` add what is idiom.
//!
//! Jobs and outcomes cross as frames (`xtask/schema.toml`), many in one call; everything else is JSON text. Nothing of
//! a host is called on the way of a job: a thread of the host waits in [`worker::CoreWorker::pull`]. Calls that wait
//! for a server are asynchronous in both languages, and a call whose task is cancelled is dropped.

pub mod client;
pub mod error;
pub mod frames;
pub mod functions;
pub mod outbox;
pub mod server;
pub mod transport;
pub mod worker;

uniffi::setup_scaffolding!();
