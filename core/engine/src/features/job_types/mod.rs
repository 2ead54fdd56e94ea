//! Claims that name job types.
pub(crate) mod passes;
pub mod records;
pub(crate) mod rules;

use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature { reset: Some(|transaction| transaction.forget_passes()), ..Feature::NONE };
