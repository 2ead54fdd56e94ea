//! Figures of job types over time: the same as those of queues, kept by minutes for two hours and by hours for a month.
//!
//! The number of job types has no bound, so a node counts 200 types one by one in a minute, and 200 in an hour; it
//! counts the others together. What is read is bounded by that and by the length of time, however many jobs there are.
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::records::{HOUR, KEEP_HOURS, MINUTE, Minutes, Spread, StatFilter, StatRow, sum_up};
use super::spread::SpreadText;
use crate::error::{Applied, Result};
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::Query;
use crate::store::record::{RecordTables, Records, Scan, record};
use crate::store::tables::Tables;

/// Types that are counted one by one in a minute or an hour.
pub(crate) const MAX_TYPES: usize = 200;
/// How long minutes of types are kept.
const KEEP_TYPE_MINUTES: i64 = 2 * HOUR;
/// Rows that one prune sums up or drops.
const ROLLED: usize = 5_000;
/// The name under which all other types are counted together.
pub(super) const OTHER: &str = "_other";

record! {
    /// What happened to the jobs of one type in one minute or hour, as one node saw it.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct TypeRow in "type_stats" {
        key ("span", "at", "job_type", "node");
        /// Beginning, milliseconds.
        pub at: i64,
        /// [`MINUTE`] or [`HOUR`].
        pub span: i64,
        /// Number of the type; 0 for the types that are counted together.
        pub job_type: i64,
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

/// Rows of types are summed up like those of queues: with the number of the type in place of the queue's.
impl From<StatRow> for TypeRow {
    fn from(row: StatRow) -> Self {
        let StatRow { at, span, queue: job_type, node, enqueued, completed, failed, discarded, run, wait } = row;
        Self { at, span, job_type, node, enqueued, completed, failed, discarded, run, wait }
    }
}

impl From<TypeRow> for StatRow {
    fn from(row: TypeRow) -> Self {
        let TypeRow { at, span, job_type: queue, node, enqueued, completed, failed, discarded, run, wait } = row;
        Self { at, span, queue, node, enqueued, completed, failed, discarded, run, wait }
    }
}

/// The stored figures of types. Each method returns an error when the store cannot be read or written.
pub(crate) trait TypeTables: RecordTables {
    /// Writes rows, replacing those of the same time, span, type and node.
    fn put_type_stats(&mut self, rows: Vec<StatRow>) -> Result<()> {
        let rows: Vec<TypeRow> = rows.into_iter().map(TypeRow::from).collect();
        Records::of(self).put_all(&rows)
    }

    /// Rows of one span, of all nodes.
    fn type_stats(&mut self, span: i64, since: i64, until: i64) -> Result<Vec<StatRow>> {
        let wanted = Scan::over(TypeRow::KEY).under(&span).from(&since).below(&until);
        Ok(Records::<TypeRow, _>::of(self).scan(&wanted)?.into_iter().map(StatRow::from).collect())
    }

    /// Removes and returns rows of one span from before a time, the oldest ones of those there are.
    fn take_type_stats(&mut self, span: i64, before: i64) -> Result<Vec<StatRow>> {
        let wanted = Scan::over(TypeRow::KEY).under(&span).below(&before).limit(ROLLED);
        Ok(Records::<TypeRow, _>::of(self).take(&wanted)?.into_iter().map(StatRow::from).collect())
    }
}

impl<T: RecordTables + ?Sized> TypeTables for T {}

/// Figures of types over a length of time, by name.
#[derive(Debug, Clone)]
pub(crate) struct ReadTypes {
    /// From this time on.
    pub(crate) since: i64,
    /// Up to this time.
    pub(crate) until: i64,
    /// What this node has not written yet.
    pub(crate) unwritten: Minutes,
}

impl Query for ReadTypes {
    type Reply = Vec<(Arc<str>, StatRow)>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let mut rows = tables.type_stats(MINUTE, self.since, self.until)?;
        // An hour that has been summed up counts whole.
        rows.extend(tables.type_stats(HOUR, self.since - self.since.rem_euclid(HOUR), self.until)?);
        self.unwritten.correct(&mut rows, &StatFilter { since: self.since, until: self.until, queue: None });
        let mut types: BTreeMap<i64, StatRow> = BTreeMap::new();
        for row in &rows {
            types.entry(row.queue).or_insert_with(|| StatRow::new(self.since, 0, row.queue, 0)).merge(row);
        }
        let mut named = Vec::with_capacity(types.len());
        for (num, row) in types {
            let name = if num == 0 { OTHER.into() } else { tables.job_type_name(num)? };
            named.push((name, row));
        }
        Ok(named)
    }

