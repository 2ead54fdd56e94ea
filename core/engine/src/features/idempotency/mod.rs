//! Answers that are given again when a request comes again.
mod audit;
pub mod records;

use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    prune: Some(|transaction, _| {
        let before = transaction.now.as_millis().saturating_sub(records::KEEP_MS);
        transaction.tables.forget_answers(before)?;
        Ok(false)
    }),
    audit: Some(audit::CHECKS),
    ..Feature::NONE
};
