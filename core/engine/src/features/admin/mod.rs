//! What operators ask and order.
pub mod commands;
pub mod filter;
pub(crate) mod job_routes;
pub mod records;
pub(crate) mod rules;
pub(crate) mod system_routes;
pub(crate) mod worker_routes;
