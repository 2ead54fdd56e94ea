//! Keys with limits in SQLite.
use rusqlite::params;

use super::SqliteTables;
use crate::error::Result;
use crate::features::limits::records::LimitTables;
use crate::kernel::holds::Holds;

impl LimitTables for SqliteTables {
    fn parked_queues(&mut self, num: i64) -> Result<Vec<i64>> {
        let (from, to) = Holds::LIMIT.ranks();
        self.all(sql!("parked_queues"), params![num, from, to], |row| Ok(row.get(0)?))
    }
}
