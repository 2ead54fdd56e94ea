//! Keys with limits in PostgreSQL. A transaction that decides about a key locks its row until the commit.
use super::PostgresTables;
use super::params::Param;
use super::rows::get;
use crate::error::Result;
use crate::features::limits::records::{LimitTables, ParkedQueue};
use crate::kernel::holds::Holds;

impl LimitTables for PostgresTables {
    fn parked_queues_of(&mut self, num: i64, is_fair: bool) -> Result<Vec<ParkedQueue>> {
        self.flush()?;
        let [(from, to), (versioned_from, versioned_to)] = ParkedQueue::sets(is_fair).map(Holds::ranks);
        let ranks = [from, to, versioned_from, versioned_to].map(i64::from);
        let mut params: Vec<&dyn Param> = vec![&num];
        params.extend(ranks.iter().map(|rank| rank as &dyn Param));
        let rows = self.query(sql!("parked_queues"), &params)?;
        let read = |row| Ok(ParkedQueue { queue: get(row, 0)?, plain: get(row, 1)?, versioned: get(row, 2)?, is_fair });
        let mut found = rows.iter().map(read).collect::<Result<Vec<_>>>()?;
        found.retain(|found| found.plain || found.versioned);
        Ok(found)
    }
}
