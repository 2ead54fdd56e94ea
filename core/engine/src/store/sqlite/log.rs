//! The extent of the event log in SQLite.
use super::SqliteTables;
use crate::error::Result;
use crate::kernel::log::LogTables;

impl LogTables for SqliteTables {
    fn log_span(&mut self) -> Result<(i64, i64)> {
        let mut statement = self.statement(sql!("log_span"))?;
        Ok(statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }
}
