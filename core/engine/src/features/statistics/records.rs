//! Figures over time: what a transaction did to jobs, summed by minute and queue, kept for a day by minutes and for a month by hours.
//!
//! A transaction notes facts in a [`Tally`]; after the commit the writer hands it on, once per group. Minutes gather in memory and are written
//! every few seconds under the number of this node, so that no two writers ever touch the same row. A crash loses a few seconds of figures,
//! never a job.
use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::HashMap;

pub use super::spread::Spread;
use super::spread::SpreadText;
use crate::error::Result;
use crate::kernel::job::{JobRow, flag};
use crate::store::record::{RecordTables, Records, Scan, record};

/// Length of the rows that are written first.
pub const MINUTE: i64 = 60_000;
/// Length of the rows that minutes are summed up to after [`KEEP_MINUTES`].
pub const HOUR: i64 = 3_600_000;
/// How long minutes are kept.
pub const KEEP_MINUTES: i64 = 24 * HOUR;
/// How long hours are kept.
pub const KEEP_HOURS: i64 = 30 * 24 * HOUR;

/// What happened to the jobs of one queue and type.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Accepted.
    pub enqueued: u64,
    /// Attempts that failed, whatever followed.
    pub failed: u64,
    /// Will be tried again.
    pub retried: u64,
    /// Cancelled.
    pub cancelled: u64,
    /// Too late to start.
    pub expired: u64,
    /// Became dead letters.
    pub dead: u64,
    /// Discarded, for whatever reason.
    pub discarded: u64,
    /// Dead letters that were run again.
    pub dead_retried: u64,
    /// Dead letters that were kept long enough.
    pub dead_pruned: u64,
    /// Enqueues that were refused because the queue was full.
    pub refused: u64,
    /// Made room in a full queue.
    pub dropped: u64,
    /// Run times of completed attempts, milliseconds.
    pub completed_ms: Vec<i64>,
    /// Run times of attempts that are tried again.
    pub retried_ms: Vec<i64>,
    /// Run times of last attempts that failed.
    pub discarded_ms: Vec<i64>,
    /// From available to started.
    pub waited_ms: Vec<i64>,
    /// The same, of jobs whose key has limits.
    pub limited_ms: Vec<i64>,
}

/// Facts of one transaction.
#[derive(Debug, Default)]
pub struct Tally {
    /// By numbers of queue and type.
    pub(crate) jobs: HashMap<(i64, i64), Facts>,
    /// Jobs that never were: by the queue that was full, and type.
    pub(crate) refused: HashMap<(i64, Arc<str>, Arc<str>), u64>,
    /// Keys that were found full.
    pub exceeded: u64,
    /// How often only the guaranteed share of a pool served a queue.
    pub starved: u64,
}

/// Facts with names.
#[derive(Debug, Clone)]
pub struct Named {
    /// Number of the queue.
    pub num: i64,
    /// Its name.
    pub queue: Arc<str>,
    /// The job type.
    pub job_type: Arc<str>,
    /// Its number; 0 for a job that was refused.
    pub type_num: i64,
    /// What happened.
    pub facts: Facts,
}

impl Tally {
    /// A job was accepted.
    pub fn accepted(&mut self, row: &JobRow) {
        self.of(row).enqueued += 1;
    }

    /// An event of a job.
    pub fn note(&mut self, event: &str, now: i64, row: &JobRow) {
        let ran = now.saturating_sub(row.started_at).max(0);
        match event {
            "job.started" => {
                let waited = now.saturating_sub(row.enqueued_at).max(0);
                let facts = self.of(row);
                facts.waited_ms.push(waited);
                if row.limit != 0 {
                    facts.limited_ms.push(waited);
                }
            }
            "job.completed" => self.of(row).completed_ms.push(ran),
            "job.failed" => self.of(row).failed += 1,
            "job.retrying" => {
                let facts = self.of(row);
                facts.retried += 1;
                facts.retried_ms.push(ran);
            }
            "job.discarded" => {
                let facts = self.of(row);
                facts.discarded += 1;
                if row.started_at > 0 && !row.has(flag::EXPIRED) {
                    facts.discarded_ms.push(ran);
                }
            }
            "job.cancelled" => self.of(row).cancelled += 1,
            "job.expired" | "job.ttl_expired" => self.of(row).expired += 1,
            "job.dead_lettered" => self.of(row).dead += 1,
            "dead_letter.retried" => self.of(row).dead_retried += 1,
            "dead_letter.pruned" => self.of(row).dead_pruned += 1,
            "backpressure.dropped" => self.of(row).dropped += 1,
            _ => {}
        }
    }

