//! Names that have numbers (queues, job types, workers): one record each, and what a connection keeps in memory of
//! them.
//!
//! Each job names its queue and its type, so connections keep these records in memory. They drop them when another
//! writer may have changed them: SQLite notices its commits, PostgreSQL announces them by an epoch.
use std::sync::Arc;

use foldhash::HashMap;
use ojs_model::Timestamp;

use crate::error::{Result, StoreError};
use crate::features::queue_config::records::StoredSettings;
use crate::kernel::scope::Scope;
use crate::store::record::{InMemory, Read, RecordTables, Records, Scan, record};
use crate::store::rows::{QueuePhase, QueueRow, WorkerRow};

record! {
    /// A queue as its table has it: [`QueueRow`] with its settings as text.
    #[derive(Debug, Clone, PartialEq)]
    pub struct StoredQueue in "queues" {
        numbered ("num");
        fixed ("name", "created_at");
        unique NAME = "queues_name" ("name");
        /// Number of its name.
        pub num: i64,
        /// Its name.
        pub name: Arc<str>,
        /// Whether it is paused: it hands out no jobs.
        pub paused: bool,
        /// First use.
        pub created_at: i64,
        /// Jobs per second it hands out; 0 is no limit.
        pub rate: f64,
        /// Tokens left in the bucket.
        pub tokens: f64,
        /// When the bucket was last filled.
        pub filled_at: i64,
        /// Capacity of the bucket; 0 means the jobs of one second.
        pub burst: f64,
        /// Whether it takes jobs.
        pub phase: QueuePhase,
        /// Settings by an operator, as JSON; empty for none.
        pub config: String,
        /// Settings that override the template.
        pub effective: String,
    }
}

impl From<StoredQueue> for QueueRow {
    fn from(stored: StoredQueue) -> Self {
        let settings = StoredSettings::read(&stored.config, &stored.effective);
        let StoredQueue { num, name, paused, created_at, rate, tokens, filled_at, burst, phase, .. } = stored;
        Self { num, name, paused, created_at, rate, tokens, filled_at, burst, phase, settings }
    }
}

impl From<&QueueRow> for StoredQueue {
    fn from(queue: &QueueRow) -> Self {
        let (config, effective) = queue.settings.texts();
        let QueueRow { num, paused, created_at, rate, tokens, filled_at, burst, phase, .. } = *queue;
        let name = Arc::clone(&queue.name);
        Self { num, name, paused, created_at, rate, tokens, filled_at, burst, phase, config, effective }
    }
}

record! {
    /// A job type and its number.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct JobTypeRow in "kinds" {
        numbered ("num");
        fixed ("name");
        unique NAME = "kinds_name" ("name");
        /// The number.
        pub num: i64,
        /// The job type.
        pub name: Arc<str>,
    }
}

/// The records that a connection keeps in memory.
#[derive(Debug, Default)]
pub struct Names {
    queues: HashMap<Arc<str>, QueueRow>,
    queue_nums: HashMap<i64, QueueRow>,
    job_type_ids: HashMap<Arc<str>, i64>,
    job_type_names: HashMap<i64, Arc<str>>,
    workers: HashMap<Arc<str>, WorkerRow>,
    worker_ids: HashMap<i64, Arc<str>>,
    /// Cached records of declared tables, by name of the table.
    pub remembered: HashMap<&'static str, InMemory>,
    /// The open transaction has changed settings of a queue that other connections may remember.
    pub changed: bool,
    /// Whether other machines write to the store, too.
    pub is_shared: bool,
    /// The tenant whose jobs the running command or query may see.
    pub scope: Scope,
    /// Number of this connection for its counters: connections that write at the same time have different ones.
    pub shard: i64,
}

/// Workers remembered; beyond that they are looked up again.
const MAX_WORKERS: usize = 10_000;

impl Names {
    /// For a store to which other machines write as well; `shard` identifies the connection in the counters.
    #[must_use]
    pub fn shared(shard: i64) -> Self {
        Self { is_shared: true, shard, ..Self::default() }
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        let scope = std::mem::take(&mut self.scope);
        *self = Self { is_shared: self.is_shared, changed: self.changed, scope, shard: self.shard, ..Self::default() };
    }

    /// Forgets what workers last reported; their numbers stay.
    pub fn forget_reports(&mut self) {
        self.workers.clear();
    }

    /// Forgets all workers.
    pub fn forget_workers(&mut self) {
        self.workers.clear();
        self.worker_ids.clear();
    }

    /// A queue that is known by its name.
    #[must_use]
    pub fn queue(&self, name: &str) -> Option<&QueueRow> {
        self.queues.get(name)
    }

