//! Workers and the jobs that they hold, in PostgreSQL.
use super::PostgresTables;
use super::rows::get;
use crate::error::Result;
use crate::features::admin::records::{AdminTables, Holder};

impl AdminTables for PostgresTables {
    fn holders(&mut self) -> Result<Vec<Holder>> {
        let rows = self.query(sql!("holders"), &[])?;
        let read = |row| {
            let jobs: i64 = get(row, 2)?;
            Ok(Holder { queue: get(row, 0)?, worker: get(row, 1)?, jobs: usize::try_from(jobs).unwrap_or(0) })
        };
        rows.iter().map(read).collect()
    }
}
