//! What is asked: why a job is not running.
use ojs_model::{JobId, Timestamp};

use super::{line, state, workers};
use crate::error::{Applied, StoreError};
use crate::kernel::explanation::Explanation;
use crate::kernel::job::JobRow;
use crate::kernel::typed::Query;
use crate::kernel::view::{view, visible};
use crate::store::tables::Tables;

/// Why a job is not running. Reads a bounded number of rows, however many jobs there are.
#[derive(Debug, Clone)]
pub struct ExplainJob {
    /// The job.
    pub job: JobId,
    /// The time.
    pub at: Timestamp,
}

impl Query for ExplainJob {
    type Reply = Explanation;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Explanation> {
        let row = visible(tables, self.job)?;
        let for_tenant = tables.names().scope.num().is_some();
        let mut found = Explanation { job: view(tables, row.clone())?, reasons: Vec::new(), at: self.at, for_tenant };
        if row.state.is_terminal() || row.state == ojs_model::JobState::Active {
            return Ok(found);
        }
        obstacles(tables, &row, &mut found)?;
        line::explain(tables, &row, &mut found)?;
        Ok(found)
    }
}

/// All reasons but the place in line.
pub(crate) fn obstacles(tables: &mut dyn Tables, row: &JobRow, found: &mut Explanation) -> Result<(), StoreError> {
    state::explain(tables, row, found)?;
    for explain in crate::features::HOOKS.iter().filter_map(|feature| feature.explain) {
        explain(tables, row, found)?;
    }
    workers::explain(tables, row, found)
}
