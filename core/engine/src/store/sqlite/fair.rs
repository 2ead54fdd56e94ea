//! Lines of keys in SQLite.
use rusqlite::params;

use super::SqliteTables;
use super::optional::Optional;
use super::rows::read_whole;
use crate::error::Result;
use crate::features::fair::records::{FairKey, FairTables};
use crate::kernel::job::{Body, JobRow};

impl FairTables for SqliteTables {
    fn fair_rank(&mut self, queue: i64, from: i32, to: i32) -> Result<Option<i32>> {
        if !self.has_indexes(Optional::Fair)? {
            return Ok(None);
        }
        let found: Vec<Option<i32>> = self.all(sql!("fair_rank"), params![queue, from, to], |row| Ok(row.get(0)?))?;
        Ok(found.into_iter().flatten().next())
    }

    fn fair_keys(&mut self, queue: i64, rank: i32, after: i64, limit: usize) -> Result<Vec<FairKey>> {
        if !self.has_indexes(Optional::Fair)? {
            return Ok(Vec::new());
        }
        let read = |row: &rusqlite::Row<'_>| Ok(FairKey { key: row.get(0)?, tenant: row.get(1)? });
        self.all(sql!("fair_keys"), params![queue, rank, after, limit], read)
    }
}

impl SqliteTables {
    /// Jobs at the heads of the lines of keys.
    pub(super) fn ready_of_keys(&self, queue: i64, rank: i32, wanted: &[(i64, usize)]) -> Result<Vec<(JobRow, Body)>> {
        let mut found = Vec::new();
        if !self.has_indexes(Optional::Fair)? {
            return Ok(found);
        }
        for (key, limit) in wanted {
            found.extend(self.all(sql!("fair_ready"), params![queue, rank, key, limit], read_whole)?);
        }
        Ok(found)
    }
}
