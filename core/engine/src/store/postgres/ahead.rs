//! Reading ahead: the rows that a group of commands will ask for, in one exchange.
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ojs_model::JobId;
use tokio_postgres::Row;

use super::connection::Ask;
use super::line::{BEGINNING, Place};
use super::params::uuid;
use super::records::PostgresRow;
use super::rows::{read_job, read_whole};
use super::{PostgresTables, limit};
use crate::error::Result;
use crate::features::limits::records::LimitRow;
use crate::features::pools::records::PoolRow;
use crate::kernel::job::{JobRow, flag};
use crate::store::record::text;
use crate::store::record::{Reader, Record as _};
use crate::store::rows::WorkerRow;
use crate::store::wanted::Wanted;

impl PostgresTables {
    /// Reads in one exchange what the commands of a group will ask for.
    pub(super) fn read_ahead(&mut self, wanted: &Wanted<'_>) -> Result<()> {
        let ids = self.wanted_rows(wanted);
        let uuids: Vec<_> = ids.iter().map(|id| uuid(*id)).collect();
        let workers: Vec<&str> = wanted.workers.iter().copied().collect::<HashSet<_>>().into_iter().collect();
        let queues = self.wanted_jobs(wanted);
        let mut asks = Vec::new();
        if !uuids.is_empty() {
            asks.push(Ask::new(sql!("lock_by_id"), &[&uuids]));
        }
        if !workers.is_empty() {
            asks.push(Ask::new(text::find_many(WorkerRow::TABLE, WorkerRow::ID), &[&workers]));
        }
        for (queue, count, (rank, ticket)) in &queues {
            asks.push(Ask::new(sql!("ready"), &[queue, count, rank, ticket]));
        }
        if asks.is_empty() && self.open {
            return Ok(());
        }
        let mut answers = self.ask(&asks)?.into_iter();
        if !uuids.is_empty() {
            self.keep_rows(&ids, &answers.next().unwrap_or_default().rows)?;
        }
        if !workers.is_empty() {
            for row in &answers.next().unwrap_or_default().rows {
                let row = PostgresRow { row, first: 0 };
                self.names.keep_worker(&WorkerRow::read(&mut Reader::new(WorkerRow::TABLE, &row))?);
            }
        }
        for ((queue, count, start), answer) in queues.iter().zip(answers) {
            self.keep_pool(*queue, usize::try_from(*count).unwrap_or(0), *start, &answer.rows)?;
        }
        self.lock_trains(&wanted.trains)
    }

    /// Locks the trains that the group will change, in the order of their numbers: two groups cannot wait for each
    /// other. Groups without jobs of trains ask nothing.
    fn lock_trains(&mut self, joined: &[(&str, &str)]) -> Result<()> {
        let leads = |row: &&JobRow| row.has(flag::CAR) && !row.has(flag::WAITS);
        let leaving: Vec<_> = self.unit_of_work.seen().filter(leads).map(|row| uuid(row.id)).collect();
        if !self.writes() || leaving.is_empty() && joined.is_empty() {
            return Ok(());
        }
        let (tenants, ids): (Vec<&str>, Vec<&str>) = joined.iter().copied().unzip();
        self.query(sql!("lock_trains"), &[&leaving, &tenants, &ids]).map(drop)
    }

    /// Reads a line from a place on.
    pub(super) fn read_line(&mut self, queue: i64, wanted: usize, start: Place) -> Result<()> {
        let rows = self.query(sql!("ready"), &[&queue, &limit(wanted), &start.0, &start.1])?;
        self.keep_pool(queue, wanted, start, &rows)
    }

    fn keep_pool(&mut self, queue: i64, wanted: usize, start: Place, rows: &[Row]) -> Result<()> {
        let full = rows.len() >= wanted;
        let jobs = rows.iter().map(read_whole).collect::<Result<Vec<_>>>()?;
        let last = jobs.last().filter(|_| full).map(|(row, _)| (i64::from(row.rank()), row.sort_key));
        self.node.lines().note(queue, start, last);
        let pool = self.unit_of_work.pools.entry(queue).or_default();
        // Before the place it was read from there may be more.
        pool.exhausted = !full && start == BEGINNING;
        pool.jobs.extend(jobs);
        Ok(())
    }

    /// Rows of jobs that are going to be asked for, those that are not there included.
    pub(super) fn keep_rows(&mut self, wanted: &[JobId], rows: &[Row]) -> Result<()> {
        for row in rows {
            self.unit_of_work.refresh(read_job(row)?);
        }
        for id in wanted {
            if self.unit_of_work.row(*id).is_none() {
                self.unit_of_work.note_absent(*id);
            }
        }
        Ok(())
    }

    /// Jobs whose rows must be read before the group runs; leases of this process are taken from memory.
    pub(super) fn wanted_rows(&mut self, rows: &Wanted<'_>) -> Vec<JobId> {
        let mut wanted: HashSet<(JobId, Option<i64>)> = rows.jobs.iter().copied().collect();
        wanted.retain(|(id, _)| self.unit_of_work.row(*id).is_none() && !self.unit_of_work.is_absent(*id));
        if self.careful {
            // A plain job's id is taken for new otherwise; the insert says when it is not.
            wanted.extend(rows.new_jobs.iter().map(|id| (*id, None)));
        }
        if !self.careful {
            let node = Arc::clone(&self.node);
            let leased = node.leased();
            // Only where the token fits, so that the job will be changed and the change be checked: what is remembered
            // may be out of date, and no command may be refused because of it. The row of a job with a place in a train
            // is locked before its train, by all commands.
            wanted.retain(|(id, lease)| match leased.row(*id) {
                Some(row) if *lease == Some(row.lease) && !row.has(flag::CAR) => {
                    self.unit_of_work.track(row.clone());
                    false
                }
                _ => true,
            });
        }
        wanted.into_iter().map(|(id, _)| id).collect()
    }

    /// Jobs that the claims of a group want from their first queues.
    fn wanted_jobs(&self, rows: &Wanted<'_>) -> Vec<(i64, i64, Place)> {
        let mut wanted: HashMap<i64, i64> = HashMap::new();
        for (name, count) in &rows.claims {
            let queue = self.names.queue(name).filter(|queue| !queue.paused && queue.rate <= 0.0);
            if let Some(queue) = queue {
                *wanted.entry(queue.num).or_default() += i64::try_from(*count).unwrap_or(i64::MAX);
            }
        }
        if !self.is_known_empty(PoolRow::TABLE) {
            // A pool may divide the claim among several queues: what is read ahead of one is locked for nothing.
            return Vec::new();
        }
        let lines = self.node.lines();
        // The jobs of a key must start in their order, and keys that open put jobs back into their old places.
        let start = |queue| if self.is_known_empty(LimitRow::TABLE) { lines.start(queue) } else { BEGINNING };
        wanted.into_iter().map(|(queue, count)| (queue, count, start(queue))).collect()
    }
}
