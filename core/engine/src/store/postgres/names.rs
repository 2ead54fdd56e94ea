//! Names that have numbers: queues, job types, workers.
use std::collections::HashMap;
use std::sync::Arc;

use ojs_model::Timestamp;
use tokio_postgres::Row;

use super::PostgresTables;
use super::rows::get;
use crate::error::{Result, StoreError};
use crate::features::queue_config::records::StoredSettings;
use crate::store::record::InMemory;
use crate::store::rows::{Directive, QueuePhase, QueueRow, WorkerPhase, WorkerRow};

/// What a connection has learnt, trusted for one epoch.
#[derive(Debug, Default)]
pub struct Names {
    pub queues: HashMap<Arc<str>, QueueRow>,
    pub queue_nums: HashMap<i64, QueueRow>,
    pub job_type_ids: HashMap<Arc<str>, i64>,
    pub job_type_names: HashMap<i64, Arc<str>>,
    pub worker_nums: HashMap<i64, Arc<str>>,
    /// What is kept in memory of declared tables, by name of the table.
    pub remembered: HashMap<&'static str, InMemory>,
    /// Epoch of the settings.
    pub epoch: i64,
}

/// Worker names remembered; beyond that they are looked up again.
const MAX_WORKERS: usize = 10_000;

impl Names {
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    pub fn keep_queue(&mut self, queue: &QueueRow) {
        self.queues.insert(Arc::clone(&queue.name), queue.clone());
        self.queue_nums.insert(queue.num, queue.clone());
    }

    pub fn keep_worker(&mut self, num: i64, id: &Arc<str>) {
        if self.worker_nums.len() >= MAX_WORKERS {
            self.worker_nums.clear();
        }
        self.worker_nums.insert(num, Arc::clone(id));
    }
}

pub fn read_queue(row: &Row) -> Result<QueueRow> {
    let name: String = get(row, 1)?;
    Ok(QueueRow {
        num: get(row, 0)?,
        name: name.into(),
        paused: get(row, 2)?,
        created_at: get(row, 3)?,
        rate: get(row, 4)?,
        tokens: get(row, 5)?,
        filled_at: get(row, 6)?,
        burst: get(row, 7)?,
        phase: QueuePhase::from_number(i64::from(get::<i16>(row, 8)?)),
        settings: StoredSettings::read(get(row, 9)?, get(row, 10)?),
    })
}

pub fn read_worker(row: &Row) -> Result<WorkerRow> {
    let id: String = get(row, 1)?;
    let (phase, directive): (i16, i16) = (get(row, 2)?, get(row, 4)?);
    let info: String = get(row, 6)?;
    Ok(WorkerRow {
        num: get(row, 0)?,
        id: id.into(),
        phase: WorkerPhase::from_number(phase.into()),
        beat_at: get(row, 3)?,
        directive: Directive::from_number(directive.into()),
        first_at: get(row, 5)?,
        info: info.into(),
    })
}

fn vanished(what: &str) -> StoreError {
    StoreError::Conflict(format!("{what} was removed meanwhile"))
}

impl PostgresTables {
    pub(super) fn queue_named(&mut self, name: &str, now: Timestamp) -> Result<QueueRow> {
        if let Some(queue) = self.queue_if_known(name)? {
            return Ok(queue);
        }
        self.execute(sql!("insert_queue"), &[&name, &now.as_millis()])?;
        self.queue_if_known(name)?.ok_or_else(|| vanished("a queue"))
    }

    pub(super) fn queue_if_known(&mut self, name: &str) -> Result<Option<QueueRow>> {
        if let Some(queue) = self.names.queues.get(name) {
            return Ok(Some(queue.clone()));
        }
        let found = self.query(sql!("queue_by_name"), &[&name])?.first().map(read_queue).transpose()?;
        if let Some(queue) = &found {
            self.names.keep_queue(queue);
        }
        Ok(found)
    }

    pub(super) fn queue_numbered(&mut self, num: i64) -> Result<QueueRow> {
        if let Some(queue) = self.names.queue_nums.get(&num) {
            return Ok(queue.clone());
        }
        self.read_queue_by(sql!("queue_by_num"), num)
    }

