//! Answers that are given again when a request comes again.
pub mod records;
