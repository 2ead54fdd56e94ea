//! Keys with limits in SQLite.
use rusqlite::{OptionalExtension, params};

use super::SqliteTables;
use crate::error::Result;
use crate::features::limits::records::{LimitTables, Standing};
use crate::kernel::holds::{FREE_BELOW, Holds};
use crate::kernel::job::JobRow;

impl SqliteTables {
    fn number(&self, sql: &str, params: impl rusqlite::Params) -> Result<i64> {
        Ok(self.statement(sql)?.query_row(params, |row| row.get(0))?)
    }
}

impl LimitTables for SqliteTables {
    fn running(&mut self, num: i64) -> Result<i64> {
        self.number(sql!("running"), [num])
    }

    fn held(&mut self, num: i64) -> Result<i64> {
        self.number(sql!("held"), [num])
    }

    fn heads(&mut self, num: i64, queue: i64) -> Result<(i64, Option<Standing>)> {
        let count = self.number(sql!("count_heads"), params![num, queue, FREE_BELOW])?;
        let mut last = self.statement(sql!("last_head"))?;
        let last =
            last.query_row(params![num, queue, FREE_BELOW], |row| Ok(Standing { rank: row.get(0)?, sort_key: row.get(1)? }));
        Ok((count, last.optional()?))
    }

    fn parked(&mut self, num: i64, queue: i64, limit: usize) -> Result<Vec<JobRow>> {
        let (from, to) = Holds::LIMIT.ranks();
        self.job_rows(sql!("parked"), params![num, queue, from, to, limit])
    }

    fn parked_queues(&mut self, num: i64) -> Result<Vec<i64>> {
        let mut statement = self.statement(sql!("parked_queues"))?;
        let (from, to) = Holds::LIMIT.ranks();
        let rows = statement.query_map(params![num, from, to], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}
