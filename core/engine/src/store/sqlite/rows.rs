//! Rows to and from SQLite columns, in the order of the `.sql` files.
use ojs_model::unique::UniqueKey;
use ojs_model::{JobId, JobState, NewJob};
use rusqlite::{CachedStatement, Row};

use crate::features::queue_config::records::StoredSettings;
use crate::kernel::holds::Holds;
use crate::kernel::job::{Body, JobRow};
use crate::store::rows::{QueuePhase, QueueRow, WorkerRow, fresh_settings};

/// Columns of a job in every `SELECT`.
pub const JOB_COLUMNS: usize = 26;

pub fn read_job(row: &Row<'_>) -> rusqlite::Result<JobRow> {
    let id: [u8; 16] = row.get(1)?;
    let state: u8 = row.get(4)?;
    let (holds, priority) = Holds::of_rank(row.get(5)?);
    Ok(JobRow {
        seq: row.get(0)?,
        id: JobId::from_bytes(id),
        queue: row.get(2)?,
        job_type_id: row.get(3)?,
        state: JobState::from_number(state).ok_or(rusqlite::Error::IntegralValueOutOfRange(4, i64::from(state)))?,
        priority,
        sort_key: row.get(6)?,
        attempt: row.get(7)?,
        releases: row.get(8)?,
        max_attempts: row.get(9)?,
        lease: row.get(10)?,
        worker: row.get(11)?,
        lease_ms: row.get(12)?,
        lease_until: row.get(13)?,
        deadline: row.get(14)?,
        created_at: row.get(15)?,
        enqueued_at: row.get(16)?,
        started_at: row.get(17)?,
        finished_at: row.get(18)?,
        activated_at: row.get(19)?,
        expires_at: row.get(20)?,
        retry_delay: row.get(21)?,
        flags: row.get(22)?,
        workflow: row.get(23)?,
        step: row.get(24)?,
        limit: row.get(25)?,
        holds,
    })
}

pub fn read_body(row: &Row<'_>, from: usize) -> rusqlite::Result<Body> {
    Ok(Body {
        text: row.get(from)?,
        retry: row.get(from + 1)?,
        timeout_ms: row.get(from + 2)?,
        grace_ms: row.get(from + 3)?,
        visibility_ms: row.get(from + 4)?,
    })
}

pub fn read_queue(row: &Row<'_>) -> rusqlite::Result<QueueRow> {
    let name: String = row.get(1)?;
    Ok(QueueRow {
        num: row.get(0)?,
        name: name.into(),
        paused: row.get(2)?,
        created_at: row.get(3)?,
        rate: row.get(4)?,
        tokens: row.get(5)?,
        filled_at: row.get(6)?,
        burst: row.get(7)?,
        phase: QueuePhase::from_number(row.get(8)?),
        settings: StoredSettings::read(row.get_ref(9)?.as_str()?, row.get_ref(10)?.as_str()?),
    })
}

pub fn read_worker(row: &Row<'_>) -> rusqlite::Result<WorkerRow> {
    let id: String = row.get(1)?;
    let info: String = row.get(6)?;
    Ok(WorkerRow {
        num: row.get(0)?,
        id: id.into(),
        phase: row.get(2)?,
        beat_at: row.get(3)?,
        directive: row.get(4)?,
        first_at: row.get(5)?,
        info: info.into(),
    })
}

/// Binds the values in order and runs the statement. As `params!`, without a call through a table for every value.
macro_rules! execute {
    ($statement:expr, $($value:expr),+ $(,)?) => {{
        let mut place = 0;
        $(
            place += 1;
            $statement.raw_bind_parameter(place, $value)?;
        )+
        $statement.raw_execute()
    }};
}

/// A fresh row: what a claim sets later is 0 in the statement itself.
pub fn bind_insert(statement: &mut CachedStatement<'_>, row: &JobRow, unique: Option<&UniqueKey>) -> rusqlite::Result<usize> {
    execute!(
        statement,
        &row.id.as_bytes()[..],
        row.queue,
        row.job_type_id,
        row.state as u8,
        row.rank(),
        row.sort_key,
        row.max_attempts,
        row.created_at,
        row.enqueued_at,
        row.finished_at,
        row.expires_at,
        row.flags,
        unique.map(|key| &key.as_bytes()[..]),
        row.workflow,
        row.step,
        row.limit,
    )
}

/// The fixed part of a job, its text straight from the request.
pub fn bind_new_body(statement: &mut CachedStatement<'_>, seq: i64, job: &NewJob) -> rusqlite::Result<usize> {
    let Body { retry, timeout_ms, grace_ms, visibility_ms, .. } = fresh_settings(job);
    execute!(statement, seq, &job.body, retry, timeout_ms, grace_ms, visibility_ms)
}

pub fn bind_update(statement: &mut CachedStatement<'_>, row: &JobRow) -> rusqlite::Result<usize> {
    execute!(
        statement,
        row.seq,
        row.state as u8,
        row.sort_key,
        row.attempt,
        row.releases,
        row.lease,
        row.worker,
        row.lease_ms,
        row.lease_until,
        row.deadline,
        row.enqueued_at,
        row.started_at,
        row.finished_at,
        row.activated_at,
        row.expires_at,
        row.retry_delay,
        row.flags,
    )
}
