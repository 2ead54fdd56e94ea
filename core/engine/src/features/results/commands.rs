//! What is asked of results.
use ojs_model::JobId;

use crate::error::Applied;
use crate::kernel::job::{History, JobRow};
use crate::kernel::typed::Query;
use crate::store::tables::Tables;

/// How jobs ended.
#[derive(Debug, Clone)]
pub struct GetResults(pub Vec<JobId>);

impl Query for GetResults {
    /// One per id, in order; `None` for an id that names no job.
    type Reply = Vec<Option<(JobRow, History)>>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let scope = tables.names().scope.clone();
        let found = tables.outcomes(&self.0)?.into_iter();
        Ok(found.map(|job| job.filter(|(row, _)| scope.sees(row.tenant))).collect())
    }
}
