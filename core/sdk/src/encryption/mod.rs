//! Arguments that only producers and workers can read: AES-256-GCM, done before a job leaves the process, undone before its handler
//! runs ("Extension Interactions" sections 5, 14 and 15). The server keeps what it cannot read; retries, dead letters and the
//! outbox's relay pass it on as it is.
//!
//! ```
//! # #[cfg(feature = "embedded")]
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use ojs::encryption::Keys;
//! use ojs::{Client, Worker};
//!
//! // The first key encrypts; those behind it still open what was encrypted with them.
//! let keys: Keys = "k-08:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f".parse()?;
//! let client = Client::builder().url("memory:").encryption(keys).connect().await?;
//! let job = client.enqueue("card.charge", ["4111 1111 1111 1111"]).await?;
//! assert!(!serde_json::to_string(&job.args)?.contains("4111"));
//!
//! let worker = Worker::for_client(&client);
//! # let (done, mut seen) = tokio::sync::mpsc::unbounded_channel();
//! worker.register("card.charge", move |ctx| {
//! #   let done = done.clone();
//!     async move {
//!         let (card,): (String,) = ctx.args()?; // in the clear
//! #       done.send(card)?;
//!         Ok(())
//!     }
//! })?;
//! let handle = worker.start();
//! # assert_eq!(seen.recv().await.as_deref(), Some("4111 1111 1111 1111"));
//! handle.shutdown(None).await;
//! # Ok(()) }
//! # #[cfg(not(feature = "embedded"))] fn main() {}
//! ```
//!
//! | module | noun |
//! |---|---|
//! | `keys` | keys by name, and where they come from |
//! | `blob` | bytes under a key: AES-256-GCM |
//! | `compression` | bytes made smaller before that |
//! | `marks` | what a job says about its encryption |
//! | `codec` | jobs and requests, in and out, in all published forms |
//! | `payload` | the same for any bytes, as a codec server does it |
//! | `transport` | the place between the enqueue chain and the network |

mod blob;
mod codec;
mod compression;
mod keys;
mod marks;
mod payload;
mod transport;

pub use codec::{Codec, CodecError, Form};

pub use keys::{Key, KeyProvider, Keys};
pub use payload::Payload;
pub use transport::Encrypted;
