//! Reading of results.
use std::collections::HashMap;

use ojs_model::JobId;

use super::PostgresTables;
use super::params::uuid;
use super::records::PostgresRow;
use super::rows::{read, read_job};
use crate::error::Result;
use crate::features::results::records::ResultTables;
use crate::kernel::job::{History, JobRow};
use crate::store::record::{Cell, Cells};
use crate::store::row::Row;

impl ResultTables for PostgresTables {
    fn outcomes(&mut self, ids: &[JobId]) -> Result<Vec<Option<(JobRow, History)>>> {
        self.flush()?;
        let wanted: Vec<_> = ids.iter().map(|id| uuid(*id)).collect();
        let mut found = HashMap::new();
        for row in self.query(sql!("outcomes"), &[&wanted])? {
            let job = read_job(&row)?;
            let behind = JobRow::TABLE.columns.len();
            let has_history = PostgresRow { row: &row, first: behind }.cell(0)? != Cell::Null;
            found.insert(job.id, (job, if has_history { read(&row, behind)? } else { History::default() }));
        }
        // The same id may have been asked for twice.
        Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
    }
}
