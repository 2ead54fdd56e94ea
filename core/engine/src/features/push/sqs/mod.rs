//! Queues of Amazon SQS as endpoints: jobs are sent in batches, and the function that reads the queue settles them.
//!
//! `address` reads which queue an endpoint names, `batch` writes a request from deliveries, and `answer` says what the
//! answer of SQS means for each of them. Claims, leases, weights and the breaker are those of other endpoints.
mod address;
mod answer;
mod batch;
mod reference;

pub(crate) use address::QueueAddress;
pub(crate) use answer::{Fate, Judgement};
pub(crate) use batch::{Batch, batches, trial};
