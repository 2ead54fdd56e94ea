//! Counts of dead letters.
use std::collections::BTreeMap;

use super::PostgresTables;
use super::arrays::{Arrays, SET_BODY};
use super::params::Param;
use super::rows::get;
use crate::error::Result;
use crate::features::dead_letters::records::{DeadStats, DeadTables};
use crate::kernel::job::Body;
use crate::store::row::Section;

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

impl PostgresTables {
    fn counted(&mut self, sql: &'static str, params: &[&dyn Param]) -> Result<BTreeMap<String, u64>> {
        let rows = self.query(sql, params)?;
        rows.iter().map(|row| Ok((get(row, 0)?, unsigned(get(row, 1)?)))).collect()
    }
}

impl DeadTables for PostgresTables {
    fn dead_kept(&mut self) -> Result<Vec<(i64, i64)>> {
        self.query(sql!("dead_kept"), &[])?.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?))).collect()
    }

    fn dead_drift(&mut self) -> Result<Vec<(i64, i64)>> {
        // The statement compares what is written.
        self.flush()?;
        let rows = self.query(sql!("dead_drift"), &[])?;
        rows.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?))).collect()
    }

    fn dead_stats(&mut self, tenant: Option<i64>, look: usize) -> Result<DeadStats> {
        let look = i64::try_from(look).unwrap_or(i64::MAX);
        let given: [&dyn Param; 2] = [&tenant, &look];
        let rows = self.query(sql!("dead_totals"), &given)?;
        let (total, oldest_at, newest_at) = match rows.first() {
            Some(row) => (unsigned(get(row, 0)?), get(row, 1)?, get(row, 2)?),
            None => (0, None, None),
        };
        let by_queue = self.counted(sql!("dead_by_queue"), &given)?;
        let by_error_type = self.counted(sql!("dead_by_error"), &given)?;
        Ok(DeadStats { total, by_queue, by_error_type, oldest_at, newest_at, ..DeadStats::default() })
    }

    fn set_body(&mut self, seq: i64, body: &Body) -> Result<()> {
        // A job of this transaction is not there before it is written.
        self.flush()?;
        let mut bodies = Arrays::of::<Body>(Section::is_any);
        bodies.push(body)?;
        let seqs: &dyn Param = &vec![seq];
        let params: Vec<&dyn Param> = std::iter::once(seqs).chain(bodies.params()).collect();
        self.execute(&SET_BODY, &params).map(drop)
    }
}