    /// An enqueue was refused because its queue is full.
    pub fn refused(&mut self, queue: i64, name: &str, job_type: &str) {
        *self.refused.entry((queue, name.into(), job_type.into())).or_default() += 1;
    }

    fn of(&mut self, row: &JobRow) -> &mut Facts {
        self.jobs.entry((row.queue, row.job_type_id)).or_default()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

record! {
    /// What happened in one queue in one minute or hour, as one node saw it.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct StatRow in "stats" {
        key ("span", "at", "queue", "node");
        /// Beginning, milliseconds.
        pub at: i64,
        /// [`MINUTE`] or [`HOUR`].
        pub span: i64,
        /// Number of the queue.
        pub queue: i64,
        /// The node that counted.
        pub node: i64,
        /// Accepted jobs.
        pub enqueued: i64,
        /// Completed jobs.
        pub completed: i64,
        /// Failed attempts.
        pub failed: i64,
        /// Discarded jobs.
        pub discarded: i64,
        /// Run times of completed attempts.
        pub run: Spread as "run" via SpreadText,
        /// Times from available to started.
        pub wait: Spread as "wait" via SpreadText,
    }
}

impl StatRow {
    /// Nothing yet.
    #[must_use]
    pub fn new(at: i64, span: i64, queue: i64, node: i64) -> Self {
        let none = Spread::default();
        Self { at, span, queue, node, enqueued: 0, completed: 0, failed: 0, discarded: 0, run: none.clone(), wait: none }
    }

    /// Adds facts.
    pub fn add(&mut self, facts: &Facts) {
        let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        self.enqueued += count(facts.enqueued);
        self.completed += count(facts.completed_ms.len() as u64);
        self.failed += count(facts.failed);
        self.discarded += count(facts.discarded);
        facts.completed_ms.iter().for_each(|ms| self.run.add(*ms));
        facts.waited_ms.iter().for_each(|ms| self.wait.add(*ms));
    }

    /// Adds another row.
    pub fn merge(&mut self, other: &Self) {
        self.enqueued += other.enqueued;
        self.completed += other.completed;
        self.failed += other.failed;
        self.discarded += other.discarded;
        self.run.merge(&other.run);
        self.wait.merge(&other.wait);
    }
}

/// Which figures to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatFilter {
    /// Beginning at or after, milliseconds.
    pub since: i64,
    /// Beginning before.
    pub until: i64,
    /// Number of one queue; `None` is all.
    pub queue: Option<i64>,
}

impl StatFilter {
    /// Whether a row is wanted, its span aside.
    #[must_use]
    pub fn takes(&self, row: &StatRow) -> bool {
        row.at >= self.since && row.at < self.until && self.queue.is_none_or(|queue| queue == row.queue)
    }
}

/// Figures that are kept. A store that cannot be read or written is the error of all.
#[allow(clippy::missing_errors_doc, reason = "all have the same errors, and the line above names them")]
pub trait StatTables: RecordTables {
    /// Writes rows, replacing those of the same time, span, queue and node.
    fn put_stats(&mut self, rows: &[StatRow]) -> Result<()> {
        Records::of(self).put_all(rows)
    }

    /// Rows of both spans, of all nodes.
    fn stats(&mut self, filter: &StatFilter) -> Result<Vec<StatRow>> {
        let mut rows = Vec::new();
        for span in [MINUTE, HOUR] {
            let mut wanted = Scan::over(StatRow::KEY).under(&span).from(&filter.since).below(&filter.until);
            if let Some(queue) = &filter.queue {
                wanted = wanted.only("queue", queue);
            }
            rows.extend(Records::<StatRow, _>::of(self).scan(&wanted)?);
        }
        Ok(rows)
    }

