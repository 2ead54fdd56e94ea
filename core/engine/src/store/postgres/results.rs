//! Reading of results.
use std::collections::HashMap;

use ojs_model::JobId;

use super::PostgresTables;
use super::params::uuid;
use super::rows::{JOB_COLUMNS, get, read_job};
use crate::error::Result;
use crate::features::results::records::ResultTables;
use crate::kernel::job::{History, JobRow};

impl ResultTables for PostgresTables {
    fn outcomes(&mut self, ids: &[JobId]) -> Result<Vec<Option<(JobRow, History)>>> {
        self.flush()?;
        let wanted: Vec<_> = ids.iter().map(|id| uuid(*id)).collect();
        let mut found = HashMap::new();
        for row in self.query(sql!("outcomes"), &[&wanted])? {
            let job = read_job(&row)?;
            found.insert(job.id, (job, History { errors: get(&row, JOB_COLUMNS)?, result: get(&row, JOB_COLUMNS + 1)? }));
        }
        // The same id may have been asked for twice.
        Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
    }
}
