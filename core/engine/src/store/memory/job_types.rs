//! Claims that name job types.
use std::ops::Bound;

use super::MemoryTables;
use crate::error::Result;
use crate::features::job_types::records::{Look, Place, TypeTables};
use crate::kernel::holds::FREE_BELOW;

impl TypeTables for MemoryTables {
    fn look_for(&mut self, queue: i64, job_type_ids: &[i64], after: Place, entries: usize, limit: usize) -> Result<Look> {
        let rank = i32::try_from(after.0).unwrap_or(i32::MIN);
        let from = Bound::Excluded((queue, rank, after.1, i64::MAX));
        let to = Bound::Excluded((queue, FREE_BELOW, i64::MIN, i64::MIN));
        let mut look = Look::default();
        for (seen, (_, rank, sort_key, seq)) in (1..).zip(self.ready.range((from, to)).take(entries)) {
            look.last = Some((i64::from(*rank), *sort_key));
            if let Some(stored) = self.jobs.get(seq).filter(|stored| job_type_ids.contains(&stored.row.job_type_id)) {
                look.found.push((stored.row.clone(), stored.body.clone()));
            }
            look.more = seen == entries || look.found.len() == limit;
            if look.found.len() == limit {
                break;
            }
        }
        Ok(look)
    }
}
