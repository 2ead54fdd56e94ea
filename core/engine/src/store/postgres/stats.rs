//! Figures over time in PostgreSQL.
use tokio_postgres::Row;

use super::rows::{Columns, get};
use super::{PostgresTables, limit};
use crate::error::Result;
use crate::features::statistics::records::{Spread, StatFilter, StatRow, StatTables};

fn read(row: &Row) -> Result<StatRow> {
    Ok(StatRow {
        at: get(row, 0)?,
        span: get(row, 1)?,
        queue: get(row, 2)?,
        node: get(row, 3)?,
        enqueued: get(row, 4)?,
        completed: get(row, 5)?,
        failed: get(row, 6)?,
        discarded: get(row, 7)?,
        run: Spread::parse(get(row, 8)?),
        wait: Spread::parse(get(row, 9)?),
    })
}

impl StatTables for PostgresTables {
    fn put_stats(&mut self, rows: &[StatRow]) -> Result<()> {
        let mut columns = Columns::<8>::with_capacity(rows.len());
        let (mut runs, mut waits) = (Vec::new(), Vec::new());
        for row in rows {
            columns.push([row.at, row.span, row.queue, row.node, row.enqueued, row.completed, row.failed, row.discarded]);
            runs.push(row.run.to_text());
            waits.push(row.wait.to_text());
        }
        let [at, span, queue, node, enqueued, completed, failed, discarded] = &columns.0;
        let params: [&dyn super::params::Param; 10] =
            [at, span, queue, node, enqueued, completed, failed, discarded, &runs, &waits];
        self.execute(sql!("put_stats"), &params).map(drop)
    }

    fn stats(&mut self, filter: &StatFilter) -> Result<Vec<StatRow>> {
        self.query(sql!("stats"), &[&filter.since, &filter.until, &filter.queue])?.iter().map(read).collect()
    }

    fn take_stats(&mut self, span: i64, before: i64, count: usize) -> Result<Vec<StatRow>> {
        self.query(sql!("take_stats"), &[&span, &before, &limit(count)])?.iter().map(read).collect()
    }
}
