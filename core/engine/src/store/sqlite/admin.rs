//! Lists and counts for operators in SQLite.
//!
//! What is indexed: available jobs by queue, and the scheduled, retryable, active, pending, cancelled and discarded ones by partial
//! indexes, so a list of one of these states never reads the others. Lists of completed jobs and of all states run backwards from the
//! newest job and stop when the page is full.
use ojs_model::JobState;
use rusqlite::params;

use super::SqliteTables;
use super::rows::read_worker;
use crate::error::Result;
use crate::features::admin::records::AdminTables;
use crate::kernel::counters::TICKETS_PER_MILLI;
use crate::kernel::job::JobRow;
use crate::store::rows::{Counts, JobFilter, JobSort, WorkerRow};
use crate::store::tables::Tables;

/// Up to so many jobs of a state, reading and sorting all of them is cheaper than looking for them among the finished ones.
const FEW: i64 = 20_000;

impl SqliteTables {
    /// A page of jobs and one more.
    pub(super) fn list_jobs(&mut self, filter: &JobFilter) -> Result<Vec<JobRow>> {
        let sql = self.listing(sql!("jobs"), filter)?;
        let queue = self.queue_wanted(filter.queue.as_deref())?;
        let state = filter.state.map(|state| state as u8);
        let page = (filter.limit + 1, filter.offset);
        self.job_rows(&sql, params![state, queue, filter.job_type, filter.since, filter.until, page.0, page.1, filter.after])
    }

    /// The statement of a file for one state and order. The state stands in the text: only then may the planner use its partial index.
    fn listing(&mut self, sql: &str, filter: &JobFilter) -> Result<String> {
        let Some(state) = filter.state else {
            return Ok(sql.replace("state = ?1", "?1 IS NULL").replace("seq DESC", filter.order()));
        };
        let few = filter.sort != JobSort::Created || self.jobs_in(state)? <= FEW;
        let from = match index_of(state).filter(|_| few) {
            Some(index) => format!("FROM jobs INDEXED BY {index}"),
            None => "FROM jobs NOT INDEXED".to_owned(),
        };
        let literal = format!("?1 IS NOT NULL AND state = {}", state as u8);
        Ok(sql.replace("FROM jobs", &from).replace("state = ?1", &literal).replace("seq DESC", filter.order()))
    }

    fn jobs_in(&mut self, state: JobState) -> Result<i64> {
        let counts = self.all_counts()?;
        Ok(counts.iter().filter_map(|(_, counts)| counts.get(state as usize)).sum())
    }
}

/// The partial index of a state.
fn index_of(state: JobState) -> Option<&'static str> {
    match state {
        JobState::Scheduled => Some("jobs_scheduled"),
        JobState::Available => Some("jobs_ready"),
        JobState::Pending => Some("jobs_pending"),
        JobState::Active => Some("jobs_active"),
        JobState::Retryable => Some("jobs_retryable"),
        JobState::Cancelled => Some("jobs_cancelled"),
        JobState::Discarded => Some("jobs_discarded"),
        JobState::Completed => None,
    }
}

impl AdminTables for SqliteTables {
    fn count_jobs(&mut self, filter: &JobFilter, most: usize) -> Result<usize> {
        let sql = self.listing(sql!("count_jobs"), filter)?;
        let queue = self.queue_wanted(filter.queue.as_deref())?;
        let state = filter.state.map(|state| state as u8);
        let params = params![state, queue, filter.job_type, filter.since, filter.until, most];
        Ok(self.statement(&sql)?.query_row(params, |row| row.get(0))?)
    }

    fn all_counts(&mut self) -> Result<Vec<(i64, Counts)>> {
        let mut statement = self.statement(sql!("all_counts"))?;
        let mut rows = statement.query([])?;
        let mut all: Vec<(i64, Counts)> = Vec::new();
        while let Some(row) = rows.next()? {
            let (queue, state, jobs): (i64, usize, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            if all.last().is_none_or(|(last, _)| *last != queue) {
                all.push((queue, Counts::default()));
            }
            if let Some(cell) = all.last_mut().and_then(|(_, counts)| counts.get_mut(state)) {
                *cell = jobs;
            }
        }
        Ok(all)
    }

    fn oldest_available(&mut self, queue: i64) -> Result<Option<i64>> {
        let mut statement = self.statement(sql!("oldest_available"))?;
        let ticket: Option<i64> = statement.query_row([queue], |row| row.get(0))?;
        Ok(ticket.map(|ticket| ticket / TICKETS_PER_MILLI))
    }

    fn workers(&mut self) -> Result<Vec<(WorkerRow, usize)>> {
        let mut statement = self.statement(sql!("workers"))?;
        let rows = statement.query_map([], |row| Ok((read_worker(row)?, row.get(7)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn busy_workers(&mut self) -> Result<Vec<(i64, i64)>> {
        let mut statement = self.statement(sql!("busy_workers"))?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}
