//! What a pool keeps the jobs of its queues from.
use ojs_model::JobState;

use crate::error::StoreError;
use crate::kernel::explanation::{Explanation, Reason};
use crate::kernel::job::JobRow;
use crate::store::tables::Tables;

/// A pool whose queues together have as many active jobs as they may.
pub(super) fn explain(tables: &mut dyn Tables, row: &JobRow, found: &mut Explanation) -> Result<(), StoreError> {
    if row.state != JobState::Available || !tables.has_pools()? {
        return Ok(());
    }
    let Some(entry) = tables.pooled(&found.job.queue)? else { return Ok(()) };
    let Some(pool) = tables.pool(&entry.pool)?.filter(|pool| pool.concurrency > 0) else { return Ok(()) };
    let mut active = 0_i64;
    for entry in tables.queues_of_pool(&pool.name)? {
        let Some(queue) = tables.find_queue(&entry.queue)? else { continue };
        active += tables.counts(queue.num)?.get(JobState::Active as usize).copied().unwrap_or(0);
    }
    if active >= pool.concurrency {
        let (name, most) = (&pool.name, pool.concurrency);
        let message = format!("The queues of pool '{name}' may have {most} active jobs together, and have {active}.");
        let reason = Reason::new("pool_concurrency", message).link("/admin/pools").command("ojs pools list");
        found.add(reason.detail("pool", name.as_str()).detail("limit", most).detail("active", active));
    }
    Ok(())
}
