//! Node.js glue: convert and delegate. No policy lives here; the package users see is `/node`.
//!
//! Two rules: nothing that can wait is called on a JavaScript thread (but [`worker::Worker::finish`], which is for the
//! end of a process), and no thread of the core enters JavaScript. A bell is rung, on the edge from nothing to
//! something; JavaScript comes and takes all there is.

pub mod bell;
pub mod connection;
pub mod gate;
pub mod logs;
pub mod outbox;
pub mod replies;
pub mod server;
pub mod text;
pub mod transport;
pub mod worker;

use napi_derive::napi;

/// The version of the native half; the package checks that it is its own.
#[napi]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
