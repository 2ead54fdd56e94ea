//! A unit of work: rows as one transaction sees them, and what it will write.
//!
//! The rules ask for rows one at a time; the database is asked once for all the rows of a group, and gets each table's changes in one
//! statement. A row is written on the condition that it is still as it was read; a row that this process leased is not even read again.
use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};
use ojs_model::{JobId, JobState, NewJob};

use super::arrays::{Arrays, Gathered, INSERT_JOBS, INSERT_RUNS, PUT_HISTORIES, Puts, UPDATE_RUNS};
use super::connection::{Answer, Ask};
use super::held::Leased;
use super::moves::Moves;
use super::params::Param;
use super::pool::Pool;
use super::rows::{Columns, get};
use crate::error::{Result, StoreError};
use crate::kernel::job::{Body, History, JobRow};
use crate::store::record::{Cell, Table};
use crate::store::row::Section;
use crate::store::rows::{Counts, fresh_settings};

/// A row of this transaction.
#[derive(Debug)]
struct Tracked {
    /// What the database holds; `None` when it holds nothing yet.
    stored: Option<JobRow>,
    now: JobRow,
    /// Changed by this transaction.
    written: bool,
}

/// The fixed part of a new job.
#[derive(Debug)]
struct NewBody {
    body: Body,
    unique: Option<Vec<u8>>,
}

/// What one transaction knows and has changed.
#[derive(Debug, Default)]
pub struct UnitOfWork {
    rows: HashMap<i64, Tracked>,
    ids: HashMap<JobId, i64>,
    absent: HashSet<JobId>,
    /// Rows to insert, in order, with their fixed parts.
    created: Vec<i64>,
    bodies: HashMap<i64, NewBody>,
    /// Rows to update.
    changed: Vec<i64>,
    deleted: Vec<i64>,
    histories: BTreeMap<i64, History>,
    /// In order, as all that several writers may lock.
    counts: BTreeMap<(i64, usize), i64>,
    events: Vec<(i64, i64, String)>,
    /// Records to write.
    gathered: Gathered,
    /// Read ahead, by queue.
    pub pools: HashMap<i64, Pool>,
    /// Uniqueness keys that this transaction has locked.
    pub locked_keys: HashSet<i64>,
    /// The batch in which a claim of this transaction is filed, by job number.
    filed: HashMap<i64, i64>,
    /// Batches of claims that are over with this transaction, in order, and not yet written.
    pub ended: Vec<i64>,
    /// Changes so far.
    changes: u64,
}

impl UnitOfWork {
    /// How many changes there have been, written already or not.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// A row that was read; what this transaction did to it before stands.
    pub fn track(&mut self, row: JobRow) -> JobRow {
        self.ids.insert(row.id, row.seq);
        let tracked = self.rows.entry(row.seq).or_insert_with(|| Tracked { stored: Some(row.clone()), now: row, written: false });
        tracked.now.clone()
    }

    /// A row that was read just now: it replaces what was remembered, but not what this transaction did.
    pub fn refresh(&mut self, row: JobRow) {
        if self.rows.get(&row.seq).is_none_or(|tracked| !tracked.written) {
            self.rows.remove(&row.seq);
            self.track(row);
        }
    }

    pub fn row(&self, id: JobId) -> Option<JobRow> {
        let seq = self.ids.get(&id)?;
        self.rows.get(seq).map(|tracked| tracked.now.clone())
    }

    /// Remembers that there is no such job.
    pub fn note_absent(&mut self, id: JobId) {
        self.absent.insert(id);
    }

    pub fn is_absent(&self, id: JobId) -> bool {
        self.absent.contains(&id)
    }

    /// A job that will be inserted.
    pub fn create(&mut self, job: &NewJob, row: &JobRow) {
        self.changes += 1;
        self.absent.remove(&row.id);
        self.ids.insert(row.id, row.seq);
        self.rows.insert(row.seq, Tracked { stored: None, now: row.clone(), written: true });
        self.created.push(row.seq);
        let body = Body { text: job.body.clone(), ..fresh_settings(job) };
        let unique = job.unique.as_ref().map(|policy| policy.key.as_bytes().to_vec());
        self.bodies.insert(row.seq, NewBody { body, unique });
    }

