//! Keys with limits in PostgreSQL. Who decides about a key holds its row until the commit.
use super::PostgresTables;
use super::rows::get;
use crate::error::Result;
use crate::features::limits::records::LimitTables;

impl LimitTables for PostgresTables {
    fn parked_queues(&mut self, num: i64) -> Result<Vec<i64>> {
        self.flush()?;
        let rows = self.query(sql!("parked_queues"), &[&num])?;
        rows.iter().map(|row| get(row, 0)).collect()
    }
}
