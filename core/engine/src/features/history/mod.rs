//! Execution history: what happened to a job, read from what is stored already (extensions section 23).
//!
//! Nothing is written for it. The row of a job has its times, the entries of `errors` have one failed attempt each, and
//! the event log has the details of the last start and of a cancellation while it is kept. So a history costs the jobs
//! that are never looked at nothing, and is there for as long as its job (docs/adr/0046-history.md).
pub(crate) mod answer;
mod attempts;
pub mod commands;
mod lineage;
pub(crate) mod routes;
mod search;
mod timeline;
