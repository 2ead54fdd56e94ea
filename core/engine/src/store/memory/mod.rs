//! Tables in memory, for tests and for jobs that need not survive the process. The rules are those of the other stores.
mod admin;
mod audit;
mod dead_letters;
mod due;
mod fair;
mod job_types;
mod limits;
mod log;
mod queues;
mod records;
mod results;
mod select;
mod undo;
mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use foldhash::HashMap;
use ojs_model::unique::UniqueKey;
use ojs_model::{JobId, JobState, NewJob};

use crate::error::{Result, StoreError};
use crate::features::dead_letters::records::COUNTED_AS;
use crate::kernel::holds::FREE_BELOW;
use crate::kernel::job::{Body, History, JobRow, flag};
use crate::store::heads::Heads;
use crate::store::names::{NameTables, Names};
use crate::store::record::InMemory;
use crate::store::rows::{Counts, EventBatch, fresh_body};
use crate::store::selection::Selection;
use crate::store::tables::Tables;
use undo::{Step, Undo};

/// Counts of a queue: the jobs in each state, and its dead letters.
type Kept = [i64; COUNTED_AS + 1];

/// Lease tokens reserved at a time.
const LEASE_RANGE: i64 = 1 << 32;

#[derive(Debug)]
struct Stored {
    row: JobRow,
    body: Body,
    history: History,
    unique: Option<UniqueKey>,
}

/// Jobs in maps, with one ordered set for each index that SQLite has.
#[derive(Debug, Default)]
pub struct MemoryTables {
    jobs: BTreeMap<i64, Stored>,
    ids: HashMap<JobId, i64>,
    /// Jobs by uniqueness key, oldest first.
    uniques: HashMap<UniqueKey, BTreeSet<i64>>,
    /// (queue, −priority, ticket, seq)
    ready: BTreeSet<(i64, i32, i64, i64)>,
    /// Lines of versions: (queue, job type, version, rank, ticket, seq)
    versions: BTreeSet<(i64, i64, i64, i32, i64, i64)>,
    /// Lines of keys: (queue, rank, key, ticket, seq)
    fair: BTreeSet<(i64, i32, i64, i64, i64)>,
    /// (due, seq)
    due: BTreeSet<(i64, i64)>,
    /// (deadline, seq)
    leases: BTreeSet<(i64, i64)>,
    /// (expires_at, seq)
    expiring: BTreeSet<(i64, i64)>,
    /// (discarded_at, seq)
    dead: BTreeSet<(i64, i64)>,
    last_seq: i64,
    /// Jobs of each queue by state, and behind them its dead letters.
    counts: HashMap<i64, Kept>,
    events: Vec<(EventBatch, usize)>,
    last_event: i64,
    next_lease: i64,
    keys: limits::Keys,
    /// Records of declared tables, by name of the table.
    records: HashMap<&'static str, InMemory>,
    names: Names,
    /// How to undo the open transaction.
    undo: Undo,
}

impl MemoryTables {
    fn index(&mut self, row: &JobRow) {
        self.keys.index(row);
        let (sort_key, seq) = (row.sort_key, row.seq);
        match row.state {
            JobState::Available => {
                self.ready.insert((row.queue, row.rank(), sort_key, seq));
                if row.version > 0 {
                    self.versions.insert((row.queue, row.job_type_id, row.version, row.rank(), sort_key, seq));
                }
                if row.fair > 0 {
                    self.fair.insert((row.queue, row.rank(), row.fair, sort_key, seq));
                }
            }
            JobState::Scheduled | JobState::Retryable => _ = self.due.insert((sort_key, seq)),
            JobState::Active => _ = self.leases.insert((sort_key, seq)),
            _ => {}
        }
        if row.expires_at > 0 {
            self.expiring.insert((row.expires_at, seq));
        }
        if row.has(flag::DEAD) {
            self.dead.insert((row.finished_at, seq));
        }
    }

