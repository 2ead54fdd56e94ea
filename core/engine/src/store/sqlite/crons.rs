//! Cron entries in SQLite.
use ojs_model::JobId;
use rusqlite::{OptionalExtension, Row, params};

use super::SqliteTables;
use crate::error::Result;
use crate::features::crons::records::{CronRow, CronTables, Overlap};

fn read_cron(row: &Row<'_>) -> rusqlite::Result<CronRow> {
    let overlap: u8 = row.get(3)?;
    let job: Option<[u8; 16]> = row.get(11)?;
    Ok(CronRow {
        name: row.get(0)?,
        expression: row.get(1)?,
        timezone: row.get(2)?,
        overlap: Overlap::from_number(overlap).ok_or(rusqlite::Error::IntegralValueOutOfRange(3, i64::from(overlap)))?,
        enabled: row.get(4)?,
        description: row.get(5)?,
        template: row.get(6)?,
        created_at: row.get(7)?,
        next_at: row.get(8)?,
        last_at: row.get(9)?,
        run_count: row.get(10)?,
        last_job: job.map(JobId::from_bytes),
        waiting: row.get(12)?,
    })
}

impl SqliteTables {
    fn cron_rows(&self, sql: &str, params: impl rusqlite::Params) -> Result<Vec<CronRow>> {
        let mut statement = self.statement(sql)?;
        let rows = statement.query_map(params, read_cron)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

impl CronTables for SqliteTables {
    fn cron(&mut self, name: &str) -> Result<Option<CronRow>> {
        Ok(self.statement(include_str!("sql/cron.sql"))?.query_row([name], read_cron).optional()?)
    }

    fn crons(&mut self) -> Result<Vec<CronRow>> {
        self.cron_rows(include_str!("sql/crons.sql"), [])
    }

    fn put_cron(&mut self, row: &CronRow) -> Result<()> {
        let params = params![
            row.name,
            row.expression,
            row.timezone,
            row.overlap as u8,
            row.enabled,
            row.description,
            row.template,
            row.created_at,
            row.next_at,
            row.last_at,
            row.run_count,
            row.last_job.as_ref().map(|id| &id.as_bytes()[..]),
            row.waiting,
        ];
        self.execute(include_str!("sql/put_cron.sql"), params).map(drop)
    }

    fn delete_cron(&mut self, name: &str) -> Result<()> {
        self.execute(include_str!("sql/delete_cron.sql"), [name]).map(drop)
    }

    fn due_crons(&mut self, now: i64) -> Result<Vec<CronRow>> {
        self.cron_rows(include_str!("sql/due_crons.sql"), [now])
    }
}
