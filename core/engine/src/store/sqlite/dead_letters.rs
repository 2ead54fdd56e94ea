//! Counts of dead letters.
use std::collections::BTreeMap;

use rusqlite::params;

use super::SqliteTables;
use crate::error::Result;
use crate::features::dead_letters::records::{DeadStats, DeadTables};
use crate::kernel::job::Body;

impl SqliteTables {
    fn counted(&self, sql: &str) -> Result<BTreeMap<String, u64>> {
        let mut statement = self.statement(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

impl DeadTables for SqliteTables {
    fn dead_stats(&mut self) -> Result<DeadStats> {
        let mut totals = self.statement(include_str!("sql/dead_totals.sql"))?;
        let (total, oldest_at, newest_at) = totals.query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let by_queue = self.counted(include_str!("sql/dead_by_queue.sql"))?;
        let by_error_type = self.counted(include_str!("sql/dead_by_error.sql"))?;
        Ok(DeadStats { total, by_queue, by_error_type, oldest_at, newest_at })
    }

    fn set_body(&mut self, seq: i64, body: &Body) -> Result<()> {
        let params = params![seq, body.text, body.retry, body.timeout_ms, body.grace_ms, body.visibility_ms];
        self.execute(include_str!("sql/set_body.sql"), params).map(drop)
    }
}
