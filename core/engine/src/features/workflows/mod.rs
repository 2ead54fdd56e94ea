//! Chains, groups and batches of jobs.
pub(crate) mod operator_routes;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
