//! Tables in memory: for tests and for queues that may be forgotten. Same rules as SQLite, other rows.
mod admin;
mod audit;
mod dead_letters;
mod job_types;
mod limits;
mod log;
mod queues;
mod records;
mod results;
mod undo;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use foldhash::HashMap;
use ojs_model::unique::UniqueKey;
use ojs_model::{JobId, JobState, NewJob, Timestamp};

use crate::error::{Result, StoreError};
use crate::features::crons::records::CronRow;
use crate::kernel::job::{Body, History, JobRow, flag};
use crate::store::record::InMemory;
use crate::store::rows::{Counts, DeadFilter, EventBatch, JobFilter, QueueRow, WorkerRow, fresh_body};
use crate::store::tables::Tables;
use undo::{Step, Undo};

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
    /// (due, seq)
    due: BTreeSet<(i64, i64)>,
    /// (deadline, seq)
    leases: BTreeSet<(i64, i64)>,
    /// (expires_at, seq)
    expiring: BTreeSet<(i64, i64)>,
    /// (discarded_at, seq)
    dead: BTreeSet<(i64, i64)>,
    last_seq: i64,
    queues: Vec<QueueRow>,
    counts: HashMap<i64, Counts>,
    job_type_names: Vec<Arc<str>>,
    job_type_ids: HashMap<Arc<str>, i64>,
    workers: BTreeMap<i64, WorkerRow>,
    worker_nums: HashMap<Arc<str>, i64>,
    last_worker: i64,
    events: Vec<(EventBatch, usize)>,
    last_event: i64,
    next_lease: i64,
    keys: limits::Keys,
    /// Records of declared tables, by name of the table.
    records: HashMap<&'static str, InMemory>,
    /// How to undo the open transaction.
    undo: Undo,
}

