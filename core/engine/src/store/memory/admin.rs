//! Workers and the jobs that they hold, in memory.
use std::collections::BTreeMap;

use super::MemoryTables;
use crate::error::Result;
use crate::features::admin::records::{AdminTables, Holder};

impl AdminTables for MemoryTables {
    fn holders(&mut self) -> Result<Vec<Holder>> {
        let active = self.leases.iter().filter_map(|(_, seq)| self.jobs.get(seq)).map(|stored| &stored.row);
        let mut held: BTreeMap<(i64, i64), usize> = BTreeMap::new();
        for row in active.filter(|row| row.worker > 0) {
            *held.entry((row.queue, row.worker)).or_default() += 1;
        }
        Ok(held.into_iter().map(|((queue, worker), jobs)| Holder { queue, worker, jobs }).collect())
    }
}
