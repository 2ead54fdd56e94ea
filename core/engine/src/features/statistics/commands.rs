//! What is asked of figures.
use crate::error::Applied;
use crate::features::statistics::records::{Pace, StatFilter, StatRow};
use crate::kernel::typed::Query;
use crate::store::tables::Tables;

/// Figures over time, of all nodes; what this node has not written yet is missing.
#[derive(Debug, Clone)]
pub struct ReadStats(pub StatFilter);

impl Query for ReadStats {
    type Reply = Vec<StatRow>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Vec<StatRow>> {
        Ok(tables.stats(&self.0)?)
    }

    /// The pace of the last minutes is part of other answers.
    fn is_search(&self) -> bool {
        self.0.until.saturating_sub(self.0.since) > 2 * Pace::BACK
    }
}
