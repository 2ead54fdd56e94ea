//! Claims that name job types.
pub(crate) mod passes;
pub mod records;
pub(crate) mod rules;
