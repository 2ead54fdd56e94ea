//! What is asked of dead letters.
use ojs_model::{JobId, OjsError};

use crate::error::Applied;
use crate::features::dead_letters::records::{DeadPage, DeadStats, Override};
use crate::features::dead_letters::rules::{dead_stats, list_dead};
use crate::kernel::command::Changed;
use crate::kernel::job::{JobView, flag};
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::kernel::view::view;
use crate::store::rows::DeadFilter;
use crate::store::tables::Tables;
use crate::store::wanted::Wanted;

/// Run a dead letter, or another discarded job, again.
#[derive(Debug, Clone)]
pub struct Replay(pub JobId);

impl Command for Replay {
    type Reply = Changed;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Changed> {
        transaction.replay(self.0, None)
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        wanted.job(self.0);
    }
}

/// Run a dead letter, or another discarded job, again with changes.
#[derive(Debug, Clone)]
pub struct ReplayChanged(pub JobId, pub Override);

impl Command for ReplayChanged {
    type Reply = Changed;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Changed> {
        transaction.replay(self.0, Some(&self.1))
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        wanted.job(self.0);
    }
}

/// Run some of the dead letters that a filter finds again; to be repeated until the answer is empty.
#[derive(Debug, Clone)]
pub struct ReplayDead(pub DeadFilter);

impl Command for ReplayDead {
    /// Which were run again.
    type Reply = Vec<JobId>;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Vec<JobId>> {
        transaction.replay_dead(&self.0)
    }
}

/// Delete a dead letter.
#[derive(Debug, Clone)]
pub struct DeleteDeadLetter(pub JobId);

impl Command for DeleteDeadLetter {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        transaction.delete_dead_letter(self.0)
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        wanted.job(self.0);
    }
}

/// Delete some of the dead letters that a filter finds; to be repeated until the answer is empty.
#[derive(Debug, Clone)]
pub struct DeleteDeadLetters(pub DeadFilter);

impl Command for DeleteDeadLetters {
    /// Which were deleted.
    type Reply = Vec<JobId>;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Vec<JobId>> {
        transaction.delete_dead_letters(&self.0)
    }
}

/// A page of dead letters, newest first. A filter is compared with `look` of them, where that is not 0.
#[derive(Debug, Clone)]
pub struct ListDead(pub DeadFilter);

impl Query for ListDead {
    type Reply = DeadPage;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<DeadPage> {
        list_dead(tables, &self.0)
    }

    fn is_search(&self) -> bool {
        true
    }
}

/// One dead letter.
#[derive(Debug, Clone)]
pub struct GetDeadLetter(pub JobId);

impl Query for GetDeadLetter {
    type Reply = JobView;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<JobView> {
        match tables.visible(self.0)?.filter(|row| row.has(flag::DEAD)) {
            Some(row) => Ok(view(tables, row)?),
            None => Err(OjsError::not_found("dead letter", &self.0.to_string()).into()),
        }
    }
}

/// Counts of dead letters: by error, and those of a tenant, among the newest of so many.
#[derive(Debug, Clone)]
pub struct CountDead(pub usize);

impl Query for CountDead {
    type Reply = DeadStats;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<DeadStats> {
        Ok(dead_stats(tables, self.0)?)
    }

    fn is_search(&self) -> bool {
        true
    }
}
