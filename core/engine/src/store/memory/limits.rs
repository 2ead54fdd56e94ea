//! Keys with limits in memory.
use std::collections::{BTreeMap, BTreeSet};

use ojs_model::JobState;

use super::MemoryTables;
use crate::error::Result;
use crate::features::limits::records::{LimitTables, ParkedQueue};
use crate::kernel::holds::Holds;
use crate::kernel::job::JobRow;

/// (key, queue, rank, ticket, seq) of an available job.
pub type Place = (i64, i64, i32, i64, i64);

/// The jobs of keys.
#[derive(Debug, Default, PartialEq)]
pub struct Keys {
    line: BTreeSet<Place>,
    running: BTreeMap<i64, i64>,
}

impl Keys {
    /// Enters a job of a key.
    pub fn index(&mut self, row: &JobRow) {
        match row.state {
            _ if row.limit == 0 => {}
            JobState::Available => _ = self.line.insert((row.limit, row.queue, row.rank(), row.sort_key, row.seq)),
            JobState::Active => *self.running.entry(row.limit).or_default() += 1,
            _ => {}
        }
    }

    /// Takes it out.
    pub fn unindex(&mut self, row: &JobRow) {
        match row.state {
            _ if row.limit == 0 => {}
            JobState::Available => _ = self.line.remove(&(row.limit, row.queue, row.rank(), row.sort_key, row.seq)),
            JobState::Active => {
                let running = self.running.entry(row.limit).or_default();
                *running -= 1;
                if *running == 0 {
                    self.running.remove(&row.limit);
                }
            }
            _ => {}
        }
    }

    /// The places of a key in a queue: of the jobs that exactly this set of reasons holds.
    pub fn places(&self, num: i64, queue: i64, holds: Holds) -> impl DoubleEndedIterator<Item = &Place> {
        let (from, to) = holds.ranks();
        self.line.range((num, queue, from, i64::MIN, i64::MIN)..(num, queue, to, i64::MIN, i64::MIN))
    }

    /// Available jobs of a key.
    pub fn waiting(&self, num: i64) -> impl Iterator<Item = i64> {
        let line =
            self.line.range((num, i64::MIN, i32::MIN, i64::MIN, i64::MIN)..(num + 1, i64::MIN, i32::MIN, i64::MIN, i64::MIN));
        line.map(|place| place.4)
    }

    /// How many active jobs a key has.
    pub fn running(&self, num: i64) -> i64 {
        self.running.get(&num).copied().unwrap_or(0)
    }
}

impl LimitTables for MemoryTables {
    fn parked_queues_of(&mut self, num: i64, is_fair: bool) -> Result<Vec<ParkedQueue>> {
        let line = self
            .keys
            .line
            .range((num, i64::MIN, i32::MIN, i64::MIN, i64::MIN)..(num + 1, i64::MIN, i32::MIN, i64::MIN, i64::MIN));
        let mut queues: Vec<i64> = line.map(|place| place.1).collect();
        queues.dedup();
        let parked = |queue, holds| self.keys.places(num, queue, holds).next().is_some();
        let [plain, versioned] = ParkedQueue::sets(is_fair);
        let found = queues.into_iter().map(|queue| ParkedQueue {
            queue,
            plain: parked(queue, plain),
            versioned: parked(queue, versioned),
            is_fair,
        });
        Ok(found.filter(|found| found.plain || found.versioned).collect())
    }
}
