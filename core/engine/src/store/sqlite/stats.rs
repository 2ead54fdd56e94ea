//! Figures over time in SQLite.
use rusqlite::{Row, params};

use super::SqliteTables;
use crate::error::Result;
use crate::features::statistics::records::{Spread, StatFilter, StatRow, StatTables};

impl StatTables for SqliteTables {
    fn put_stats(&mut self, rows: &[StatRow]) -> Result<()> {
        let mut statement = self.statement(include_str!("sql/put_stat.sql"))?;
        for row in rows {
            statement.execute(params![
                row.at,
                row.span,
                row.queue,
                row.node,
                row.enqueued,
                row.completed,
                row.failed,
                row.discarded,
                row.run.to_text(),
                row.wait.to_text(),
            ])?;
        }
        Ok(())
    }

    fn stats(&mut self, filter: &StatFilter) -> Result<Vec<StatRow>> {
        let mut statement = self.statement(include_str!("sql/stats.sql"))?;
        let rows = statement.query_map(params![filter.since, filter.until, filter.queue], read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn take_stats(&mut self, span: i64, before: i64, limit: usize) -> Result<Vec<StatRow>> {
        let mut statement = self.statement(include_str!("sql/take_stats.sql"))?;
        let rows = statement.query_map(params![span, before, limit], read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<StatRow> {
    let (run, wait): (String, String) = (row.get(8)?, row.get(9)?);
    Ok(StatRow {
        at: row.get(0)?,
        span: row.get(1)?,
        queue: row.get(2)?,
        node: row.get(3)?,
        enqueued: row.get(4)?,
        completed: row.get(5)?,
        failed: row.get(6)?,
        discarded: row.get(7)?,
        run: Spread::parse(&run),
        wait: Spread::parse(&wait),
    })
}
