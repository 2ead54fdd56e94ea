//! Tenants as one transaction sees them.
use std::collections::BTreeMap;

use crate::features::tenants::records::Usage;

/// What is kept of tenants until the end of a transaction.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// What has happened, by tenant and queue.
    pub(super) totals: BTreeMap<(i64, i64), [i64; 3]>,
    /// Counts of tenants whose record this transaction holds, as they were committed.
    pub(super) held: BTreeMap<i64, Usage>,
    /// Tenants that may start more jobs than before.
    pub(super) released: Vec<i64>,
}
