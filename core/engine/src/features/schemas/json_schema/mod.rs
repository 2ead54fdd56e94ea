//! JSON Schema, draft 2020-12, for the arguments of jobs.
//!
//! Validation runs in the thread that writes, so no schema may make it slow. Three things that the common validators
//! leave unbounded are bounded here: a validation takes at most [`check::MAX_STEPS`] steps, patterns are matched in
//! linear time, and nothing outside the schema is ever loaded.
pub(crate) mod check;
pub(crate) mod compatibility;
pub(crate) mod compile;
mod number;
#[cfg(test)]
mod tests;
