//! Cron entries in PostgreSQL.
use super::PostgresTables;
use super::params::uuid;
use super::rows::{get, optional_id, word};
use crate::error::Result;
use crate::features::crons::records::{CronRow, CronTables, Overlap};

fn read_cron(row: &tokio_postgres::Row) -> Result<CronRow> {
    Ok(CronRow {
        name: get(row, 0)?,
        expression: get(row, 1)?,
        timezone: get(row, 2)?,
        overlap: word(row, 3, Overlap::from_number)?,
        enabled: get(row, 4)?,
        description: get(row, 5)?,
        template: get(row, 6)?,
        created_at: get(row, 7)?,
        next_at: get(row, 8)?,
        last_at: get(row, 9)?,
        run_count: get(row, 10)?,
        last_job: optional_id(row, 11)?,
        waiting: get(row, 12)?,
    })
}

impl CronTables for PostgresTables {
    fn cron(&mut self, name: &str) -> Result<Option<CronRow>> {
        let statement = if self.writes() { sql!("lock_cron") } else { sql!("cron") };
        let mut rows = self.query(statement, &[&name])?;
        if rows.is_empty() && self.writes() {
            // There is no row to lock yet: of several that register it, one is the first.
            self.hold_name(&format!("cron:{name}"))?;
            rows = self.query(statement, &[&name])?;
        }
        rows.first().map(read_cron).transpose()
    }

    fn crons(&mut self) -> Result<Vec<CronRow>> {
        self.query(sql!("crons"), &[])?.iter().map(read_cron).collect()
    }

    fn put_cron(&mut self, row: &CronRow) -> Result<()> {
        let (overlap, last_job) = (row.overlap as i64, row.last_job.map(uuid));
        self.execute(
            sql!("put_cron"),
            &[
                &row.name,
                &row.expression,
                &row.timezone,
                &overlap,
                &row.enabled,
                &row.description,
                &row.template,
                &row.created_at,
                &row.next_at,
                &row.last_at,
                &row.run_count,
                &last_job,
                &row.waiting,
            ],
        )
        .map(drop)
    }

    fn delete_cron(&mut self, name: &str) -> Result<()> {
        self.execute(sql!("delete_cron"), &[&name]).map(drop)
    }

    fn due_crons(&mut self, now: i64) -> Result<Vec<CronRow>> {
        self.flush()?;
        self.query(sql!("due_crons"), &[&now])?.iter().map(read_cron).collect()
    }
}
