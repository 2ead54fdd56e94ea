//! Figures over time.
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