impl MemoryTables {
    fn index(&mut self, row: &JobRow) {
        self.keys.index(row);
        let (sort_key, seq) = (row.sort_key, row.seq);
        match row.state {
            JobState::Available => _ = self.ready.insert((row.queue, row.rank(), sort_key, seq)),
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
        self.due.remove(&(sort_key, seq));
        self.leases.remove(&(sort_key, seq));
        self.expiring.remove(&(row.expires_at, seq));
        self.dead.remove(&(row.finished_at, seq));
    }

    fn know_worker(&mut self, worker: WorkerRow) {
        self.worker_nums.insert(Arc::clone(&worker.id), worker.num);
        self.workers.insert(worker.num, worker);
    }

    fn stored(&mut self, seq: i64) -> Result<&mut Stored> {
        self.jobs.get_mut(&seq).ok_or_else(|| StoreError::Failed(format!("no job with number {seq}")))
    }

    /// Whether the latest job of a cron entry has not ended.
    fn goes_on(&self, cron: &CronRow) -> bool {
        let job = cron.last_job.and_then(|id| self.ids.get(&id)).and_then(|seq| self.jobs.get(seq));
        job.is_some_and(|stored| !stored.row.state.is_terminal())
    }

    fn job_type_of(&self, num: i64) -> Option<&Arc<str>> {
        self.job_type_names.get(usize::try_from(num - 1).ok()?)
    }

    fn rows(&self, seqs: impl Iterator<Item = i64>) -> Vec<JobRow> {
        seqs.filter_map(|seq| self.jobs.get(&seq)).map(|stored| stored.row.clone()).collect()
    }

    fn first(&self, index: &BTreeSet<(i64, i64)>, until: i64, limit: usize) -> Vec<JobRow> {
        self.rows(index.range(..=(until, i64::MAX)).take(limit).map(|(_, seq)| *seq))
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
        self.undo.note(Step::Row(Box::new(known)));
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

    fn ready(&mut self, queue: i64, limit: usize) -> Result<Vec<(JobRow, Body)>> {
        let range = self
            .ready
            .range((queue, i32::MIN, i64::MIN, i64::MIN)..(queue, crate::kernel::holds::FREE_BELOW, i64::MIN, i64::MIN));
        let found = range.take(limit).filter_map(|(_, _, _, seq)| self.jobs.get(seq));
        Ok(found.map(|stored| (stored.row.clone(), stored.body.clone())).collect())
    }

    fn anything_due(&mut self, now: i64, silent_since: i64) -> Result<bool> {
        let passed = |index: &BTreeSet<(i64, i64)>| index.first().is_some_and(|(at, _)| *at <= now);
        let silent = self.workers.values().any(|worker| worker.beat_at > 0 && worker.beat_at <= silent_since);
        let tables: &mut dyn Tables = self;
        let opening = tables.next_opening()?.is_some_and(|at| at <= now);
        let crons = tables.due_crons(now)?;
        let firing = opening || crons.iter().any(|cron| cron.next_at > 0 && cron.next_at <= now || !self.goes_on(cron));
        Ok(firing || passed(&self.due) || passed(&self.leases) || passed(&self.expiring) || silent)
    }

    fn due(&mut self, now: i64, limit: usize) -> Result<Vec<JobRow>> {
        Ok(self.first(&self.due, now, limit))
    }

    fn overdue(&mut self, now: i64, limit: usize) -> Result<Vec<JobRow>> {
        Ok(self.first(&self.leases, now, limit))
    }

    fn expired(&mut self, now: i64, limit: usize) -> Result<Vec<JobRow>> {
        Ok(self.first(&self.expiring, now, limit))
    }

    fn held_by(&mut self, worker: i64, limit: usize) -> Result<Vec<JobRow>> {
        let active = self.leases.iter().filter_map(|(_, seq)| self.jobs.get(seq));
        Ok(active.filter(|stored| stored.row.worker == worker).take(limit).map(|stored| stored.row.clone()).collect())
    }

    fn terminal(&mut self, after: i64, limit: usize) -> Result<(Vec<JobRow>, Option<i64>)> {
        let slice: Vec<&Stored> = self.jobs.range(after + 1..).take(limit).map(|(_, stored)| stored).collect();
        let next = if slice.len() < limit { None } else { slice.last().map(|stored| stored.row.seq) };
        let rows = slice.into_iter().filter(|stored| stored.row.state.is_terminal()).map(|stored| stored.row.clone()).collect();
        Ok((rows, next))
    }

    fn dead(&mut self, filter: &DeadFilter) -> Result<(Vec<JobRow>, usize)> {
        let queue = self.queue_wanted(filter.queue.as_deref())?;
        let newest = self.dead.iter().rev().filter_map(|(_, seq)| self.jobs.get(seq));
        let newest = newest.filter(|stored| filter.error_type.as_ref().is_none_or(|wanted| *wanted == stored.error_type()));
        let newest = newest.map(|stored| &stored.row);
        let matching: Vec<&JobRow> = newest
            .filter(|row| {
                queue.is_none_or(|queue| queue == row.queue) && self.job_type_fits(row.job_type_id, filter.job_type.as_deref())
            })
            .filter(|row| {
                filter.since.is_none_or(|at| row.finished_at >= at) && filter.until.is_none_or(|at| row.finished_at < at)
            })
            .collect();
        let total = matching.len();
        Ok((matching.into_iter().skip(filter.offset).take(filter.limit).cloned().collect(), total))
    }

    fn jobs(&mut self, filter: &JobFilter) -> Result<Vec<JobRow>> {
        self.list_jobs(filter)
    }

    fn queue(&mut self, name: &str, now: Timestamp) -> Result<QueueRow> {
        if let Some(queue) = self.find_queue(name)? {
            return Ok(queue);
        }
        let num = i64::try_from(self.queues.len()).unwrap_or(i64::MAX) + 1;
        let queue = QueueRow::fresh(num, name, now.as_millis());
        self.queues.push(queue.clone());
        self.undo_by(|tables| _ = tables.queues.pop());
        Ok(queue)
    }

    fn find_queue(&mut self, name: &str) -> Result<Option<QueueRow>> {
        Ok(self.queues.iter().find(|queue| *queue.name == *name).cloned())
    }

    fn queue_by_num(&mut self, num: i64) -> Result<QueueRow> {
        let found = self.queues.iter().find(|queue| queue.num == num).cloned();
        found.ok_or_else(|| StoreError::Failed(format!("no queue with number {num}")))
    }

    fn queues(&mut self) -> Result<Vec<QueueRow>> {
        let mut queues = self.queues.clone();
        queues.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(queues)
    }

    fn save_queue(&mut self, queue: &QueueRow) -> Result<()> {
        if let Some(known) = self.queues.iter_mut().find(|known| known.num == queue.num) {
            let before = std::mem::replace(known, queue.clone());
            self.undo_by(move |tables| {
                tables.queues.iter_mut().filter(|known| known.num == before.num).for_each(|known| known.clone_from(&before));
            });
        }
        Ok(())
    }

    fn add_counts(&mut self, queue: i64, delta: &Counts) -> Result<()> {
        self.undo.note(Step::Counts(queue, self.counts.get(&queue).copied()));
        for (cell, delta) in self.counts.entry(queue).or_default().iter_mut().zip(delta) {
            *cell += delta;
        }
        Ok(())
    }

    fn counts(&mut self, queue: i64) -> Result<Counts> {
        Ok(self.counts.get(&queue).copied().unwrap_or_default())
    }

    fn job_type_id(&mut self, name: &str) -> Result<i64> {
        if let Some(num) = self.job_type_ids.get(name) {
            return Ok(*num);
        }
        let name: Arc<str> = name.into();
        self.job_type_names.push(Arc::clone(&name));
        let num = i64::try_from(self.job_type_names.len()).unwrap_or(i64::MAX);
        self.job_type_ids.insert(Arc::clone(&name), num);
        self.undo_by(move |tables| {
            tables.job_type_names.pop();
            tables.job_type_ids.remove(&name);
        });
        Ok(num)
    }

    fn job_type_name(&mut self, num: i64) -> Result<Arc<str>> {
        self.job_type_of(num).cloned().ok_or_else(|| StoreError::Failed(format!("no job type with number {num}")))
    }

    fn worker(&mut self, id: &str) -> Result<WorkerRow> {
        if let Some(worker) = self.worker_nums.get(id).and_then(|num| self.workers.get(num)) {
            return Ok(worker.clone());
        }
        self.last_worker += 1;
        let worker = WorkerRow::fresh(self.last_worker, id);
        self.worker_nums.insert(Arc::clone(&worker.id), worker.num);
        self.workers.insert(worker.num, worker.clone());
        let (num, id) = (worker.num, Arc::clone(&worker.id));
        self.undo_by(move |tables| {
            tables.workers.remove(&num);
            tables.worker_nums.remove(&id);
            tables.last_worker = num - 1;
        });
        Ok(worker)
    }

    fn worker_name(&mut self, num: i64) -> Result<Option<Arc<str>>> {
        Ok(self.workers.get(&num).map(|worker| Arc::clone(&worker.id)))
    }

    fn save_worker(&mut self, worker: &WorkerRow) -> Result<()> {
        let before = self.workers.insert(worker.num, worker.clone());
        let num = worker.num;
        self.undo_by(move |tables| match before {
            Some(before) => _ = tables.workers.insert(num, before),
            None => _ = tables.workers.remove(&num),
        });
        Ok(())
    }

    fn silent_workers(&mut self, since: i64) -> Result<Vec<WorkerRow>> {
        Ok(self.workers.values().filter(|worker| worker.beat_at > 0 && worker.beat_at <= since).cloned().collect())
    }

    fn forget_worker(&mut self, num: i64) -> Result<()> {
        if let Some(worker) = self.workers.remove(&num) {
            self.worker_nums.remove(&worker.id);
            self.undo_by(move |tables| tables.know_worker(worker));
        }
        Ok(())
    }

    fn prune_workers(&mut self) -> Result<()> {
        let holding: std::collections::HashSet<i64> =
            self.leases.iter().filter_map(|(_, seq)| self.jobs.get(seq)).map(|stored| stored.row.worker).collect();
        let (kept, gone) = std::mem::take(&mut self.workers)
            .into_iter()
            .partition::<BTreeMap<_, _>, _>(|(num, worker)| worker.beat_at > 0 || holding.contains(num));
        self.workers = kept;
        self.worker_nums.retain(|_, num| self.workers.contains_key(num));
        self.undo_by(move |tables| gone.into_values().for_each(|worker| tables.know_worker(worker)));
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