    fn unindex(&mut self, row: &JobRow) {
        self.keys.unindex(row);
        let (sort_key, seq) = (row.sort_key, row.seq);
        self.ready.remove(&(row.queue, row.rank(), sort_key, seq));
        self.versions.remove(&(row.queue, row.job_type_id, row.version, row.rank(), sort_key, seq));
        self.fair.remove(&(row.queue, row.rank(), row.fair, sort_key, seq));
        self.due.remove(&(sort_key, seq));
        self.leases.remove(&(sort_key, seq));
        self.expiring.remove(&(row.expires_at, seq));
        self.dead.remove(&(row.finished_at, seq));
    }

    fn stored(&mut self, seq: i64) -> Result<&mut Stored> {
        self.jobs.get_mut(&seq).ok_or_else(|| StoreError::Failed(format!("no job with number {seq}")))
    }

    /// Jobs at the head of the line of a queue.
    fn ready_of_queue(&self, queue: i64, limit: usize) -> Vec<(JobRow, Body)> {
        let line = self.ready.range((queue, i32::MIN, i64::MIN, i64::MIN)..(queue, FREE_BELOW, i64::MIN, i64::MIN));
        let found = line.take(limit).filter_map(|(_, _, _, seq)| self.jobs.get(seq));
        found.map(|stored| (stored.row.clone(), stored.body.clone())).collect()
    }

    fn rows(&self, seqs: impl Iterator<Item = i64>) -> Vec<JobRow> {
        seqs.filter_map(|seq| self.jobs.get(&seq)).map(|stored| stored.row.clone()).collect()
    }
}

impl Tables for MemoryTables {
    fn begin(&mut self, _durable: bool) -> Result<()> {
        self.undo.forget();
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.undo.forget();
        Ok(())
    }

    fn rollback(&mut self) {
        self.undo_all();
        self.names.forget();
    }

    fn changes(&self) -> u64 {
        self.undo.len()
    }

    fn insert_all(&mut self, jobs: &[&NewJob], rows: &mut [JobRow]) -> Result<Option<usize>> {
        for (index, (job, row)) in jobs.iter().zip(rows).enumerate() {
            if self.ids.contains_key(&row.id) {
                return Ok(Some(index));
            }
            self.last_seq += 1;
            row.seq = self.last_seq;
            let unique = job.unique.as_ref().map(|policy| policy.key);
            self.put(Stored { row: row.clone(), body: fresh_body(job), history: History::default(), unique });
            self.undo.note(Step::Inserted(row.id));
        }
        Ok(None)
    }

    fn find_unique(&mut self, key: &UniqueKey, states: &[JobState], since: i64) -> Result<Option<JobRow>> {
        let newest = self.uniques.get(key).into_iter().flat_map(|seqs| seqs.iter().rev());
        let mut rows = newest.filter_map(|seq| self.jobs.get(seq)).map(|stored| &stored.row);
        Ok(rows.find(|row| states.contains(&row.state) && row.created_at > since).cloned())
    }

    fn row(&mut self, id: JobId) -> Result<Option<JobRow>> {
        Ok(self.ids.get(&id).and_then(|seq| self.jobs.get(seq)).map(|stored| stored.row.clone()))
    }

    fn update(&mut self, before: &JobRow, after: &JobRow) -> Result<()> {
        self.unindex(before);
        self.index(after);
        let known = std::mem::replace(&mut self.stored(after.seq)?.row, after.clone());
        self.undo.note_row(known);
        Ok(())
    }

    fn delete(&mut self, row: &JobRow) -> Result<()> {
        if let Some(stored) = self.take(row.id) {
            self.undo.note(Step::Deleted(Box::new(stored)));
        }
        Ok(())
    }

    fn body(&mut self, seq: i64) -> Result<Body> {
        Ok(self.stored(seq)?.body.clone())
    }

    fn history(&mut self, seq: i64) -> Result<History> {
        Ok(self.stored(seq)?.history.clone())
    }

    fn set_history(&mut self, seq: i64, history: &History) -> Result<()> {
        let known = std::mem::replace(&mut self.stored(seq)?.history, history.clone());
        self.undo.note(Step::History(seq, Box::new(known)));
        Ok(())
    }

