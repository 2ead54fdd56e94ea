//! Keyed limits: concurrency, rate and throttle by key.
pub(crate) mod gate;
pub(crate) mod metrics;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;
