//! Claims that name job types.
pub(crate) mod passes;
pub mod records;
pub(crate) mod rules;

use crate::features::feature::{Extension, Feature};
use crate::kernel::hooks::Hooks;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature =
    Feature { hooks: HOOKS, extensions: &[Extension::Own("fetch_types", "urn:ojs:ext:fetch_types")], ..Feature::NONE };

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks { reset: Some(|transaction| transaction.forget_passes()), ..Hooks::NONE };
