//! Jobs by the clock.
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
