//! Counts of dead letters.
use super::undo::Step;
use super::{MemoryTables, Stored};
use crate::error::Result;
use crate::features::dead_letters::records::{DeadStats, DeadTables};
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
    fn dead_stats(&mut self) -> Result<DeadStats> {
        let mut stats = DeadStats {
            oldest_at: self.dead.first().map(|(at, _)| *at),
            newest_at: self.dead.last().map(|(at, _)| *at),
            ..DeadStats::default()
        };
        let seqs: Vec<i64> = self.dead.iter().map(|(_, seq)| *seq).collect();
        for seq in seqs {
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
