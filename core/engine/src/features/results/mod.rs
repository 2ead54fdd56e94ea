//! What came out of jobs: expiry, reading, streaming.
pub mod answer;
pub mod commands;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
pub(crate) mod stream;
