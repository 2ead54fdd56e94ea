//! Lines of versions in SQLite.
use rusqlite::params;

use super::SqliteTables;
use super::optional::Optional;
use super::rows::read_whole;
use crate::error::Result;
use crate::features::versions::records::VersionTables;
use crate::kernel::job::{Body, JobRow, Line};

impl VersionTables for SqliteTables {
    fn version_lines(&mut self, queue: i64) -> Result<Vec<Line>> {
        if !self.has_indexes(Optional::Versions)? {
            return Ok(Vec::new());
        }
        let read = |row: &rusqlite::Row<'_>| Ok(Line { queue, job_type_id: row.get(0)?, version: row.get(1)?, is_fair: false });
        self.all(sql!("version_lines"), [queue], read)
    }
}

impl SqliteTables {
    /// Jobs at the heads of the lines of versions.
    pub(super) fn ready_of_versions(&self, lines: &[Line], limit: usize) -> Result<Vec<(JobRow, Body)>> {
        let mut found = Vec::new();
        if !self.has_indexes(Optional::Versions)? {
            return Ok(found);
        }
        for line in lines {
            let (from, to) = line.holds().ranks();
            let params = params![line.queue, line.job_type_id, line.version, from, to, limit];
            found.extend(self.all(sql!("version_ready"), params, read_whole)?);
        }
        Ok(found)
    }
}