    /// Removes and returns rows of one span from before a time, the oldest ones of those there are.
    fn take_stats(&mut self, span: i64, before: i64, limit: usize) -> Result<Vec<StatRow>> {
        Records::of(self).take(&Scan::over(StatRow::KEY).under(&span).below(&before).limit(limit))
    }
}

impl<T: RecordTables + ?Sized> StatTables for T {}

/// Minutes of this node that have not been written, or may still change.
#[derive(Debug, Clone)]
pub struct Minutes {
    node: i64,
    /// Names that are counted one by one within one minute.
    most: usize,
    /// By minute and number: the row, and whether it has changed since it was written.
    rows: BTreeMap<i64, BTreeMap<i64, (StatRow, bool)>>,
}

impl Minutes {
    /// For a node with a number that no other has.
    #[must_use]
    pub fn new(node: i64) -> Self {
        Self::bounded(node, usize::MAX)
    }

    /// The same, with so many names a minute at most; those that come later are counted under number 0.
    #[must_use]
    pub fn bounded(node: i64, most: usize) -> Self {
        Self { node, most, rows: BTreeMap::new() }
    }

    /// Adds facts of a transaction.
    pub fn add(&mut self, now: i64, queue: i64, facts: &Facts) {
        let at = now - now.rem_euclid(MINUTE);
        let minute = self.rows.entry(at).or_default();
        // Not counted one by one: clients make up as many names as they like.
        let names = minute.len() - usize::from(minute.contains_key(&0));
        let queue = if names < self.most || minute.contains_key(&queue) { queue } else { 0 };
        let (row, changed) = minute.entry(queue).or_insert_with(|| (StatRow::new(at, MINUTE, queue, self.node), false));
        row.add(facts);
        *changed = true;
    }

    /// Rows to write now. Those that cannot change any more are forgotten once they have been written.
    pub fn take_changed(&mut self, now: i64) -> Vec<StatRow> {
        self.rows.retain(|at, minute| {
            minute.retain(|_, (_, changed)| *changed || now - *at < 2 * MINUTE);
            !minute.is_empty()
        });
        let changed = self.rows.values_mut().flat_map(BTreeMap::values_mut).filter(|(_, changed)| *changed);
        changed.map(|(row, changed)| (std::mem::replace(changed, false), row.clone()).1).collect()
    }

    /// Rows that could not be written are written next time.
    pub fn put_back(&mut self, rows: &[StatRow]) {
        for row in rows {
            if let Some((_, changed)) = self.rows.get_mut(&row.at).and_then(|minute| minute.get_mut(&row.queue)) {
                *changed = true;
            }
        }
    }

    /// Replaces what the store knows of this node by what is known here.
    pub fn correct(&self, rows: &mut Vec<StatRow>, filter: &StatFilter) {
        let is_own = |row: &StatRow| self.rows.get(&row.at).is_some_and(|minute| minute.contains_key(&row.queue));
        rows.retain(|row| row.node != self.node || row.span != MINUTE || !is_own(row));
        let own = self.rows.values().flat_map(BTreeMap::values).map(|(row, _)| row).filter(|row| filter.takes(row));
        rows.extend(own.cloned());
    }

    /// Forgets everything (test mode).
    pub fn clear(&mut self) {
        self.rows.clear();
    }
}

/// Sums minutes that are old enough up to hours, by hour and queue.
#[must_use]
pub fn sum_up(rows: Vec<StatRow>, node: i64) -> Vec<StatRow> {
    let mut hours: BTreeMap<(i64, i64), StatRow> = BTreeMap::new();
    for row in rows {
        let at = row.at - row.at.rem_euclid(HOUR);
        hours.entry((at, row.queue)).or_insert_with(|| StatRow::new(at, HOUR, row.queue, node)).merge(&row);
    }
    hours.into_values().collect()
}

