//! Cron entries in memory.
use super::MemoryTables;
use crate::error::Result;
use crate::features::crons::records::{CronRow, CronTables};

impl CronTables for MemoryTables {
    fn cron(&mut self, name: &str) -> Result<Option<CronRow>> {
        Ok(self.crons.get(name).cloned())
    }

    fn crons(&mut self) -> Result<Vec<CronRow>> {
        Ok(self.crons.values().cloned().collect())
    }

    fn put_cron(&mut self, row: &CronRow) -> Result<()> {
        let before = self.crons.insert(row.name.clone(), row.clone());
        let name = row.name.clone();
        self.undo_by(move |tables| match before {
            Some(before) => _ = tables.crons.insert(name, before),
            None => _ = tables.crons.remove(&name),
        });
        Ok(())
    }

    fn delete_cron(&mut self, name: &str) -> Result<()> {
        if let Some(before) = self.crons.remove(name) {
            self.undo_by(move |tables| _ = tables.crons.insert(before.name.clone(), before));
        }
        Ok(())
    }

    fn due_crons(&mut self, now: i64) -> Result<Vec<CronRow>> {
        let going_on = |row: &CronRow| {
            let job = row.last_job.and_then(|id| self.ids.get(&id)).and_then(|seq| self.jobs.get(seq));
            job.is_some_and(|stored| !stored.row.state.is_terminal())
        };
        let due = |row: &&CronRow| row.next_at > 0 && row.next_at <= now || row.waiting > 0 && !going_on(row);
        Ok(self.crons.values().filter(due).cloned().collect())
    }
}
