//! What is asked of cron entries.
use ojs_model::OjsError;

use crate::error::Applied;
use crate::features::crons::records::CronRow;
use crate::kernel::job::JobView;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::store::tables::Tables;

/// Register an entry, or replace the one of its name.
#[derive(Debug, Clone)]
pub struct PutCron(pub CronRow);

impl Command for PutCron {
    /// The entry as it is kept, and whether its name was known before.
    type Reply = (CronRow, bool);

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Self::Reply> {
        transaction.put_cron(&self.0)
    }
}

/// Enable or disable an entry.
#[derive(Debug, Clone)]
pub struct SwitchCron {
    /// Its name.
    pub name: String,
    /// Whether it fires.
    pub enabled: bool,
}

impl Command for SwitchCron {
    type Reply = CronRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<CronRow> {
        transaction.switch_cron(&self.name, self.enabled)
    }
}

/// Run the entry of a name now, as if its time had come. The next time stays.
#[derive(Debug, Clone)]
pub struct RunCron(pub String);

impl Command for RunCron {
    /// The job.
    type Reply = JobView;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<JobView> {
        transaction.run_cron(&self.0)
    }
}

/// Delete the entry of a name. Its jobs live on.
#[derive(Debug, Clone)]
pub struct DeleteCron(pub String);

impl Command for DeleteCron {
    /// The entry as it was.
    type Reply = CronRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<CronRow> {
        transaction.delete_cron(&self.0)
    }
}

/// The entry of a name.
#[derive(Debug, Clone)]
pub struct GetCron(pub String);

impl Query for GetCron {
    type Reply = CronRow;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<CronRow> {
        let row = tables.cron(&self.0)?;
        row.filter(|row| row.is_seen(&tables.names().scope)).ok_or_else(|| OjsError::not_found("cron", &self.0).into())
    }
}

/// All entries by name.
#[derive(Debug, Clone)]
pub struct ListCrons;

impl Query for ListCrons {
    type Reply = Vec<CronRow>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Vec<CronRow>> {
        let scope = tables.names().scope.clone();
        Ok(tables.crons()?.into_iter().filter(|row| row.is_seen(&scope)).collect())
    }

    fn is_search(&self) -> bool {
        true
    }
}
