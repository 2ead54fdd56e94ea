//! Keys with limits in PostgreSQL. Who decides about a key holds its row until the commit.
use super::params::Param;
use super::rows::get;
use super::{PostgresTables, limit};
use crate::error::{Result, StoreError};
use crate::features::limits::records::{LimitTables, Standing};
use crate::kernel::job::JobRow;

impl PostgresTables {
    /// A number, as this transaction sees it.
    fn number(&mut self, sql: &'static str, params: &[&dyn Param]) -> Result<i64> {
        self.flush()?;
        let rows = self.query(sql, params)?;
        rows.first().map_or(Ok(0), |row| get(row, 0))
    }
}

impl LimitTables for PostgresTables {
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
}
