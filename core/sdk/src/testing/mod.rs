//! Tests of code that enqueues or runs jobs.
//!
//! | to test | use |
//! |---|---|
//! | what is enqueued | [`Recorder`]: records, needs no engine |
//! | code and handlers, one after the other or as jobs are enqueued | [`Fake`], with the feature `embedded` |
//! | the whole way, in one process | `Client::connect("memory:")`, with the feature `embedded` |
//! | the whole way, by URL | [`TestServer`], with the feature `embedded` |
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), ojs::Error> {
//! use ojs::testing::Recorder;
//! let recorder = Recorder::new();
//! recorder.client().enqueue("email.send", "a@example.com").queue("mail").await?;
//! let job = recorder.assert_enqueued("email.send");
//! assert_eq!(job["options"]["queue"], "mail");
//! recorder.assert_not_enqueued("email.bounce");
//! # Ok(()) }
//! ```
mod enqueued;
#[cfg(feature = "embedded")]
mod fake;
mod recorder;
#[cfg(feature = "embedded")]
mod server;

pub use enqueued::{matching, recorded};
#[cfg(feature = "embedded")]
pub use fake::Fake;
pub use recorder::Recorder;
#[cfg(feature = "embedded")]
pub use server::TestServer;
