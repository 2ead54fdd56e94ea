//! Reading of results.
use ojs_model::JobId;

use super::MemoryTables;
use crate::job::{History, JobRow};
use crate::result::ResultTables;
use crate::tables::Result;

impl ResultTables for MemoryTables {
    fn outcomes(&mut self, ids: &[JobId]) -> Result<Vec<Option<(JobRow, History)>>> {
        let stored = ids.iter().map(|id| self.ids.get(id).and_then(|seq| self.jobs.get(seq)));
        Ok(stored.map(|stored| stored.map(|stored| (stored.row.clone(), stored.history.clone()))).collect())
    }
}
