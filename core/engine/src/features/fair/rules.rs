//! Rules of shared queues: which line a job joins, and what an operator changes.
use ojs_model::{NewJob, OjsError, json};

use crate::error::{Applied, StoreError};
use crate::features::fair::commands::{PutFairness, SharedView};
use crate::features::fair::records::{FairQueue, Share};
use crate::features::fair::weights::{StoredWeights, Weights, key_of_name, key_of_tenant};
use crate::kernel::holds::Holds;
use crate::kernel::job::JobRow;
use crate::kernel::transaction::Transaction;

pub(super) type Stored<T> = Result<T, StoreError>;

impl Transaction<'_> {
    /// Notes the key that a job names, because the job cannot be read before it is stored.
    pub(crate) fn note_fairness_key(&mut self, job: &NewJob) {
        self.features.fair.named.clone_from(&job.fairness_key);
    }

    /// How a queue is shared; `None` for one that is not, and was not.
    pub(super) fn sharing(&mut self, queue: i64) -> Stored<Option<FairQueue>> {
        let any = match self.features.fair.any {
            Some(any) => any,
            None => self.tables.has_fair_queues()?,
        };
        self.features.fair.any = Some(any);
        if any { self.tables.fair_queue(queue) } else { Ok(None) }
    }

    /// A job joins the line of its key, when its queue is shared.
    pub(crate) fn join_line_of_key(&mut self, row: &mut JobRow) -> Stored<()> {
        row.fair = 0;
        if let Some(sharing) = self.sharing(row.queue)?.filter(FairQueue::is_shared) {
            row.fair = self.fair_key_of(&sharing, row)?;
            row.holds = row.holds.with(Holds::FAIR_SHARE);
        }
        Ok(())
    }

    /// The key of a job.
    pub(super) fn fair_key_of(&mut self, sharing: &FairQueue, row: &JobRow) -> Stored<i64> {
        if sharing.share == Share::Key {
            let named = match row.seq {
                0 => self.features.fair.named.clone(),
                seq => named_in(&self.tables.body(seq)?.text),
            };
            if let Some(name) = named {
                return Ok(key_of_name(row.tenant, &name));
            }
        }
        Ok(key_of_tenant(row.tenant))
    }

    /// Makes a queue shared, or changes how.
    pub(super) fn share_queue(&mut self, wanted: &PutFairness) -> Applied<(SharedView, bool)> {
        let queue = self.queue_for_use(&wanted.queue)?;
        let now = self.now.as_millis();
        let before = self.tables.fair_queue_held(queue.num)?;
        let known = before.as_ref().is_some_and(FairQueue::is_shared);
        let row = FairQueue {
            queue: queue.num,
            share: wanted.share,
            default_weight: wanted.default_weight,
            weights: StoredWeights::Set(wanted.weights.clone()),
            // Jobs that wait are given their lines: a slice of them at once, the others by later claims and sweeps.
            sorting: before.as_ref().map_or(1, |before| if known { before.sorting } else { 1 }),
            created_at: before.filter(|_| known).map_or(now, |before| before.created_at),
            updated_at: now,
        };
        self.change_sharing(&queue.name, row).map(|view| (view, known))
    }

    /// Makes a queue serve its jobs in their order again.
    pub(super) fn unshare_queue(&mut self, name: &str) -> Applied<()> {
        let queue = self.tables.find_queue(name)?;
        let queue = queue.ok_or_else(|| OjsError::not_found("queue", name))?;
        let Some(row) = self.tables.fair_queue_held(queue.num)?.filter(FairQueue::is_shared) else {
            return Err(OjsError::not_found("fairness of queue", name).into());
        };
        // The row stays: jobs that other transactions store meanwhile must be found by claims.
        let weights = StoredWeights::Set(Weights::default().into());
        let row = FairQueue { share: Share::Off, weights, sorting: 1, updated_at: self.now.as_millis(), ..row };
        self.change_sharing(name, row).map(drop)
    }

    fn change_sharing(&mut self, name: &str, row: FairQueue) -> Applied<SharedView> {
        self.tables.put_fair_queue(&row)?;
        self.features.fair.any = None;
        self.sort_queue(&row)?;
        let mut extra = String::new();
        json::push_text(&mut extra, "queue", name);
        json::push_text(&mut extra, "by", row.share.as_str());
        self.journal.other("scheduling.rebalanced", self.now, name, &extra);
        // Fetches that wait may be given other jobs now.
        self.call_all_waiters()?;
        Ok(SharedView { queue: name.into(), row })
    }

    /// All rounds begin anew.
    pub(crate) fn forget_rounds(&mut self) {
        self.rounds().clear();
    }
}

/// The `fairness_key` of a stored job. It was checked when the job was accepted.
fn named_in(body: &str) -> Option<Box<str>> {
    // Most jobs name none.
    if !body.contains("\"fairness_key\"") {
        return None;
    }
    let whole = json::object(body);
    json::member(&whole, "fairness_key").and_then(json::string).map(Box::from)
}
