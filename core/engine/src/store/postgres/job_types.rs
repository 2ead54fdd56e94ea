//! Claims that name job types.
use super::rows::{get, read_whole};
use super::{PostgresTables, limit};
use crate::error::Result;
use crate::features::job_types::records::{Look, Place, TypeTables};

impl TypeTables for PostgresTables {
    fn look_for(&mut self, queue: i64, job_type_ids: &[i64], after: Place, entries: usize, most: usize) -> Result<Look> {
        // Jobs read ahead for other claims of this transaction are held by it and would be found again: those claims read anew.
        self.flush()?;
        self.unit_of_work.pools.remove(&queue);
        let job_type_ids = job_type_ids.to_vec();
        let rows = self.query(sql!("line_jobs"), &[&queue, &after.0, &after.1, &limit(entries), &job_type_ids, &limit(most)])?;
        let found = rows.iter().map(read_whole).collect::<Result<Vec<_>>>()?;
        if found.len() == most {
            let last = found.last().map(|(row, _)| (i64::from(row.rank()), row.sort_key));
            return Ok(Look { found, last, more: true });
        }
        // One row, of the last entry that the first statement could look at.
        let end = self.query(sql!("line_end"), &[&queue, &after.0, &after.1, &limit(entries)])?;
        let Some(end) = end.first() else { return Ok(Look { found, ..Look::default() }) };
        let (rank, ticket, seen): (i16, i64, i64) = (get(end, 0)?, get(end, 1)?, get(end, 2)?);
        Ok(Look { found, last: Some((i64::from(rank), ticket)), more: seen >= limit(entries) })
    }
}
