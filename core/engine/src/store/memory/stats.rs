//! Figures over time in memory.
use super::MemoryTables;
use crate::error::Result;
use crate::features::statistics::records::{StatFilter, StatRow, StatTables};

impl StatTables for MemoryTables {
    fn put_stats(&mut self, rows: &[StatRow]) -> Result<()> {
        for row in rows {
            let key = (row.span, row.at, row.queue, row.node);
            let before = self.stats.insert(key, row.clone());
            self.undo_by(move |tables| match before {
                Some(before) => _ = tables.stats.insert(key, before),
                None => _ = tables.stats.remove(&key),
            });
        }
        Ok(())
    }

    fn stats(&mut self, filter: &StatFilter) -> Result<Vec<StatRow>> {
        Ok(self.stats.values().filter(|row| filter.takes(row)).cloned().collect())
    }

    fn take_stats(&mut self, span: i64, before: i64, limit: usize) -> Result<Vec<StatRow>> {
        let old = self.stats.range((span, i64::MIN, 0, i64::MIN)..(span, before, i64::MIN, i64::MIN)).take(limit);
        let keys: Vec<_> = old.map(|(key, _)| *key).collect();
        let taken: Vec<StatRow> = keys.iter().filter_map(|key| self.stats.remove(key)).collect();
        let gone: Vec<_> = keys.into_iter().zip(taken.clone()).collect();
        self.undo_by(move |tables| tables.stats.extend(gone));
        Ok(taken)
    }
}
