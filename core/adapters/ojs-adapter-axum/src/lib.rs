#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod enqueue;
mod layer;
mod transaction;

pub use enqueue::{AdapterError, Ojs, OjsBuilder};
pub use layer::{OjsLayer, OjsMissing, OjsService};
pub use transaction::{CommitTransaction, JobTransaction};
