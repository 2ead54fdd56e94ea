//! Counts of dead letters.
use super::undo::Step;
use super::{MemoryTables, Stored};
use crate::error::Result;
use crate::features::dead_letters::records::{COUNTED_AS, DeadStats, DeadTables};
use crate::kernel::job::Body;
use crate::store::names::NameTables;

impl Stored {
    /// Type of the latest error; empty when there is none.
    pub(super) fn error_type(&self) -> String {
        let errors: Vec<serde_json::Value> = serde_json::from_str(&self.history.errors).unwrap_or_default();
        errors.last().and_then(|error| error.get("type")?.as_str()).unwrap_or_default().to_owned()
    }
}

impl DeadTables for MemoryTables {
    fn dead_kept(&mut self) -> Result<Vec<(i64, i64)>> {
        let kept = self.counts.iter().filter_map(|(num, kept)| Some((*num, *kept.get(COUNTED_AS)?)));
        Ok(kept.filter(|(_, jobs)| *jobs > 0).collect())
    }

    fn dead_drift(&mut self) -> Result<Vec<(i64, i64)>> {
        Ok(Vec::new())
    }

    fn dead_stats(&mut self, tenant: Option<i64>, look: usize) -> Result<DeadStats> {
        let of_tenant = |seq: &i64| {
            let row = self.jobs.get(seq).map(|stored| &stored.row);
            tenant.is_none_or(|tenant| row.is_some_and(|row| row.tenant == tenant))
        };
        let dead: Vec<(i64, i64)> = self.dead.iter().rev().take(look).filter(|(_, seq)| of_tenant(seq)).copied().collect();
        let mut stats = DeadStats {
            oldest_at: dead.last().map(|(at, _)| *at),
            newest_at: dead.first().map(|(at, _)| *at),
            ..DeadStats::default()
        };
        for (_, seq) in dead {
            let (queue, error) = {
                let stored = self.stored(seq)?;
                (stored.row.queue, stored.error_type())
            };
            stats.total += 1;
            *stats.by_queue.entry(self.queue_by_num(queue)?.name.to_string()).or_default() += 1;
            *stats.by_error_type.entry(error).or_default() += 1;
        }
        Ok(stats)
    }

    fn set_body(&mut self, seq: i64, body: &Body) -> Result<()> {
        let known = std::mem::replace(&mut self.stored(seq)?.body, body.clone());
        self.undo.note(Step::Body(seq, Box::new(known)));
        Ok(())
    }
}
