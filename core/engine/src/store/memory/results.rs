//! Reading of results.
use ojs_model::JobId;

use super::MemoryTables;
use crate::error::Result;
use crate::features::results::records::ResultTables;
use crate::kernel::job::{History, JobRow};

impl ResultTables for MemoryTables {
    fn outcomes(&mut self, ids: &[JobId]) -> Result<Vec<Option<(JobRow, History)>>> {
        let stored = ids.iter().map(|id| self.ids.get(id).and_then(|seq| self.jobs.get(seq)));
        Ok(stored.map(|stored| stored.map(|stored| (stored.row.clone(), stored.history.clone()))).collect())
    }
}
