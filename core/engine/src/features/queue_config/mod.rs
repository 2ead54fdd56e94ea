//! What operators set for a queue: bounds, job types, retention, defaults.
pub(crate) mod admission;
pub(crate) mod operator_routes;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
pub mod tables;
