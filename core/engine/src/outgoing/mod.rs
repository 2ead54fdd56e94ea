//! Requests that the engine sends to addresses which its clients have chosen: webhooks and push delivery.
//!
//! Such an address is input from a stranger. [`guard`] decides which addresses are connected to, `client` sends within
//! limits of time and size, `signed` and `aws` sign, `secret` and `input` check what a client asks for. What is sent
//! and what an answer means, the feature decides that sends.
#[cfg(not(feature = "outgoing"))]
mod absent;
mod answer;
#[cfg(feature = "sqs")]
mod aws;
#[cfg(feature = "outgoing")]
mod cause;
#[cfg(feature = "outgoing")]
mod client;
pub(crate) mod guard;
pub(crate) mod input;
pub(crate) mod options;
#[cfg(feature = "outgoing")]
mod resolver;
mod secret;
pub(crate) mod signed;
#[cfg(feature = "outgoing")]
mod tls;

#[cfg(not(feature = "outgoing"))]
pub use absent::Outgoing;
pub use answer::{Answer, AwsScope, Bounds, Fault, Post};
#[cfg(feature = "outgoing")]
pub use client::Outgoing;
pub use guard::{Allowed, Guard, Refused};
pub use options::{AwsAccessKey, AwsOptions, Names, OutgoingOptions, Resolving};
pub use secret::Secret;
#[cfg(feature = "outgoing")]
pub use tls::config as tls_config;
