//! Lists and counts for operators in memory.
use std::collections::{BTreeSet, HashMap};

use ojs_model::JobState;

use super::MemoryTables;
use crate::error::Result;
use crate::features::admin::records::AdminTables;
use crate::kernel::counters::TICKETS_PER_MILLI;
use crate::kernel::job::JobRow;
use crate::store::rows::{Counts, JobFilter, JobSort, WorkerRow};
use crate::store::tables::Tables;

impl MemoryTables {
    /// A page of jobs and one more.
    pub(super) fn list_jobs(&mut self, filter: &JobFilter) -> Result<Vec<JobRow>> {
        let queue = self.queue_wanted(filter.queue.as_deref())?;
        let page = |rows: &mut dyn Iterator<Item = &JobRow>| rows.skip(filter.offset).take(filter.limit + 1).cloned().collect();
        let behind = self.jobs.range(filter.after.saturating_add(1)..);
        let mut matching = behind.map(|(_, stored)| &stored.row).filter(|row| self.fits(row, filter, queue));
        if filter.sort == JobSort::Created {
            return Ok(if filter.ascending { page(&mut matching) } else { page(&mut matching.rev()) });
        }
        let mut rows: Vec<&JobRow> = matching.collect();
        rows.sort_by_key(|row| match filter.sort {
            JobSort::Priority => i64::from(row.priority),
            _ if filter.state.is_none() && row.state == JobState::Available => row.enqueued_at,
            _ => row.sort_key,
        });
        if !filter.ascending {
            rows.reverse();
        }
        Ok(page(&mut rows.into_iter()))
    }

    /// Whether a job type is the one wanted, or starts so when that ends in `*`.
    pub(super) fn job_type_fits(&self, job_type_id: i64, wanted: Option<&str>) -> bool {
        let fits = |pattern: &str| {
            self.job_type_of(job_type_id).is_some_and(|name| match pattern.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => **name == *pattern,
            })
        };
        wanted.is_none_or(fits)
    }

    fn fits(&self, row: &JobRow, filter: &JobFilter, queue: Option<i64>) -> bool {
        let job_type_fits = || self.job_type_fits(row.job_type_id, filter.job_type.as_deref());
        queue.is_none_or(|queue| queue == row.queue)
            && filter.state.is_none_or(|state| state == row.state)
            && filter.since.is_none_or(|at| row.created_at >= at)
            && filter.until.is_none_or(|at| row.created_at < at)
            && job_type_fits()
    }
}

impl AdminTables for MemoryTables {
    fn count_jobs(&mut self, filter: &JobFilter, most: usize) -> Result<usize> {
        let queue = self.queue_wanted(filter.queue.as_deref())?;
        Ok(self.jobs.values().filter(|stored| self.fits(&stored.row, filter, queue)).take(most).count())
    }

    fn all_counts(&mut self) -> Result<Vec<(i64, Counts)>> {
        Ok(self.counts.iter().map(|(queue, counts)| (*queue, *counts)).collect())
    }

    fn oldest_available(&mut self, queue: i64) -> Result<Option<i64>> {
        let range = self.ready.range((queue, i32::MIN, i64::MIN, i64::MIN)..(queue + 1, i32::MIN, i64::MIN, i64::MIN));
        Ok(range.map(|(_, _, ticket, _)| ticket / TICKETS_PER_MILLI).min())
    }

    fn workers(&mut self) -> Result<Vec<(WorkerRow, usize)>> {
        let mut held: HashMap<i64, usize> = HashMap::new();
        for stored in self.leases.iter().filter_map(|(_, seq)| self.jobs.get(seq)) {
            *held.entry(stored.row.worker).or_default() += 1;
        }
        let mut workers: Vec<_> = self.workers.values().cloned().collect();
        workers.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(workers.into_iter().map(|worker| (worker.clone(), held.get(&worker.num).copied().unwrap_or(0))).collect())
    }

    fn busy_workers(&mut self) -> Result<Vec<(i64, i64)>> {
        let active = self.leases.iter().filter_map(|(_, seq)| self.jobs.get(seq)).map(|stored| &stored.row);
        let pairs: BTreeSet<(i64, i64)> = active.filter(|row| row.worker > 0).map(|row| (row.queue, row.worker)).collect();
        let mut busy: HashMap<i64, i64> = HashMap::new();
        for (queue, _) in pairs {
            *busy.entry(queue).or_default() += 1;
        }
        Ok(busy.into_iter().collect())
    }
}
