//! Answers that are given again when a request comes again.
mod audit;
pub mod records;

use crate::features::feature::Feature;
use crate::kernel::hooks::Hooks;
use crate::store::record::Record as _;

/// What it adds to the engine.
pub(crate) const FEATURE: Feature = Feature { tables: &[records::Remembered::TABLE], hooks: HOOKS, ..Feature::NONE };

/// Where it takes part in transactions.
const HOOKS: Hooks = Hooks {
    prune: Some(|transaction, _| {
        let before = transaction.now.as_millis().saturating_sub(records::KEEP_MS);
        transaction.tables.forget_answers(before)?;
        Ok(false)
    }),
    audit: Some(audit::CHECKS),
    ..Hooks::NONE
};
