//! Keys with limits in SQLite.
use rusqlite::params;

use super::SqliteTables;
use crate::error::Result;
use crate::features::limits::records::{LimitTables, ParkedQueue};
use crate::kernel::holds::Holds;

impl LimitTables for SqliteTables {
    fn parked_queues(&mut self, num: i64) -> Result<Vec<ParkedQueue>> {
        let (from, to) = Holds::LIMIT.ranks();
        let (versioned_from, versioned_to) = Holds::LIMIT.with(Holds::VERSION).ranks();
        let read = |row: &rusqlite::Row<'_>| Ok(ParkedQueue { queue: row.get(0)?, plain: row.get(1)?, versioned: row.get(2)? });
        let mut found = self.all(sql!("parked_queues"), params![num, from, to, versioned_from, versioned_to], read)?;
        found.retain(|found| found.plain || found.versioned);
        Ok(found)
    }
}
