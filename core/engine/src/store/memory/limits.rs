//! Keys with limits in memory.
use std::collections::{BTreeMap, BTreeSet};

use ojs_model::JobState;

use super::MemoryTables;
use crate::error::{Result, StoreError};
use crate::features::limits::records::{LimitRow, LimitTables, Standing};
use crate::kernel::job::{JobRow, PARKED_RANK};

/// (key, queue, rank, ticket, seq) of an available job.
type Place = (i64, i64, i32, i64, i64);

/// Keys, the log of their starts, and the index of their jobs.
#[derive(Debug, Default)]
pub struct Keys {
    rows: Vec<LimitRow>,
    starts: BTreeMap<(i64, i64), i64>,
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

    /// When time opens the next key.
    pub fn next_opening(&self) -> Option<i64> {
        self.rows.iter().map(|row| row.open_at).filter(|at| *at > 0).min()
    }

    /// The places of a key in a queue, those before the bar or those behind it.
    fn places(&self, num: i64, queue: i64, parked: bool) -> impl DoubleEndedIterator<Item = &Place> {
        let bar = PARKED_RANK / 2;
        let (from, to) = if parked { (bar, i32::MAX) } else { (i32::MIN, bar) };
        self.line.range((num, queue, from, i64::MIN, i64::MIN)..(num, queue, to, i64::MIN, i64::MIN))
    }
}

impl LimitTables for MemoryTables {
    fn limit(&mut self, num: i64) -> Result<LimitRow> {
        let found = self.keys.rows.iter().find(|row| row.num == num).cloned();
        found.ok_or_else(|| StoreError::Failed(format!("no key with number {num}")))
    }

    fn find_limit(&mut self, tenant: &str, key: &str) -> Result<Option<LimitRow>> {
        Ok(self.keys.rows.iter().find(|row| *row.tenant == *tenant && *row.key == *key).cloned())
    }

    fn add_limit(&mut self, tenant: &str, key: &str) -> Result<LimitRow> {
        let num = i64::try_from(self.keys.rows.len()).unwrap_or(i64::MAX) + 1;
        let row = LimitRow::fresh(num, tenant, key);
        self.keys.rows.push(row.clone());
        self.undo_by(|tables| _ = tables.keys.rows.pop());
        Ok(row)
    }

    fn save_limit(&mut self, row: &LimitRow) -> Result<()> {
        if let Some(known) = self.keys.rows.iter_mut().find(|known| known.num == row.num) {
            let before = std::mem::replace(known, row.clone());
            self.undo_by(move |tables| {
                tables.keys.rows.iter_mut().filter(|known| known.num == before.num).for_each(|known| known.clone_from(&before));
            });
        }
        Ok(())
    }

    fn limits(&mut self, key: Option<&str>, limit: usize, offset: usize) -> Result<(Vec<LimitRow>, usize)> {
        let mut rows: Vec<&LimitRow> = self.keys.rows.iter().filter(|row| key.is_none_or(|key| *row.key == *key)).collect();
        rows.sort_by(|a, b| (&a.key, &a.tenant).cmp(&(&b.key, &b.tenant)));
        let total = rows.len();
        Ok((rows.into_iter().skip(offset).take(limit).cloned().collect(), total))
    }

    fn opened(&mut self, now: i64, limit: usize) -> Result<Vec<LimitRow>> {
        let opened = self.keys.rows.iter().filter(|row| row.open_at > 0 && row.open_at <= now);
        Ok(opened.take(limit).cloned().collect())
    }

    fn next_opening(&mut self) -> Result<Option<i64>> {
        Ok(self.keys.next_opening())
    }

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
        let heads = self.keys.places(num, queue, false).count();
        let last = self.keys.places(num, queue, false).next_back().map(|place| Standing { rank: place.2, sort_key: place.3 });
        Ok((i64::try_from(heads).unwrap_or(i64::MAX), last))
    }

    fn parked(&mut self, num: i64, queue: i64, limit: usize) -> Result<Vec<JobRow>> {
        Ok(self.rows(self.keys.places(num, queue, true).take(limit).map(|place| place.4)))
    }

    fn parked_queues(&mut self, num: i64) -> Result<Vec<i64>> {
        let queues = self.queues.iter().map(|queue| queue.num);
        Ok(queues.filter(|queue| self.keys.places(num, *queue, true).next().is_some()).collect())
    }

    fn add_start(&mut self, num: i64, number: i64, at: i64, keep_from: i64) -> Result<()> {
        let before = self.keys.starts.insert((num, number), at);
        let old: Vec<_> = self.keys.starts.range((num, i64::MIN)..(num, keep_from)).map(|(place, at)| (*place, *at)).collect();
        for (place, _) in &old {
            self.keys.starts.remove(place);
        }
        self.undo_by(move |tables| {
            tables.keys.starts.extend(old);
            match before {
                Some(before) => _ = tables.keys.starts.insert((num, number), before),
                None => _ = tables.keys.starts.remove(&(num, number)),
            }
        });
        Ok(())
    }

    fn starts_after(&mut self, num: i64, after: i64) -> Result<i64> {
        let starts = self.keys.starts.range((num, i64::MIN)..(num + 1, i64::MIN)).filter(|(_, at)| **at > after);
        Ok(i64::try_from(starts.count()).unwrap_or(i64::MAX))
    }

    fn start_at(&mut self, num: i64, number: i64) -> Result<Option<i64>> {
        Ok(self.keys.starts.get(&(num, number)).copied())
    }
}