    fn keep_queue(&mut self, queue: &QueueRow) {
        self.queues.insert(Arc::clone(&queue.name), queue.clone());
        self.queue_nums.insert(queue.num, queue.clone());
    }

    fn keep_job_type(&mut self, num: i64, name: &Arc<str>) {
        self.job_type_ids.insert(Arc::clone(name), num);
        self.job_type_names.insert(num, Arc::clone(name));
    }

    /// Keeps a worker as it was just read or written.
    pub fn keep_worker(&mut self, worker: &WorkerRow) {
        if self.worker_ids.len() >= MAX_WORKERS {
            self.worker_ids.clear();
        }
        if self.workers.len() >= MAX_WORKERS {
            self.workers.clear();
        }
        self.worker_ids.insert(worker.num, Arc::clone(&worker.id));
        self.workers.insert(Arc::clone(&worker.id), worker.clone());
    }
}

fn vanished(what: &str) -> StoreError {
    StoreError::Conflict(format!("{what} was removed meanwhile"))
}

/// Queues, job types and workers. Every method fails only when the store cannot be read or written, or with a
/// [`StoreError::Conflict`] when another writer has changed what was read.
pub trait NameTables: RecordTables {
    /// What this connection keeps in memory.
    fn names(&mut self) -> &mut Names;

    /// The queue of a name, created when missing.
    fn queue(&mut self, name: &str, now: Timestamp) -> Result<QueueRow> {
        if let Some(queue) = self.find_queue(name)? {
            return Ok(queue);
        }
        let fresh = QueueRow::fresh(0, name, now.as_millis());
        match Records::of(self).insert(&StoredQueue::from(&fresh))? {
            Some(num) => {
                let queue = QueueRow { num, ..fresh };
                self.names().keep_queue(&queue);
                Ok(queue)
            }
            // Another writer has created it meanwhile.
            None => self.find_queue(name)?.ok_or_else(|| vanished("a queue")),
        }
    }

    /// The queue of a name, if it was ever used.
    fn find_queue(&mut self, name: &str) -> Result<Option<QueueRow>> {
        if let Some(queue) = self.names().queues.get(name) {
            return Ok(Some(queue.clone()));
        }
        let found: Option<StoredQueue> = Records::of(self).find(StoredQueue::NAME, &name, Read::Plain)?;
        let found = found.map(QueueRow::from);
        if let Some(queue) = &found {
            self.names().keep_queue(queue);
        }
        Ok(found)
    }

    /// Number of the queue that a filter names; 0, which no job has, when there is none of that name.
    fn queue_wanted(&mut self, name: Option<&str>) -> Result<Option<i64>> {
        let Some(name) = name else { return Ok(None) };
        Ok(Some(self.find_queue(name)?.map_or(0, |queue| queue.num)))
    }

    /// The queue of a number.
    fn queue_by_num(&mut self, num: i64) -> Result<QueueRow> {
        match self.names().queue_nums.get(&num) {
            Some(queue) => Ok(queue.clone()),
            None => self.read_queue(num, Read::Plain),
        }
    }

    /// The queue as it is now, held until the end of the transaction: for what only one writer at a time may decide.
    fn lock_queue(&mut self, num: i64) -> Result<QueueRow> {
        if self.names().is_shared { self.read_queue(num, Read::Held) } else { self.queue_by_num(num) }
    }

    /// The queue of a number as the store has it.
    fn read_queue(&mut self, num: i64, read: Read) -> Result<QueueRow> {
        let found: Option<StoredQueue> = Records::of(self).find(StoredQueue::KEY, &num, read)?;
        let queue = QueueRow::from(found.ok_or_else(|| vanished("a queue"))?);
        self.names().keep_queue(&queue);
        Ok(queue)
    }

    /// All queues by name.
    fn queues(&mut self) -> Result<Vec<QueueRow>> {
        let stored: Vec<StoredQueue> = Records::of(self).scan(&Scan::over(StoredQueue::NAME))?;
        Ok(stored.into_iter().map(QueueRow::from).collect())
    }

    /// Writes everything but number, name and first use. Where others write as well, the row was read by
    /// [`lock_queue`](Self::lock_queue).
    fn save_queue(&mut self, queue: &QueueRow) -> Result<()> {
        let names = self.names();
        // The level of the bucket is read under the lock by the code that decides by it.
        let only_level =
            |known: &QueueRow| QueueRow { tokens: queue.tokens, filled_at: queue.filled_at, ..known.clone() } == *queue;
        names.changed |= !names.queue_nums.get(&queue.num).is_some_and(only_level);
        names.keep_queue(queue);
        Records::of(self).put(&StoredQueue::from(queue))
    }

