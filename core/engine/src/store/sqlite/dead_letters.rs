//! Counts of dead letters.
use std::collections::BTreeMap;

use rusqlite::params;

use super::{SqliteTables, rows};
use crate::error::Result;
use crate::features::dead_letters::records::{DeadStats, DeadTables};
use crate::kernel::job::Body;
use crate::store::row::Section;

impl SqliteTables {
    fn counted(&self, sql: &str, params: impl rusqlite::Params) -> Result<BTreeMap<String, u64>> {
        let mut statement = self.statement(sql)?;
        let rows = statement.query_map(params, |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

impl DeadTables for SqliteTables {
    fn dead_kept(&mut self) -> Result<Vec<(i64, i64)>> {
        self.all(sql!("dead_kept"), [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn dead_drift(&mut self) -> Result<Vec<(i64, i64)>> {
        self.all(sql!("dead_drift"), [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn dead_stats(&mut self, tenant: Option<i64>, look: usize) -> Result<DeadStats> {
        let given = params![tenant, look];
        let mut totals = self.statement(sql!("dead_totals"))?;
        let (total, oldest_at, newest_at) = totals.query_row(given, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let by_queue = self.counted(sql!("dead_by_queue"), given)?;
        let by_error_type = self.counted(sql!("dead_by_error"), given)?;
        Ok(DeadStats { total, by_queue, by_error_type, oldest_at, newest_at, ..DeadStats::default() })
    }

    fn set_body(&mut self, seq: i64, body: &Body) -> Result<()> {
        rows::write(&mut self.statement(&rows::SET_BODY)?, seq, body, Section::is_any).map(drop)
    }
}
