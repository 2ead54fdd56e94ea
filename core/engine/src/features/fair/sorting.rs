//! Jobs that stand in lines that are not theirs, because their queue has become shared or has ceased to be: they are
//! brought into the right lines, a slice at a time. Until then claims hand them out when nothing else is left.
use crate::error::Applied;
use crate::features::fair::records::FairQueue;
use crate::features::fair::rules::Stored;
use crate::kernel::holds::Holds;
use crate::kernel::hooks::Walk;
use crate::kernel::job::JobRow;
use crate::kernel::transaction::Transaction;
use crate::store::selection::Selection;

/// Jobs brought into their lines by one transaction: about 10 ms of the writer's time.
const SLICE: usize = 500;
/// Reasons that may hold a job in either kind of line.
const REASONS: [Holds; 3] = [Holds::VERSION, Holds::LIMIT, Holds::TENANT];

/// All sets of these reasons, jobs that nothing else holds first.
fn sets() -> impl Iterator<Item = Holds> {
    (0..1_u32 << REASONS.len()).map(|bits| {
        let picked = REASONS.iter().enumerate().filter(move |(place, _)| bits >> place & 1 == 1);
        picked.fold(Holds::NONE, |set, (_, reason)| set.with(*reason))
    })
}

impl Transaction<'_> {
    /// Brings jobs of a queue into their lines: what is left of the transaction's slice.
    pub(super) fn sort_queue(&mut self, sharing: &FairQueue) -> Stored<()> {
        let allowed = SLICE.saturating_sub(self.features.fair.sorted);
        let mut sorted = 0;
        for stray in self.stray_sets(sharing) {
            if sorted == allowed {
                break;
            }
            let wanted = Selection::OfSet { queue: sharing.queue, holds: stray };
            let rows = self.tables.select(&wanted, allowed - sorted)?;
            sorted = allowed.min(sorted + rows.len());
            for row in rows {
                self.sort_job(sharing, &row)?;
            }
        }
        self.features.fair.sorted += sorted;
        if sorted > 0 && self.tables.is_shared() {
            // This transaction holds what it has sorted, so claims of other writers may have passed over it.
            *self.ready.entry(sharing.queue).or_default() += sorted;
        }
        if sorted < allowed { self.note_sorted(sharing) } else { Ok(()) }
    }

    /// Notes that no job of a queue is in a wrong line any more. Fewer jobs than wanted do not show it, because other
    /// transactions may hold some. Nothing is noted when the queue has been changed by another transaction.
    fn note_sorted(&mut self, sharing: &FairQueue) -> Stored<()> {
        if self.has_strays(sharing)? {
            return Ok(());
        }
        match self.tables.fair_queue_held(sharing.queue)? {
            Some(row) if row == *sharing && row.sorting > 0 => self.tables.put_fair_queue(&FairQueue { sorting: 0, ..row }),
            _ => Ok(()),
        }
    }

    /// The sets of reasons of jobs that stand in the wrong line.
    fn stray_sets(&self, sharing: &FairQueue) -> Vec<Holds> {
        let is_shared = sharing.is_shared();
        sets().map(|set| if is_shared { set } else { set.with(Holds::FAIR_SHARE) }).collect()
    }

    fn sort_job(&mut self, sharing: &FairQueue, row: &JobRow) -> Stored<()> {
        let mut sorted = row.clone();
        if sharing.is_shared() {
            sorted.fair = self.fair_key_of(sharing, row)?;
            sorted.holds = row.holds.with(Holds::FAIR_SHARE);
        } else {
            sorted.fair = 0;
            sorted.holds = row.holds.without(Holds::FAIR_SHARE);
        }
        self.tables.update(row, &sorted)
    }

    /// The next slice of every queue that needs it.
    pub(crate) fn sort_changed_queues(&mut self) -> Stored<()> {
        if self.tables.has_fair_queues()? {
            for sharing in self.tables.unsorted_queues()? {
                self.sort_queue(&sharing)?;
            }
        }
        Ok(())
    }

    /// Looks for jobs in wrong lines: another node may have stored some while the queue was changed.
    pub(crate) fn repair_shared_queues(&mut self, _: Walk) -> Applied<Option<Walk>> {
        for sharing in self.tables.fair_queues()? {
            if sharing.sorting == 0
                && self.has_strays(&sharing)?
                && let Some(row) = self.tables.fair_queue_held(sharing.queue)?
            {
                self.tables.put_fair_queue(&FairQueue { sorting: 1, ..row })?;
            }
        }
        Ok(None)
    }

    fn has_strays(&mut self, sharing: &FairQueue) -> Stored<bool> {
        for holds in self.stray_sets(sharing) {
            if self.tables.count(&Selection::OfSet { queue: sharing.queue, holds }, 1)? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_the_reasons_is_looked_at_once() {
        let mut all: Vec<String> = sets().map(|set| set.to_string()).collect();
        assert_eq!(all.first().map(String::as_str), Some(""), "free jobs first");
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 8);
    }
}
