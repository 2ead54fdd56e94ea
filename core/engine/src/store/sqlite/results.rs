//! Reading of results.
use ojs_model::JobId;

use super::SqliteTables;
use crate::error::Result;
use crate::features::results::records::ResultTables;
use crate::kernel::job::{History, JobRow, flag};
use crate::store::tables::Tables;

impl ResultTables for SqliteTables {
    fn outcomes(&mut self, ids: &[JobId]) -> Result<Vec<Option<(JobRow, History)>>> {
        let mut found = Vec::with_capacity(ids.len());
        // In the same process: a query costs a few microseconds, not a round trip.
        for id in ids {
            found.push(match self.row(*id)? {
                Some(row) if row.has(flag::ERRORS | flag::RESULT) => {
                    let history = self.history(row.seq)?;
                    Some((row, history))
                }
                other => other.map(|row| (row, History::default())),
            });
        }
        Ok(found)
    }
}