    pub fn update(&mut self, before: &JobRow, after: &JobRow) {
        self.changes += 1;
        let tracked = self.rows.entry(after.seq).or_insert_with(|| Tracked {
            stored: Some(before.clone()),
            now: before.clone(),
            written: true,
        });
        tracked.written = true;
        if tracked.stored.as_ref() == Some(&tracked.now) {
            self.changed.push(after.seq);
        }
        tracked.now = after.clone();
        self.ids.insert(after.id, after.seq);
        if let Some(pool) = self.pools.get_mut(&after.queue) {
            pool.note(before, Some(after));
        }
    }

    pub fn delete(&mut self, row: &JobRow) {
        self.changes += 1;
        if let Some(pool) = self.pools.get_mut(&row.queue) {
            pool.note(row, None);
        }
        let tracked = self.rows.remove(&row.seq);
        self.ids.remove(&row.id);
        self.absent.insert(row.id);
        self.bodies.remove(&row.seq);
        self.histories.remove(&row.seq);
        // Never written, so nothing to delete: it is skipped when the new rows are collected.
        if tracked.is_none_or(|tracked| tracked.stored.is_some()) {
            self.deleted.push(row.seq);
        }
    }

    /// The fixed part of a job that is not written yet.
    pub fn body(&self, seq: i64) -> Option<Body> {
        self.bodies.get(&seq).map(|new| new.body.clone())
    }

    pub fn history(&self, seq: i64) -> Option<History> {
        self.histories.get(&seq).cloned()
    }

    pub fn set_history(&mut self, seq: i64, history: &History) {
        self.changes += 1;
        self.histories.insert(seq, history.clone());
    }

    /// Adds to a count of a queue: of the jobs in a state, or of its dead letters.
    pub fn add_count(&mut self, queue: i64, state: usize, delta: i64) {
        self.changes += 1;
        *self.counts.entry((queue, state)).or_default() += delta;
    }

    /// What this transaction has added to the counts of a queue so far.
    pub fn counted(&self, queue: i64, counts: &mut Counts) {
        for (state, cell) in counts.iter_mut().enumerate() {
            *cell += self.counts.get(&(queue, state)).copied().unwrap_or(0);
        }
    }

    pub fn append_events(&mut self, at: i64, lines: &str, count: usize) {
        self.changes += 1;
        self.events.push((at, i64::try_from(count).unwrap_or(i64::MAX), lines.to_owned()));
    }

