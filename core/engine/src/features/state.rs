//! What features keep for the length of one transaction, or of one audit.
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::features::errors::records::ErrorRow;
use crate::features::fair::known::Known;
use crate::features::limits::gate::Gates;
use crate::features::tenants::kept::Kept;
use crate::features::trains::touched::Touched;
use crate::features::versions::handlers::Handlers;
use crate::features::versions::records::Attempts;
use crate::features::webhooks::backlog::Deltas;
use crate::features::workflows::ended::Ended;
use crate::store::rows::Counts;

/// One member per feature that keeps anything.
#[derive(Debug, Default)]
pub struct State {
    /// Dead letters more or fewer, by number of the queue.
    pub(crate) dead_letters: BTreeMap<i64, i64>,
    /// Failed attempts.
    pub(crate) errors: Vec<ErrorRow>,
    pub(crate) fair: Known,
    pub(crate) limits: Gates,
    /// What the worker of the latest claim runs; `None` for everything.
    pub(crate) runs: Option<Arc<Handlers>>,
    /// Attempts of versions that are watched.
    pub(crate) attempts: Attempts,
    pub(crate) trains: Touched,
    pub(crate) tenants: Kept,
    pub(crate) webhooks: Deltas,
    pub(crate) workflows: Ended,
}

/// The same for an audit: what a feature has counted while the jobs went by.
#[derive(Debug, Default)]
pub struct AuditState {
    /// Dead letters that were seen.
    pub(crate) dead_letters: usize,
    /// Jobs with a place in a train that were seen.
    pub(crate) trains: usize,
    /// Active and available jobs that were seen, by number of the key.
    pub(crate) limits: BTreeMap<i64, [i64; 2]>,
    /// Jobs of tenants by state, by numbers of tenant and queue.
    pub(crate) tenants: BTreeMap<(i64, i64), Counts>,
}