    fn is_search(&self) -> bool {
        true
    }
}

impl Transaction<'_> {
    /// Sums figures of types up to hours, and drops them after a month; one slice.
    pub(crate) fn roll_type_stats(&mut self) -> Result<()> {
        let now = self.now.as_millis();
        let before = now.saturating_sub(KEEP_TYPE_MINUTES);
        let minutes = self.tables.take_type_stats(MINUTE, before - before.rem_euclid(HOUR))?;
        // A number that no other process has: no other process writes its hours.
        let node = self.counters.leases.end;
        let sums = sum_up(minutes, node);
        if let (Some(first), Some(last)) = (sums.first().map(|row| row.at), sums.last().map(|row| row.at)) {
            let known = self.tables.type_stats(HOUR, first, last.saturating_add(1))?;
            let hours = joined(sums, known.into_iter().filter(|row| row.node == node));
            self.tables.put_type_stats(hours)?;
        }
        self.tables.take_type_stats(HOUR, now.saturating_sub(KEEP_HOURS)).map(drop)
    }
}

/// New sums with those that are known already; types beyond the bound of their hour are counted under number 0.
fn joined(sums: Vec<StatRow>, known: impl Iterator<Item = StatRow>) -> Vec<StatRow> {
    let mut hours: BTreeMap<(i64, i64), StatRow> = known.map(|row| ((row.at, row.queue), row)).collect();
    let mut told_apart: HashMap<i64, usize> = HashMap::new();
    for (at, num) in hours.keys() {
        *told_apart.entry(*at).or_default() += usize::from(*num != 0);
    }
    let mut changed = HashSet::new();
    for row in sums {
        let seen = told_apart.entry(row.at).or_default();
        let is_new = row.queue != 0 && !hours.contains_key(&(row.at, row.queue));
        let num = if is_new && *seen >= MAX_TYPES { 0 } else { row.queue };
        *seen += usize::from(is_new && num != 0);
        let hour = hours.entry((row.at, num)).or_insert_with(|| StatRow::new(row.at, HOUR, num, row.node));
        hour.merge(&row);
        changed.insert((row.at, num));
    }
    hours.into_iter().filter(|(key, _)| changed.contains(key)).map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::statistics::records::Facts;

    #[test]
    fn types_beyond_the_bound_are_counted_together() {
        let (mut minutes, facts) = (Minutes::bounded(7, 2), Facts { enqueued: 1, ..Facts::default() });
        for num in [1, 2, 3, 1, 4, 2] {
            minutes.add(MINUTE, num, &facts);
        }
        minutes.add(2 * MINUTE, 3, &facts);
        let told: Vec<_> = minutes.take_changed(2 * MINUTE).iter().map(|row| (row.at, row.queue, row.enqueued)).collect();
        assert_eq!(told, [(MINUTE, 0, 2), (MINUTE, 1, 2), (MINUTE, 2, 2), (2 * MINUTE, 3, 1)]);
    }

    #[test]
    fn an_hour_has_no_more_types_than_a_minute_and_loses_no_job() {
        let row = |at, num| StatRow { enqueued: 1, ..StatRow::new(at, HOUR, num, 9) };
        let most = i64::try_from(MAX_TYPES).unwrap();
        let known: Vec<StatRow> = (1..most).map(|num| row(HOUR, num)).collect();
        let sums = vec![row(HOUR, 1), row(HOUR, most), row(HOUR, most + 1), row(HOUR, most + 2), row(2 * HOUR, most + 1)];
        let told: Vec<_> = joined(sums, known.into_iter()).iter().map(|row| (row.at, row.queue, row.enqueued)).collect();
        assert_eq!(told, [(HOUR, 0, 2), (HOUR, 1, 2), (HOUR, most, 1), (2 * HOUR, most + 1, 1)]);
    }
}
