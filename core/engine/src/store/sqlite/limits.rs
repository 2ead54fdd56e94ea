//! Keys with limits in SQLite.
use rusqlite::params;

use super::SqliteTables;
use super::optional::Optional;
use crate::error::Result;
use crate::features::limits::records::{LimitTables, ParkedQueue};
use crate::kernel::holds::Holds;

impl LimitTables for SqliteTables {
    fn parked_queues_of(&mut self, num: i64, is_fair: bool) -> Result<Vec<ParkedQueue>> {
        if !self.has_indexes(Optional::Limited)? {
            return Ok(Vec::new());
        }
        let [(from, to), (versioned_from, versioned_to)] = ParkedQueue::sets(is_fair).map(Holds::ranks);
        let read =
            |row: &rusqlite::Row<'_>| Ok(ParkedQueue { queue: row.get(0)?, plain: row.get(1)?, versioned: row.get(2)?, is_fair });
        let mut found = self.all(sql!("parked_queues"), params![num, from, to, versioned_from, versioned_to], read)?;
        found.retain(|found| found.plain || found.versioned);
        Ok(found)
    }
}
