//! One folder per feature: its records (rows and their tables), its rules, its routes, its metrics.
pub mod admin;
pub mod bulk;
pub mod crons;
pub mod dead_letters;
pub mod idempotency;
pub mod job_types;
pub mod limits;
pub mod queue_config;
pub mod results;
pub mod statistics;
pub mod workflows;
