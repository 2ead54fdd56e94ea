//! JSON Schema, draft 2020-12, for the arguments of jobs.
//!
//! It runs in the thread that writes, so one validation must not take long, whatever the schema says. What the common
//! validators leave open is bounded here: a validation takes at most [`check::MAX_STEPS`] steps, patterns are matched
//! in linear time, and nothing outside the schema is ever loaded.
pub(crate) mod check;
pub(crate) mod compatibility;
pub(crate) mod compile;
mod number;
#[cfg(test)]
mod tests;
