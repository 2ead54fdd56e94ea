//! The place of a job in the line of its queue.
use crate::error::StoreError;
use crate::kernel::explanation::{Explanation, Reason};
use crate::kernel::job::JobRow;
use crate::store::selection::Selection;
use crate::store::tables::Tables;
use ojs_model::JobState;

/// Most jobs counted.
const MAX_COUNTED: usize = 1_000;

/// Jobs that come first. Only for a job that nothing else holds, in the line that all jobs without a version share.
pub(super) fn explain(tables: &mut dyn Tables, row: &JobRow, found: &mut Explanation) -> Result<(), StoreError> {
    if row.state != JobState::Available || !row.holds.is_empty() || found.for_tenant {
        return Ok(());
    }
    let before = Selection::Before { queue: row.queue, rank: row.rank(), sort_key: row.sort_key };
    let ahead = tables.count(&before, MAX_COUNTED)?;
    if ahead == 0 {
        return Ok(());
    }
    let queue = found.job.queue.clone();
    let (jobs, relation) = if ahead < MAX_COUNTED { (ahead.to_string(), "eq") } else { (format!("at least {ahead}"), "gte") };
    let message = match ahead {
        1 => format!("1 job of queue '{queue}' comes before it."),
        _ => format!("{jobs} jobs of queue '{queue}' come before it."),
    };
    found.add(
        Reason::new("behind_others", message)
            .link(format!("/queues/{queue}/stats"))
            .detail("ahead", ahead)
            .detail("relation", relation),
    );
    Ok(())
}