    /// A record that will be written with the others.
    pub fn gather(&mut self, table: &'static Table, number: i64, cells: &[Cell<'_>]) {
        self.changes += 1;
        let (_, records) = self.gathered.entry(table.name).or_insert_with(|| (table, BTreeMap::new()));
        records.insert(number, cells.iter().map(|cell| cell.clone().into_owned()).collect());
    }

    /// Whether a query of this table would miss something.
    pub fn has_gathered(&self, table: &'static Table) -> bool {
        self.gathered.contains_key(table.name)
    }

    /// Claims that were filed: job number and batch.
    pub fn note_filed(&mut self, filed: impl Iterator<Item = (i64, i64)>) {
        self.filed.extend(filed);
    }

    /// Hands over what this transaction, committed by now, has leased and ended.
    pub fn remember(&self, leased: &mut Leased) {
        self.written().filter(|(_, is_leased)| !is_leased).for_each(|(row, _)| leased.end(row.id));
        let claims = self.written().filter(|(_, is_leased)| *is_leased);
        leased.lease(claims.map(|(row, _)| (row, self.filed.get(&row.seq).copied())));
    }

    /// Jobs that this transaction has changed, and whether they are leased now.
    pub fn written(&self) -> impl Iterator<Item = (&JobRow, bool)> {
        let changed = self.rows.values().filter(|tracked| tracked.written);
        changed.map(|tracked| (&tracked.now, tracked.now.state == JobState::Active))
    }

    /// Jobs that this transaction has looked at.
    pub fn seen(&self) -> impl Iterator<Item = &JobRow> {
        self.rows.values().map(|tracked| &tracked.now)
    }

    /// Whether a query of the database would miss something.
    pub fn is_dirty(&self) -> bool {
        !(self.created.is_empty()
            && self.changed.is_empty()
            && self.deleted.is_empty()
            && self.histories.is_empty()
            && self.counts.is_empty()
            && self.events.is_empty()
            && self.gathered.is_empty()
            && self.ended.is_empty())
    }

    /// Takes what is to be written. It counts as written from now on: a failure undoes the whole transaction.
    ///
    /// # Errors
    /// When a column cannot hold its value.
    pub fn take_writes(&mut self, shard: i64) -> Result<Writes> {
        let mut writes = Writes { shard, deleted: std::mem::take(&mut self.deleted), ..Writes::default() };
        for seq in std::mem::take(&mut self.created) {
            if let (Some(tracked), Some(new)) = (self.rows.get_mut(&seq), self.bodies.remove(&seq)) {
                writes.insert(&tracked.now, new)?;
                tracked.stored = Some(tracked.now.clone());
            }
        }
        // Rows are locked in this order: always the same, so that two writers cannot wait for each other.
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        for seq in changed {
            if let Some(tracked) = self.rows.get_mut(&seq)
                && let Some(before) = tracked.stored.as_mut().filter(|before| **before != tracked.now)
            {
                if !writes.moves.take(before, &tracked.now) {
                    writes.update(before, &tracked.now)?;
                }
                before.clone_from(&tracked.now);
            }
        }
        for (seq, history) in std::mem::take(&mut self.histories) {
            writes.history_seqs.push(seq);
            writes.histories.push(&history)?;
        }
        for ((queue, state), delta) in std::mem::take(&mut self.counts).into_iter().filter(|(_, delta)| *delta != 0) {
            writes.counts.push([queue, i64::try_from(state).unwrap_or(0), delta]);
        }
        for (table, records) in std::mem::take(&mut self.gathered).into_values() {
            writes.puts.push(Puts::of(table, records)?);
        }
        writes.events = std::mem::take(&mut self.events);
        writes.ended = std::mem::take(&mut self.ended);
        Ok(writes)
    }
}

/// The changes of a transaction as columns.
#[derive(Debug)]
pub struct Writes {
    shard: i64,
    deleted: Vec<i64>,
    uniques: Vec<Option<Vec<u8>>>,
    created: Arrays,
    bodies: Arrays,
    moves: Moves,
    /// Number, state, lease and end of the lease as they were read.
    before: Columns<4>,
    changed: Arrays,
    history_seqs: Vec<i64>,
    histories: Arrays,
    counts: Columns<3>,
    puts: Vec<Puts>,
    events: Vec<(i64, i64, String)>,
    /// Batches of claims.
    ended: Vec<i64>,
}

impl Default for Writes {
    fn default() -> Self {
        Self {
            shard: 0,
            deleted: Vec::new(),
            uniques: Vec::new(),
            created: Arrays::of::<JobRow>(Section::is_any),
            bodies: Arrays::of::<Body>(Section::is_any),
            moves: Moves::default(),
            before: Columns::with_capacity(0),
            changed: Arrays::of::<JobRow>(Section::is_changeable),
            history_seqs: Vec::new(),
            histories: Arrays::of::<History>(Section::is_any),
            counts: Columns::with_capacity(0),
            puts: Vec::new(),
            events: Vec::new(),
            ended: Vec::new(),
        }
    }
}

impl Writes {
    fn insert(&mut self, row: &JobRow, new: NewBody) -> Result<()> {
        self.uniques.push(new.unique);
        self.created.push(row)?;
        self.bodies.push(&new.body)
    }

