//! The extent of the event log in PostgreSQL.
use super::PostgresTables;
use super::rows::get;
use crate::error::Result;
use crate::kernel::log::LogTables;

impl LogTables for PostgresTables {
    fn log_span(&mut self) -> Result<(i64, i64)> {
        let rows = self.query(sql!("log_span"), &[])?;
        rows.first().map_or(Ok((0, 0)), |row| Ok((get(row, 0)?, get(row, 1)?)))
    }
}
