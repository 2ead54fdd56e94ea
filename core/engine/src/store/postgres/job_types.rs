//! Claims that name job types.
use std::sync::Arc;

use super::rows::{get, read_whole};
use super::{PostgresTables, limit};
use crate::error::Result;
use crate::features::job_types::records::{Look, Place, TypeTables};

impl TypeTables for PostgresTables {
    fn find_job_type_id(&mut self, name: &str) -> Result<Option<i64>> {
        if let Some(num) = self.names.job_type_ids.get(name) {
            return Ok(Some(*num));
        }
        self.query(sql!("kind_by_name"), &[&name])?.first().map(|row| get(row, 0)).transpose()
    }

    /// In one exchange, for those that this connection has not met.
    fn find_job_type_ids(&mut self, names: &[String]) -> Result<Vec<i64>> {
        let mut job_type_ids = Vec::with_capacity(names.len());
        let mut unknown = Vec::new();
        for name in names {
            match self.names.job_type_ids.get(name.as_str()) {
                Some(num) => job_type_ids.push(*num),
                None => unknown.push(name.as_str()),
            }
        }
        if !unknown.is_empty() {
            for row in self.query(sql!("kinds_by_name"), &[&unknown])? {
                let (num, name): (i64, String) = (get(&row, 0)?, get(&row, 1)?);
                self.names.job_type_ids.insert(Arc::from(name), num);
                job_type_ids.push(num);
            }
        }
        Ok(job_type_ids)
    }

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
