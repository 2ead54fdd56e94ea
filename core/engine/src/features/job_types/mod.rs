//! Claims that name job types.
pub mod records;
pub(crate) mod rules;
