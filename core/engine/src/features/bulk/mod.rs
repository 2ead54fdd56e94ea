//! Many jobs in one request.
pub mod answer;
pub mod commands;
pub(crate) mod filter;
pub(crate) mod metrics;
pub(crate) mod operator_routes;
pub(crate) mod purge;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
pub(crate) mod run;
