//! Keys with limits in PostgreSQL. Who decides about a key holds its row until the commit.
use tokio_postgres::Row;

use super::params::Param;
use super::rows::get;
use super::{PostgresTables, limit};
use crate::error::{Result, StoreError};
use crate::features::limits::records::{LimitRow, LimitTables, Standing, StoredLimits};
use crate::kernel::job::JobRow;

fn read_limit(row: &Row) -> Result<LimitRow> {
    let (tenant, key): (&str, &str) = (get(row, 1)?, get(row, 2)?);
    Ok(LimitRow {
        limits: StoredLimits::read(get(row, 3)?),
        override_limits: StoredLimits::read(get(row, 4)?),
        override_until: get(row, 5)?,
        starts: get(row, 6)?,
        last_at: get(row, 7)?,
        held_until: get(row, 8)?,
        open_at: get(row, 9)?,
        ..LimitRow::fresh(get(row, 0)?, tenant, key)
    })
}

impl PostgresTables {
    /// A number, as this transaction sees it.
    fn number(&mut self, sql: &'static str, params: &[&dyn Param]) -> Result<i64> {
        self.flush()?;
        let rows = self.query(sql, params)?;
        rows.first().map_or(Ok(0), |row| get(row, 0))
    }
}

impl LimitTables for PostgresTables {
    fn limit(&mut self, num: i64) -> Result<LimitRow> {
        let rows = self.query(sql!("limit_by_num"), &[&num])?;
        let row = rows.first().ok_or_else(|| StoreError::Failed(format!("no key with number {num}")))?;
        read_limit(row)
    }

    fn find_limit(&mut self, tenant: &str, key: &str) -> Result<Option<LimitRow>> {
        let rows = self.query(sql!("limit_by_name"), &[&tenant, &key])?;
        rows.first().map(read_limit).transpose()
    }

    fn add_limit(&mut self, tenant: &str, key: &str) -> Result<LimitRow> {
        self.execute(sql!("insert_limit"), &[&tenant, &key])?;
        // Other nodes take it for granted that there are none until then.
        self.new_epoch()?;
        self.names.keyed = Some(true);
        let found = self.find_limit(tenant, key)?;
        found.ok_or_else(|| StoreError::Conflict(format!("another writer is storing the key '{key}'")))
    }

    fn save_limit(&mut self, row: &LimitRow) -> Result<()> {
        let policy = row.limits.text();
        let override_limits = row.override_limits.text();
        let params: &[&dyn Param] =
            &[&row.num, &policy, &override_limits, &row.override_until, &row.starts, &row.last_at, &row.held_until, &row.open_at];
        self.execute(sql!("save_limit"), params).map(drop)
    }

    fn limits(&mut self, key: Option<&str>, count: usize, offset: usize) -> Result<(Vec<LimitRow>, usize)> {
        let rows = self.query(sql!("limits"), &[&key, &limit(count), &limit(offset)])?;
        let rows = rows.iter().map(read_limit).collect::<Result<_>>()?;
        let total = self.number(sql!("count_limits"), &[&key])?;
        Ok((rows, usize::try_from(total).unwrap_or(0)))
    }

    fn opened(&mut self, now: i64, count: usize) -> Result<Vec<LimitRow>> {
        let rows = self.query(sql!("opened_limits"), &[&now, &limit(count)])?;
        rows.iter().map(read_limit).collect()
    }

    fn next_opening(&mut self) -> Result<Option<i64>> {
        let keyed = match self.names.keyed {
            Some(keyed) => keyed,
            None => {
                let rows = self.query(sql!("any_limit"), &[])?;
                let keyed = rows.first().map(|row| get(row, 0)).transpose()?.unwrap_or(false);
                self.names.keyed = Some(keyed);
                keyed
            }
        };
        if !keyed {
            return Ok(None);
        }
        let rows = self.query(sql!("next_opening"), &[])?;
        rows.first().map_or(Ok(None), |row| get(row, 0))
    }

    fn running(&mut self, num: i64) -> Result<i64> {
        self.number(sql!("running"), &[&num])
    }

    fn held(&mut self, num: i64) -> Result<i64> {
        self.number(sql!("held"), &[&num])
    }

    fn heads(&mut self, num: i64, queue: i64) -> Result<(i64, Option<Standing>)> {
        let count = self.number(sql!("count_heads"), &[&num, &queue])?;
        let rows = self.query(sql!("last_head"), &[&num, &queue])?;
        let last =
            rows.first().map(|row| Ok::<_, StoreError>(Standing { rank: get::<i16>(row, 0)?.into(), sort_key: get(row, 1)? }));
        Ok((count, last.transpose()?))
    }

    fn parked(&mut self, num: i64, queue: i64, count: usize) -> Result<Vec<JobRow>> {
        self.job_rows(sql!("parked"), &[&num, &queue, &limit(count)])
    }

    fn parked_queues(&mut self, num: i64) -> Result<Vec<i64>> {
        self.flush()?;
        let rows = self.query(sql!("parked_queues"), &[&num])?;
        rows.iter().map(|row| get(row, 0)).collect()
    }

    fn add_start(&mut self, num: i64, number: i64, at: i64, keep_from: i64) -> Result<()> {
        self.execute(sql!("insert_start"), &[&num, &number, &at])?;
        self.execute(sql!("forget_starts"), &[&num, &keep_from]).map(drop)
    }

    fn starts_after(&mut self, num: i64, after: i64) -> Result<i64> {
        self.number(sql!("starts_after"), &[&num, &after])
    }

    fn start_at(&mut self, num: i64, number: i64) -> Result<Option<i64>> {
        let rows = self.query(sql!("start_at"), &[&num, &number])?;
        rows.first().map(|row| get(row, 0)).transpose()
    }
}
