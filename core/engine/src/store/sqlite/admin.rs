//! Workers and the jobs that they hold, in SQLite.
use super::SqliteTables;
use crate::error::Result;
use crate::features::admin::records::{AdminTables, Holder};

impl AdminTables for SqliteTables {
    fn holders(&mut self) -> Result<Vec<Holder>> {
        self.all(sql!("holders"), [], |row| Ok(Holder { queue: row.get(0)?, worker: row.get(1)?, jobs: row.get(2)? }))
    }
}