/// What goes on now.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pace {
    /// Jobs accepted in the last minute.
    pub enqueued: f64,
    /// Jobs completed in the last minute.
    pub completed: f64,
    /// Attempts that failed in the last minute.
    pub failed: f64,
    /// Run times of the last minutes.
    pub run: Spread,
    /// Waiting times of the last minutes.
    pub wait: Spread,
}

impl Pace {
    /// How far back rows must reach.
    pub const BACK: i64 = 5 * MINUTE;

    /// From the rows of the last minutes: the current minute, and of the one before it the share that is not yet a minute ago.
    #[must_use]
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a StatRow>, now: i64) -> Self {
        let this = now - now.rem_euclid(MINUTE);
        let left = 1.0 - (now - this) as f64 / MINUTE as f64;
        let mut pace = Self::default();
        for row in rows.into_iter().filter(|row| row.span == MINUTE && row.at <= this && now - row.at < Self::BACK + MINUTE) {
            let share = match this - row.at {
                0 => 1.0,
                MINUTE => left,
                _ => 0.0,
            };
            pace.enqueued += row.enqueued as f64 * share;
            pace.completed += row.completed as f64 * share;
            pace.failed += row.failed as f64 * share;
            pace.run.merge(&row.run);
            pace.wait.merge(&row.wait);
        }
        pace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_is_written_until_it_cannot_change() {
        let mut minutes = Minutes::new(7);
        let facts = Facts { enqueued: 2, ..Facts::default() };
        minutes.add(MINUTE + 5, 1, &facts);
        assert_eq!(minutes.take_changed(MINUTE + 5)[0].enqueued, 2);
        assert_eq!(minutes.take_changed(MINUTE + 6), []);
        minutes.add(MINUTE + 7, 1, &facts);
        let rows = minutes.take_changed(MINUTE + 8);
        assert_eq!(rows[0].enqueued, 4);
        minutes.put_back(&rows);
        assert_eq!(minutes.take_changed(4 * MINUTE), rows);
        let (mut stored, all) = (rows.clone(), StatFilter { since: 0, until: i64::MAX, queue: None });
        minutes.correct(&mut stored, &all);
        assert_eq!(stored, rows, "counted once");
        assert_eq!(minutes.take_changed(4 * MINUTE), []);
        minutes.correct(&mut stored, &all);
        assert_eq!(stored, rows, "forgotten here, known there");
    }

    #[test]
    fn a_minute_of_very_many_names_is_added_up_at_once() {
        let facts = Facts { enqueued: 1, ..Facts::default() };
        let mut minutes = Minutes::bounded(7, 200_000);
        // With a walk through the minute for each name, this test would take minutes.
        for name in (1..=300_000).chain(1..=10) {
            minutes.add(MINUTE, name, &facts);
        }
        let rows = minutes.take_changed(MINUTE);
        assert_eq!(rows.len(), 200_001);
        assert_eq!((rows[0].queue, rows[0].enqueued), (0, 100_000), "those that came too late are counted together");
        assert_eq!((rows[1].queue, rows[1].enqueued, rows[11].enqueued), (1, 2, 1), "those that are known are not");
    }

    #[test]
    fn the_last_minute_slides() {
        let row = |at| StatRow { completed: 60, ..StatRow::new(at, MINUTE, 1, 1) };
        let rows = [row(8 * MINUTE), row(9 * MINUTE), row(10 * MINUTE)];
        assert_eq!(Pace::of(&rows, 10 * MINUTE + MINUTE / 4).completed, 60.0 + 45.0);
        assert_eq!(Pace::of(&rows, 12 * MINUTE).completed, 0.0);
    }

    #[test]
    fn minutes_of_all_nodes_become_one_hour() {
        let row = |at, node| StatRow { enqueued: 3, ..StatRow::new(at, MINUTE, 1, node) };
        let hours = sum_up(vec![row(HOUR, 1), row(HOUR + MINUTE, 2), row(2 * HOUR, 1)], 9);
        let told: Vec<_> = hours.iter().map(|hour| (hour.at, hour.span, hour.node, hour.enqueued)).collect();
        assert_eq!(told, [(HOUR, HOUR, 9, 6), (2 * HOUR, HOUR, 9, 3)]);
    }
}