    /// Number of a job type, made when missing.
    fn job_type_id(&mut self, name: &str) -> Result<i64> {
        if let Some(num) = self.find_job_type_id(name)? {
            return Ok(num);
        }
        let name: Arc<str> = name.into();
        match Records::of(self).insert(&JobTypeRow { num: 0, name: Arc::clone(&name) })? {
            Some(num) => {
                self.names().keep_job_type(num, &name);
                Ok(num)
            }
            // Another writer has created it meanwhile.
            None => self.find_job_type_id(&name)?.ok_or_else(|| vanished("a job type")),
        }
    }

    /// Number of a job type that some job has had; never makes one.
    fn find_job_type_id(&mut self, name: &str) -> Result<Option<i64>> {
        if let Some(num) = self.names().job_type_ids.get(name) {
            return Ok(Some(*num));
        }
        let found: Option<JobTypeRow> = Records::of(self).find(JobTypeRow::NAME, &name, Read::Plain)?;
        if let Some(JobTypeRow { num, name }) = &found {
            self.names().keep_job_type(*num, name);
        }
        Ok(found.map(|row| row.num))
    }

    /// Numbers of those of the types that some job has had, read in one exchange.
    fn find_job_type_ids(&mut self, names: &[String]) -> Result<Vec<i64>> {
        let mut nums = Vec::with_capacity(names.len());
        let mut unknown = Vec::new();
        for name in names {
            match self.names().job_type_ids.get(name.as_str()) {
                Some(num) => nums.push(*num),
                None => unknown.push(name.as_str()),
            }
        }
        let found: Vec<JobTypeRow> =
            if unknown.is_empty() { Vec::new() } else { Records::of(self).find_all(JobTypeRow::NAME, &unknown)? };
        for JobTypeRow { num, name } in &found {
            self.names().keep_job_type(*num, name);
            nums.push(*num);
        }
        Ok(nums)
    }

    /// Job type of a number.
    fn job_type_name(&mut self, num: i64) -> Result<Arc<str>> {
        if let Some(name) = self.names().job_type_names.get(&num) {
            return Ok(Arc::clone(name));
        }
        let found: Option<JobTypeRow> = Records::of(self).get(&num)?;
        let name = found.ok_or_else(|| vanished("a job type"))?.name;
        self.names().keep_job_type(num, &name);
        Ok(name)
    }

    /// The worker of an id, created when missing.
    fn worker(&mut self, id: &str) -> Result<WorkerRow> {
        if let Some(worker) = self.names().workers.get(id) {
            return Ok(worker.clone());
        }
        let mut found: Option<WorkerRow> = Records::of(self).find(WorkerRow::ID, &id, Read::Plain)?;
        if found.is_none() {
            let fresh = WorkerRow::fresh(0, id);
            found = match Records::of(self).insert(&fresh)? {
                Some(num) => Some(WorkerRow { num, ..fresh }),
                // Another writer has created it meanwhile.
                None => Records::of(self).find(WorkerRow::ID, &id, Read::Plain)?,
            };
        }
        let worker = found.ok_or_else(|| vanished("a worker"))?;
        self.names().keep_worker(&worker);
        Ok(worker)
    }

    /// Id of a worker number.
    fn worker_name(&mut self, num: i64) -> Result<Option<Arc<str>>> {
        if let Some(id) = self.names().worker_ids.get(&num) {
            return Ok(Some(Arc::clone(id)));
        }
        let found: Option<WorkerRow> = Records::of(self).get(&num)?;
        Ok(found.map(|worker| {
            self.names().keep_worker(&worker);
            worker.id
        }))
    }

    /// Writes everything but number and id.
    fn save_worker(&mut self, worker: &WorkerRow) -> Result<()> {
        self.names().keep_worker(worker);
        Records::of(self).put(worker)
    }

    /// All workers by id.
    fn all_workers(&mut self) -> Result<Vec<WorkerRow>> {
        Records::of(self).scan(&Scan::over(WorkerRow::ID))
    }

    /// Workers that have sent heartbeats, but none since.
    fn silent_workers(&mut self, since: i64) -> Result<Vec<WorkerRow>> {
        Records::of(self).scan(&Scan::over(WorkerRow::BEATING).to(&since))
    }

    /// Forgets a worker that holds nothing.
    fn forget_worker(&mut self, num: i64) -> Result<()> {
        self.names().forget_workers();
        Records::<WorkerRow, _>::of(self).delete(&num)
    }
}
