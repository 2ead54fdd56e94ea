//! Claims that name job types.
use rusqlite::params;

use super::SqliteTables;
use super::rows::read_whole;
use crate::error::Result;
use crate::features::job_types::records::{Look, Place, TypeTables};

impl TypeTables for SqliteTables {
    fn look_for(&mut self, queue: i64, job_type_ids: &[i64], after: Place, entries: usize, limit: usize) -> Result<Look> {
        let mut look = Look::default();
        let mut statement = self.statement(sql!("line"))?;
        let mut job = self.statement(sql!("line_job"))?;
        let mut line = statement.query(params![queue, after.0, after.1, entries])?;
        let mut seen = 0;
        while let Some(entry) = line.next()? {
            seen += 1;
            look.last = Some((entry.get(1)?, entry.get(2)?));
            let (seq, job_type_id): (i64, i64) = (entry.get(0)?, entry.get(3)?);
            if job_type_ids.contains(&job_type_id) {
                look.found.extend(job.query([seq])?.next()?.map(read_whole).transpose()?);
            }
            look.more = seen == entries || look.found.len() == limit;
            if look.found.len() == limit {
                break;
            }
        }
        Ok(look)
    }
}
