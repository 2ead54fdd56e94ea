//! The extent of the event log in memory.
use super::MemoryTables;
use crate::error::Result;
use crate::kernel::log::LogTables;

impl LogTables for MemoryTables {
    fn log_span(&mut self) -> Result<(i64, i64)> {
        let oldest = self.events.first().map_or(self.last_event + 1, |(batch, _)| batch.seq);
        Ok(if self.last_event == 0 { (0, 0) } else { (oldest, self.last_event) })
    }
}