    /// The row must still be as it was read.
    fn update(&mut self, before: &JobRow, row: &JobRow) -> Result<()> {
        self.before.push([row.seq, before.state as i64, before.lease, before.lease_until]);
        self.changed.push(row)
    }

    /// The statements, in the order that they must run in. Events come last: their number is taken when all rows are held.
    ///
    /// # Errors
    /// When a column is missing.
    pub fn asks(&self) -> Result<Vec<Ask<'_>>> {
        let mut asks = Vec::new();
        if !self.deleted.is_empty() {
            asks.push(Ask::new(sql!("delete_jobs"), &[&self.deleted]));
        }
        if !self.created.is_empty() {
            let keys = [self.created.param("seq")?, self.created.param("id")?];
            asks.push(Ask::with(&INSERT_JOBS, keys.into_iter().chain(self.bodies.params()).collect()));
            let uniques: &dyn Param = &self.uniques;
            asks.push(Ask::with(&INSERT_RUNS, std::iter::once(uniques).chain(self.created.params()).collect()));
        }
        asks.extend(self.moves.asks());
        if !self.changed.is_empty() {
            let before = self.before.0.iter().map(|column| column as &dyn Param);
            asks.push(Ask::with(&UPDATE_RUNS, before.chain(self.changed.params()).collect()));
        }
        if !self.histories.is_empty() {
            let seqs: &dyn Param = &self.history_seqs;
            asks.push(Ask::with(&PUT_HISTORIES, std::iter::once(seqs).chain(self.histories.params()).collect()));
        }
        asks.extend(self.puts.iter().map(|puts| Ask::with(puts.sql, puts.params())));
        if !self.counts.is_empty() {
            let [queues, states, jobs] = &self.counts.0;
            asks.push(Ask::new(sql!("add_counts"), &[&self.shard, queues, states, jobs]));
        }
        if !self.ended.is_empty() {
            asks.push(Ask::new(sql!("end_claims"), &[&self.ended]));
        }
        for (at, count, lines) in &self.events {
            asks.push(Ask::new(sql!("append_events"), &[at, count, lines]));
        }
        Ok(asks)
    }

    /// Job numbers of claims, and the batch they were filed in.
    pub fn filed<'a>(&'a self, asks: &[Ask<'_>], answers: &[Answer]) -> Result<impl Iterator<Item = (i64, i64)> + use<'a>> {
        let answer =
            asks.iter().zip(answers).find(|(ask, _)| ask.sql == sql!("file_claims")).and_then(|(_, answer)| answer.rows.first());
        let batch: Option<i64> = answer.map(|row| get(row, 0)).transpose()?;
        Ok(batch.into_iter().flat_map(|batch| self.moves.claimed().iter().map(move |seq| (*seq, batch))))
    }

    /// Whether every row was as it was read, and every id new.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when not: the transaction must be undone and tried again with fresh rows.
    pub fn check(&self, asks: &[Ask<'_>], answers: &[Answer]) -> Result<()> {
        for (ask, answer) in asks.iter().zip(answers) {
            let known = [(INSERT_JOBS.as_str(), self.created.len(), "ids"), (UPDATE_RUNS.as_str(), self.changed.len(), "rows")];
            let put = || self.puts.iter().find(|puts| puts.sql == ask.sql).map(|puts| (puts.rows, "records"));
            let moved = || self.moves.expected(ask.sql).map(|moved| (moved, "rows"));
            let found = known.into_iter().find(|(sql, ..)| *sql == ask.sql).map(|(_, expected, what)| (expected, what));
            let Some((expected, what)) = found.or_else(moved).or_else(put) else { continue };
            if answer.changed != expected as u64 {
                let text = format!(
                    "{} of {expected} {what} were taken or changed by another writer",
                    expected as u64 - answer.changed.min(expected as u64)
                );
                return Err(StoreError::Conflict(text));
            }
        }
        Ok(())
    }
}
