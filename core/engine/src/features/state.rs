//! What features keep: for the length of one transaction or of one audit, until the commit, or as long as the process
//! runs. Each struct has one member per value, and the kernel carries the structs without looking into them.
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::features::errors::records::ErrorRow;
use crate::features::fair::known::Known;
use crate::features::fair::rounds::Rounds;
use crate::features::job_types::passes::Passes;
use crate::features::limits::gate::Gates;
use crate::features::pools::shares::AllShares;
use crate::features::progress::board::Board;
use crate::features::statistics::records::Named;
use crate::features::tenants::kept::Kept as KeptOfTenants;
use crate::features::trains::touched::Touched;
use crate::features::versions::records::Attempts;
use crate::features::webhooks::backlog::{Backlog, Deltas};
use crate::features::workflows::ended::Ended;
use crate::kernel::handlers::Handlers;
use crate::store::rows::Counts;

/// What is kept until the end of a transaction.
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
    pub(crate) tenants: KeptOfTenants,
    pub(crate) webhooks: Deltas,
    pub(crate) workflows: Ended,
}

/// What the writers of a process share, for as long as it runs.
#[derive(Debug, Default, Clone)]
pub struct Kept {
    /// How far claims that name job types have searched.
    pub(crate) passes: Arc<Mutex<Passes>>,
    /// Reports of progress that this process has not written yet.
    pub(crate) progress: Arc<Board>,
    /// Which key is next in each shared queue.
    pub(crate) rounds: Arc<Mutex<Rounds>>,
    /// How many jobs each queue of a pool has handed out.
    pub(crate) shares: Arc<Mutex<AllShares>>,
    /// Number of webhook deliveries that wait.
    pub(crate) backlog: Arc<Backlog>,
}

/// What a finished transaction has for the writer, which takes it when the commit has succeeded.
#[derive(Debug, Default, Clone)]
pub struct HandedOver {
    /// What happened to jobs.
    pub(crate) facts: Vec<Named>,
    /// Attempts that failed.
    pub(crate) failures: Vec<ErrorRow>,
    /// How often a key was found full.
    pub(crate) exceeded: u64,
    /// How often only the guaranteed share of a pool served a queue.
    pub(crate) starved: u64,
    /// How long jobs waited before they were first in their trains, in milliseconds.
    pub(crate) train_waits: Vec<i64>,
    /// Changes of the backlog of webhooks.
    pub(crate) deltas: Deltas,
}

/// What is kept until the end of an audit: what a feature has counted while the jobs went by.
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
