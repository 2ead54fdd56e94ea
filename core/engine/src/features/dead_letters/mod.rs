//! Jobs that failed for good and are kept for an operator.
pub(crate) mod operator_routes;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
