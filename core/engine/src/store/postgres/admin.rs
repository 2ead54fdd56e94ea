//! Lists and counts for operators in PostgreSQL.
//!
//! What is indexed: available jobs by queue, scheduled, retryable and active ones by time, pending, cancelled and discarded ones by
//! partial indexes. Lists of completed jobs and of all states run backwards from the newest job and stop when the page is full.
use ojs_model::JobState;

use super::connection::Ask;
use super::names::read_worker;
use super::rows::{get, read_job};
use super::{PostgresTables, limit};
use crate::error::Result;
use crate::features::admin::records::AdminTables;
use crate::kernel::counters::TICKETS_PER_MILLI;
use crate::kernel::job::JobRow;
use crate::store::rows::{Counts, JobFilter, WorkerRow};
use crate::store::tables::Tables;

/// The statement of a file for one state and order. The state stands in the text: only then may the planner use its partial index.
fn listing(sql: &str, filter: &JobFilter) -> String {
    let state = match filter.state {
        None => "TRUE".to_owned(),
        Some(JobState::Active) => "state = 3 AND seq IN (SELECT seq FROM ojs_active)".to_owned(),
        Some(JobState::Completed) => "state = 4".to_owned(),
        Some(state) => format!("place = {}", state as u8),
    };
    sql.replace("WHERE TRUE", &format!("WHERE {state}")).replace("seq DESC", filter.order())
}

impl PostgresTables {
    /// A page of jobs and one more.
    pub(super) fn list_jobs(&mut self, filter: &JobFilter) -> Result<Vec<JobRow>> {
        self.flush()?;
        let queue = self.queue_wanted(filter.queue.as_deref())?;
        let sql = listing(sql!("jobs"), filter);
        let (most, skip) = (limit(filter.limit + 1), limit(filter.offset));
        let ask = Ask::once(&sql, &[&queue, &filter.job_type, &filter.since, &filter.until, &most, &skip, &filter.after]);
        let answers = self.ask(&[ask])?;
        answers.iter().flat_map(|answer| &answer.rows).map(read_job).collect()
    }
}

impl AdminTables for PostgresTables {
    fn count_jobs(&mut self, filter: &JobFilter, most: usize) -> Result<usize> {
        self.flush()?;
        let queue = self.queue_wanted(filter.queue.as_deref())?;
        let sql = listing(sql!("count_jobs"), filter);
        let most = limit(most);
        let answers = self.ask(&[Ask::once(&sql, &[&queue, &filter.job_type, &filter.since, &filter.until, &most])])?;
        let counted: i64 = answers.iter().flat_map(|answer| &answer.rows).next().map(|row| get(row, 0)).transpose()?.unwrap_or(0);
        Ok(usize::try_from(counted).unwrap_or(0))
    }

    fn all_counts(&mut self) -> Result<Vec<(i64, Counts)>> {
        let mut all: Vec<(i64, Counts)> = Vec::new();
        for row in self.query(sql!("all_counts"), &[])? {
            let (queue, state, jobs): (i64, i16, i64) = (get(&row, 0)?, get(&row, 1)?, get(&row, 2)?);
            if all.last().is_none_or(|(last, _)| *last != queue) {
                all.push((queue, Counts::default()));
            }
            if let Some(cell) =
                all.last_mut().and_then(|(_, counts)| counts.get_mut(usize::try_from(state).unwrap_or(usize::MAX)))
            {
                *cell = jobs;
            }
        }
        Ok(all)
    }

    fn oldest_available(&mut self, queue: i64) -> Result<Option<i64>> {
        let rows = self.query(sql!("oldest_available"), &[&queue])?;
        let ticket: Option<i64> = rows.first().map(|row| get(row, 0)).transpose()?.flatten();
        Ok(ticket.map(|ticket| ticket / TICKETS_PER_MILLI))
    }

    fn workers(&mut self) -> Result<Vec<(WorkerRow, usize)>> {
        let rows = self.query(sql!("workers"), &[])?;
        let read = |row| Ok((read_worker(row)?, usize::try_from(get::<i64>(row, 7)?).unwrap_or(0)));
        rows.iter().map(read).collect()
    }

    fn busy_workers(&mut self) -> Result<Vec<(i64, i64)>> {
        self.query(sql!("busy_workers"), &[])?.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?))).collect()
    }
}