    /// The queue as it is now, held until the end of the transaction: for what only one writer at a time may decide.
    pub(super) fn queue_locked(&mut self, num: i64) -> Result<QueueRow> {
        self.read_queue_by(sql!("lock_queue"), num)
    }

    fn read_queue_by(&mut self, statement: &'static str, num: i64) -> Result<QueueRow> {
        let found = self.query(statement, &[&num])?.first().map(read_queue).transpose()?;
        let queue = found.ok_or_else(|| vanished("a queue"))?;
        self.names.keep_queue(&queue);
        Ok(queue)
    }

    /// Other nodes learn of changed settings by the epoch. The level of a bucket concerns this node only.
    pub(super) fn store_queue(&mut self, queue: &QueueRow) -> Result<()> {
        let before = self.names.queue_nums.get(&queue.num);
        let quiet = before.is_some_and(|old| old.paused == queue.paused && (old.rate - queue.rate).abs() < f64::EPSILON);
        self.names.keep_queue(queue);
        self.execute(
            sql!("save_queue"),
            &[&queue.num, &queue.paused, &queue.rate, &queue.tokens, &queue.filled_at, &queue.burst],
        )?;
        if quiet { Ok(()) } else { self.new_epoch() }
    }

    /// Makes every connection forget what it knows of queues.
    pub(super) fn new_epoch(&mut self) -> Result<()> {
        self.execute(sql!("bump_epoch"), &[]).map(drop)
    }

    pub(super) fn job_type_named(&mut self, name: &str) -> Result<i64> {
        if let Some(num) = self.names.job_type_ids.get(name) {
            return Ok(*num);
        }
        let known = self.query(sql!("kind_by_name"), &[&name])?;
        let num = match known.first() {
            Some(row) => get(row, 0)?,
            None => {
                self.execute(sql!("insert_kind"), &[&name])?;
                let made = self.query(sql!("kind_by_name"), &[&name])?;
                get(made.first().ok_or_else(|| vanished("a job type"))?, 0)?
            }
        };
        self.names.job_type_ids.insert(name.into(), num);
        Ok(num)
    }

    pub(super) fn job_type_numbered(&mut self, num: i64) -> Result<Arc<str>> {
        if let Some(name) = self.names.job_type_names.get(&num) {
            return Ok(Arc::clone(name));
        }
        let found = self.query(sql!("kind_by_num"), &[&num])?;
        let name: String = get(found.first().ok_or_else(|| vanished("a job type"))?, 0)?;
        let name: Arc<str> = name.into();
        self.names.job_type_names.insert(num, Arc::clone(&name));
        Ok(name)
    }

    /// Workers are read anew in each transaction: heartbeats and directives come through any node.
    pub(super) fn worker_named(&mut self, id: &str) -> Result<WorkerRow> {
        if let Some(worker) = self.unit_of_work.workers.get(id) {
            return Ok(worker.clone());
        }
        let ids = vec![id];
        let mut found = self.query(sql!("workers_by_id"), &[&ids])?;
        if found.is_empty() {
            self.execute(sql!("insert_worker"), &[&id])?;
            found = self.query(sql!("workers_by_id"), &[&ids])?;
        }
        self.keep_workers(&found)?;
        self.unit_of_work.workers.get(id).cloned().ok_or_else(|| vanished("a worker"))
    }

    pub(super) fn keep_workers(&mut self, rows: &[Row]) -> Result<()> {
        for row in rows {
            let worker = read_worker(row)?;
            self.names.keep_worker(worker.num, &worker.id);
            self.unit_of_work.workers.insert(Arc::clone(&worker.id), worker);
        }
        Ok(())
    }

    pub(super) fn worker_numbered(&mut self, num: i64) -> Result<Option<Arc<str>>> {
        if let Some(id) = self.names.worker_nums.get(&num) {
            return Ok(Some(Arc::clone(id)));
        }
        let found = self.query(sql!("worker_by_num"), &[&num])?;
        let Some(row) = found.first() else { return Ok(None) };
        let id: Arc<str> = get::<String>(row, 0)?.into();
        self.names.keep_worker(num, &id);
        Ok(Some(id))
    }

    pub(super) fn workers_silent(&mut self, since: i64) -> Result<Vec<WorkerRow>> {
        self.query(sql!("silent_workers"), &[&since])?.iter().map(read_worker).collect()
    }
}
