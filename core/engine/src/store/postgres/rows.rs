//! Rows to and from PostgreSQL columns, in the order of the `.sql` files.
use ojs_model::{JobId, JobState};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::kernel::holds::Holds;
use crate::kernel::job::{Body, History, JobRow};

/// Columns of a job in every `SELECT`.
pub const JOB_COLUMNS: usize = 26;

/// A column; a wrong type is an error, not a panic.
pub fn get<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Result<T> {
    row.try_get(column).map_err(StoreError::from)
}

pub fn job_id(row: &Row, column: usize) -> Result<JobId> {
    Ok(JobId::from_bytes(*get::<Uuid>(row, column)?.as_bytes()))
}

/// A small number that stands for one of a few words.
pub fn word<T>(row: &Row, column: usize, read: impl Fn(u8) -> Option<T>) -> Result<T> {
    let number: i16 = get(row, column)?;
    let known = u8::try_from(number).ok().and_then(read);
    known.ok_or_else(|| StoreError::Failed(format!("{number} in column {column} is unknown to this version: upgrade it")))
}

fn count(row: &Row, column: usize) -> Result<u32> {
    Ok(get::<i32>(row, column)?.cast_unsigned())
}

pub fn read_job(row: &Row) -> Result<JobRow> {
    let rank = i32::from(get::<i16>(row, 5)?);
    let (holds, priority) = Holds::of_rank(rank);
    Ok(JobRow {
        seq: get(row, 0)?,
        id: job_id(row, 1)?,
        queue: get(row, 2)?,
        job_type_id: get(row, 3)?,
        state: word(row, 4, JobState::from_number)?,
        priority,
        attempt: count(row, 6)?,
        releases: count(row, 7)?,
        max_attempts: count(row, 8)?,
        flags: count(row, 9)?,
        sort_key: get(row, 10)?,
        lease: get(row, 11)?,
        worker: get(row, 12)?,
        lease_ms: get(row, 13)?,
        lease_until: get(row, 14)?,
        deadline: get(row, 15)?,
        created_at: get(row, 16)?,
        enqueued_at: get(row, 17)?,
        started_at: get(row, 18)?,
        finished_at: get(row, 19)?,
        activated_at: get(row, 20)?,
        expires_at: get(row, 21)?,
        retry_delay: get(row, 22)?,
        workflow: get(row, 23)?,
        step: get(row, 24)?,
        limit: get(row, 25)?,
        holds,
    })
}

pub fn read_body(row: &Row, from: usize) -> Result<Body> {
    Ok(Body {
        text: get(row, from)?,
        retry: get(row, from + 1)?,
        timeout_ms: get(row, from + 2)?,
        grace_ms: get(row, from + 3)?,
        visibility_ms: get(row, from + 4)?,
    })
}

pub fn read_history(row: &Row) -> Result<History> {
    Ok(History { errors: get(row, 0)?, result: get(row, 1)? })
}

/// An unsigned counter in a signed column: the bits stay.
pub fn bits(value: u32) -> i64 {
    i64::from(value.cast_signed())
}

/// Integer columns of `insert_runs`.
pub fn insert_columns(row: &JobRow) -> [i64; 25] {
    [
        row.seq,
        row.queue,
        row.job_type_id,
        row.state as i64,
        i64::from(row.rank()),
        bits(row.attempt),
        bits(row.releases),
        bits(row.max_attempts),
        bits(row.flags),
        row.sort_key,
        row.lease,
        row.worker,
        row.lease_ms,
        row.lease_until,
        row.deadline,
        row.created_at,
        row.enqueued_at,
        row.started_at,
        row.finished_at,
        row.activated_at,
        row.expires_at,
        row.retry_delay,
        row.workflow,
        row.step,
        row.limit,
    ]
}

/// Integer columns of `update_runs`: the row must still be as it was read.
pub fn update_columns(before: &JobRow, row: &JobRow) -> [i64; 23] {
    [
        row.seq,
        before.state as i64,
        before.lease,
        before.lease_until,
        row.state as i64,
        i64::from(row.rank()),
        row.queue,
        bits(row.max_attempts),
        bits(row.attempt),
        bits(row.releases),
        bits(row.flags),
        row.sort_key,
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
    ]
}

/// Rows of integers turned into columns for `unnest`.
#[derive(Debug)]
pub struct Columns<const N: usize>(pub [Vec<i64>; N]);

impl<const N: usize> Columns<N> {
    pub fn with_capacity(rows: usize) -> Self {
        Self(std::array::from_fn(|_| Vec::with_capacity(rows)))
    }

    pub fn push(&mut self, row: [i64; N]) {
        for (column, value) in self.0.iter_mut().zip(row) {
            column.push(value);
        }
    }

    pub fn len(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
