//! Lines of keys in memory.
use super::MemoryTables;
use crate::error::Result;
use crate::features::fair::records::{FairKey, FairTables};
use crate::kernel::job::{Body, JobRow};

impl FairTables for MemoryTables {
    fn fair_rank(&mut self, queue: i64, from: i32, to: i32) -> Result<Option<i32>> {
        let place = |rank| (queue, rank, i64::MIN, i64::MIN, i64::MIN);
        Ok(self.fair.range(place(from)..place(to)).next().map(|place| place.1))
    }

    fn fair_keys(&mut self, queue: i64, rank: i32, after: i64, limit: usize) -> Result<Vec<FairKey>> {
        let mut keys = Vec::new();
        let mut key = after;
        while keys.len() < limit {
            let rest = (queue, rank, key + 1, i64::MIN, i64::MIN)..(queue, rank + 1, i64::MIN, i64::MIN, i64::MIN);
            let Some((_, _, next, _, seq)) = self.fair.range(rest).next() else { break };
            key = *next;
            let tenant = self.jobs.get(seq).map_or(0, |stored| stored.row.tenant);
            keys.push(FairKey { key, tenant });
        }
        Ok(keys)
    }
}

impl MemoryTables {
    /// Jobs at the heads of the lines of keys.
    pub(super) fn ready_of_keys(&self, queue: i64, rank: i32, wanted: &[(i64, usize)]) -> Vec<(JobRow, Body)> {
        let mut found = Vec::new();
        for (key, limit) in wanted {
            let line = (queue, rank, *key, i64::MIN, i64::MIN)..(queue, rank, key + 1, i64::MIN, i64::MIN);
            let heads = self.fair.range(line).take(*limit).filter_map(|(.., seq)| self.jobs.get(seq));
            found.extend(heads.map(|stored| (stored.row.clone(), stored.body.clone())));
        }
        found
    }
}
