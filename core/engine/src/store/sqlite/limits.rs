//! Keys with limits in SQLite.
use rusqlite::{OptionalExtension, Row, params};

use super::SqliteTables;
use crate::error::Result;
use crate::features::limits::records::{LimitRow, LimitTables, Standing, StoredLimits};
use crate::kernel::job::{JobRow, PARKED_RANK};

fn read_limit(row: &Row<'_>) -> rusqlite::Result<LimitRow> {
    let (tenant, key): (String, String) = (row.get(1)?, row.get(2)?);
    Ok(LimitRow {
        limits: StoredLimits::read(row.get_ref(3)?.as_str()?),
        override_limits: StoredLimits::read(row.get_ref(4)?.as_str()?),
        override_until: row.get(5)?,
        starts: row.get(6)?,
        last_at: row.get(7)?,
        held_until: row.get(8)?,
        open_at: row.get(9)?,
        ..LimitRow::fresh(row.get(0)?, &tenant, &key)
    })
}

impl SqliteTables {
    fn limit_rows(&self, sql: &str, params: impl rusqlite::Params) -> Result<Vec<LimitRow>> {
        let mut statement = self.statement(sql)?;
        let rows = statement.query_map(params, read_limit)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn number(&self, sql: &str, params: impl rusqlite::Params) -> Result<i64> {
        Ok(self.statement(sql)?.query_row(params, |row| row.get(0))?)
    }
}

impl LimitTables for SqliteTables {
    fn limit(&mut self, num: i64) -> Result<LimitRow> {
        Ok(self.statement(include_str!("sql/limit_by_num.sql"))?.query_row([num], read_limit)?)
    }

    fn find_limit(&mut self, tenant: &str, key: &str) -> Result<Option<LimitRow>> {
        Ok(self.statement(include_str!("sql/limit_by_name.sql"))?.query_row([tenant, key], read_limit).optional()?)
    }

    fn add_limit(&mut self, tenant: &str, key: &str) -> Result<LimitRow> {
        self.execute(include_str!("sql/insert_limit.sql"), [tenant, key])?;
        Ok(LimitRow::fresh(self.connection.last_insert_rowid(), tenant, key))
    }

    fn save_limit(&mut self, row: &LimitRow) -> Result<()> {
        self.opening = None;
        let override_limits = row.override_limits.text();
        let params = params![
            row.num,
            row.limits.text(),
            override_limits,
            row.override_until,
            row.starts,
            row.last_at,
            row.held_until,
            row.open_at
        ];
        self.execute(include_str!("sql/save_limit.sql"), params).map(drop)
    }

    fn limits(&mut self, key: Option<&str>, limit: usize, offset: usize) -> Result<(Vec<LimitRow>, usize)> {
        let rows = self.limit_rows(include_str!("sql/limits.sql"), params![key, limit, offset])?;
        let total = self.number(include_str!("sql/count_limits.sql"), [key])?;
        Ok((rows, usize::try_from(total).unwrap_or(0)))
    }

    fn opened(&mut self, now: i64, limit: usize) -> Result<Vec<LimitRow>> {
        self.limit_rows(include_str!("sql/opened_limits.sql"), params![now, limit])
    }

    fn next_opening(&mut self) -> Result<Option<i64>> {
        if let Some(known) = self.opening {
            return Ok(known);
        }
        let next = self.statement(include_str!("sql/next_opening.sql"))?.query_row([], |row| row.get(0))?;
        self.opening = Some(next);
        Ok(next)
    }

    fn running(&mut self, num: i64) -> Result<i64> {
        self.number(include_str!("sql/running.sql"), [num])
    }

    fn held(&mut self, num: i64) -> Result<i64> {
        self.number(include_str!("sql/held.sql"), [num])
    }

    fn heads(&mut self, num: i64, queue: i64) -> Result<(i64, Option<Standing>)> {
        let count = self.number(include_str!("sql/count_heads.sql"), params![num, queue, PARKED_RANK / 2])?;
        let mut last = self.statement(include_str!("sql/last_head.sql"))?;
        let last =
            last.query_row(params![num, queue, PARKED_RANK / 2], |row| Ok(Standing { rank: row.get(0)?, sort_key: row.get(1)? }));
        Ok((count, last.optional()?))
    }

    fn parked(&mut self, num: i64, queue: i64, limit: usize) -> Result<Vec<JobRow>> {
        self.job_rows(include_str!("sql/parked.sql"), params![num, queue, PARKED_RANK / 2, limit])
    }

    fn parked_queues(&mut self, num: i64) -> Result<Vec<i64>> {
        let mut statement = self.statement(include_str!("sql/parked_queues.sql"))?;
        let rows = statement.query_map(params![num, PARKED_RANK / 2], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn add_start(&mut self, num: i64, number: i64, at: i64, keep_from: i64) -> Result<()> {
        self.execute(include_str!("sql/insert_start.sql"), [num, number, at])?;
        self.execute(include_str!("sql/forget_starts.sql"), [num, keep_from]).map(drop)
    }

    fn starts_after(&mut self, num: i64, after: i64) -> Result<i64> {
        self.number(include_str!("sql/starts_after.sql"), [num, after])
    }

    fn start_at(&mut self, num: i64, number: i64) -> Result<Option<i64>> {
        Ok(self.statement(include_str!("sql/start_at.sql"))?.query_row([num, number], |row| row.get(0)).optional()?)
    }
}
