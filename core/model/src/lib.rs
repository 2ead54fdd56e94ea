//! The rules of Open Job Spec as plain functions over plain data: no I/O, no clock, no async.
//!
//! Everything that must behave the same in the engine, in the SDK and in every language lives here once:
//!
//! | module | noun |
//! |---|---|
//! | [`envelope`] | a validated enqueue request, [`NewJob`](envelope::NewJob) |
//! | [`state`] | the eight states and their one transition table |
//! | [`error`] | structured errors and the catalogue of codes |
//! | [`retry`] | retry policy, back-off formulae, decision on failure |
//! | [`failure`] | the error object of a failed attempt |
//! | [`cron`] | when a cron entry fires |
//! | [`duration`], [`time`] | ISO 8601 durations, RFC 3339 times |
//! | [`id`] | UUIDv7 job ids |
//! | [`json`] | checks on raw JSON text, fragments |
//! | [`label`] | keys of limits and of shared queues, ids of trains and tenants |
//! | [`lazy`] | a value of a `static`, made without a lock |
//! | [`redact`] | URLs and DSNs as they may be printed |
//! | [`trace`] | the trace that a job belongs to |
//! | [`train`] | the train of a job: jobs that run one after another |
//! | [`unique`] | the key that makes two jobs the same |
//! | [`version`] | versions of arguments, and ranges of them |
//! | [`webhook`] | signatures of requests that the server sends |
//! | [`workflow`] | chains, groups, batches, graphs |
//! | [`limits`] | sizes, with the reason for each |
#![forbid(unsafe_code)]

pub mod cron;
pub mod duration;
pub mod envelope;
pub mod error;
pub mod failure;
pub mod hex;
pub mod id;
pub mod json;
pub mod label;
pub mod lazy;
pub mod limits;
pub mod rate_limit;
pub mod redact;
pub mod retry;
pub mod spelling;
pub mod state;
pub mod time;
pub mod trace;
pub mod train;
pub mod unique;
pub mod version;
pub mod webhook;
pub mod workflow;

pub use envelope::{GivenRetry, NewJob};
pub use error::{ErrorCode, OjsError};
pub use failure::{JobError, TimeoutKind};
pub use id::JobId;
pub use retry::RetryPolicy;
pub use state::JobState;
pub use time::Timestamp;
pub use train::Train;
pub use unique::UniquePolicy;

/// The protocol version spoken on the wire (`specversion`, `OJS-Version`).
pub const SPEC_VERSION: &str = "1.0";
/// The media type of every request and response (HTTP binding section 3.1).
pub const MEDIA_TYPE: &str = "application/openjobspec+json";
