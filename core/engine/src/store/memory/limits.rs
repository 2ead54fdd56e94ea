//! Keys with limits in memory.
use std::collections::{BTreeMap, BTreeSet};

use ojs_model::JobState;

use super::MemoryTables;
use crate::error::Result;
use crate::features::limits::records::{LimitTables, Standing};
use crate::kernel::holds::Holds;
use crate::kernel::job::JobRow;

/// (key, queue, rank, ticket, seq) of an available job.
type Place = (i64, i64, i32, i64, i64);

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
    fn places(&self, num: i64, queue: i64, holds: Holds) -> impl DoubleEndedIterator<Item = &Place> {
        let (from, to) = holds.ranks();
        self.line.range((num, queue, from, i64::MIN, i64::MIN)..(num, queue, to, i64::MIN, i64::MIN))
    }
}

impl LimitTables for MemoryTables {
    fn running(&mut self, num: i64) -> Result<i64> {
        Ok(self.keys.running.get(&num).copied().unwrap_or(0))
    }

    fn held(&mut self, num: i64) -> Result<i64> {
        let line = self
            .keys
            .line
            .range((num, i64::MIN, i32::MIN, i64::MIN, i64::MIN)..(num + 1, i64::MIN, i32::MIN, i64::MIN, i64::MIN));
        Ok(i64::try_from(line.count()).unwrap_or(i64::MAX))
    }

    fn heads(&mut self, num: i64, queue: i64) -> Result<(i64, Option<Standing>)> {
        let heads = self.keys.places(num, queue, Holds::NONE).count();
        let last =
            self.keys.places(num, queue, Holds::NONE).next_back().map(|place| Standing { rank: place.2, sort_key: place.3 });
        Ok((i64::try_from(heads).unwrap_or(i64::MAX), last))
    }

    fn parked(&mut self, num: i64, queue: i64, limit: usize) -> Result<Vec<JobRow>> {
        Ok(self.rows(self.keys.places(num, queue, Holds::LIMIT).take(limit).map(|place| place.4)))
    }

    fn parked_queues(&mut self, num: i64) -> Result<Vec<i64>> {
        let queues = self.queues.iter().map(|queue| queue.num);
        Ok(queues.filter(|queue| self.keys.places(num, *queue, Holds::LIMIT).next().is_some()).collect())
    }
}