    fn ready(&mut self, heads: &Heads<'_>) -> Result<Vec<(JobRow, Body)>> {
        Ok(match *heads {
            Heads::Queue { queue, limit } => self.ready_of_queue(queue, limit),
            Heads::Keys { queue, rank, wanted } => self.ready_of_keys(queue, rank, wanted),
            Heads::Versions { lines, limit } => self.ready_of_versions(lines, limit),
        })
    }

    fn anything_due(&mut self, now: i64, silent_since: i64) -> Result<bool> {
        let passed = |index: &BTreeSet<(i64, i64)>| index.first().is_some_and(|(at, _)| *at <= now);
        if passed(&self.due) || passed(&self.leases) || passed(&self.expiring) {
            return Ok(true);
        }
        for due in crate::features::due() {
            if self.has_due(due, now, silent_since)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn select(&mut self, wanted: &Selection<'_>, limit: usize) -> Result<Vec<JobRow>> {
        self.selected(wanted, limit)
    }

    fn count(&mut self, wanted: &Selection<'_>, most: usize) -> Result<usize> {
        self.counted_of(wanted, most)
    }

    fn add_count(&mut self, queue: i64, count: usize, delta: i64) -> Result<()> {
        self.undo.note(Step::Counts(queue, self.counts.get(&queue).copied()));
        if let Some(cell) = self.counts.entry(queue).or_default().get_mut(count) {
            *cell += delta;
        }
        Ok(())
    }

    fn counted(&mut self, queue: Option<i64>) -> Result<Vec<(i64, Counts)>> {
        let wanted = self.counts.iter().filter(|(num, _)| queue.is_none_or(|queue| queue == **num));
        Ok(wanted.filter_map(|(num, kept)| Some((*num, *kept.first_chunk()?))).collect())
    }

    fn prune_workers(&mut self) -> Result<()> {
        let active = self.leases.iter().filter_map(|(_, seq)| self.jobs.get(seq));
        let holding: std::collections::HashSet<i64> = active.map(|stored| stored.row.worker).collect();
        for worker in self.all_workers()?.iter().filter(|worker| worker.beat_at == 0 && !holding.contains(&worker.num)) {
            self.forget_worker(worker.num)?;
        }
        Ok(())
    }

    fn append_events(&mut self, at: i64, lines: &str, count: usize) -> Result<()> {
        self.last_event += 1;
        self.events.push((EventBatch { seq: self.last_event, at, lines: lines.to_owned() }, count));
        self.undo.note(Step::Events);
        Ok(())
    }

    fn events_from(&mut self, seq: i64, limit: usize) -> Result<Vec<EventBatch>> {
        let start = self.events.partition_point(|(batch, _)| batch.seq < seq);
        Ok(self.events.iter().skip(start).take(limit).map(|(batch, _)| batch.clone()).collect())
    }

    fn prune_events(&mut self, before: i64, max: u64) -> Result<()> {
        let total: u64 = self.events.iter().map(|(_, count)| *count as u64).sum();
        let mut surplus = total.saturating_sub(max);
        let keep = self.events.iter().position(|(batch, count)| {
            let drop = batch.at < before || surplus > 0;
            surplus = surplus.saturating_sub(*count as u64);
            !drop
        });
        let gone: Vec<_> = self.events.drain(..keep.unwrap_or(self.events.len())).collect();
        if !gone.is_empty() {
            self.undo_by(move |tables| _ = tables.events.splice(..0, gone));
        }
        Ok(())
    }

    fn reserve_leases(&mut self) -> Result<Range<i64>> {
        let first = self.next_lease.max(1);
        self.next_lease = first + LEASE_RANGE;
        Ok(first..self.next_lease)
    }

    fn changed_elsewhere(&mut self) -> Result<bool> {
        Ok(false)
    }

    fn reset(&mut self) -> Result<()> {
        // Leases and events keep counting: neither a token nor an event id may mean two things.
        let (next_lease, last_event) = (self.next_lease, self.last_event);
        let before = std::mem::replace(self, Self { next_lease, last_event, ..Self::default() });
        self.undo_by(move |tables| *tables = before);
        Ok(())
    }
}
