//! Rows from PostgreSQL columns.
use ojs_model::JobId;
use tokio_postgres::Row as SqlRow;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use super::params::Numbers;
use super::records::PostgresRow;
use crate::error::{Result, StoreError};
use crate::kernel::job::{Body, JobRow};
use crate::store::record::Reader;
use crate::store::row::Row;

/// A column; a wrong type is an error, not a panic.
pub fn get<'a, T: FromSql<'a>>(row: &'a SqlRow, column: usize) -> Result<T> {
    row.try_get(column).map_err(StoreError::from)
}

pub fn job_id(row: &SqlRow, column: usize) -> Result<JobId> {
    Ok(JobId::from_bytes(*get::<Uuid>(row, column)?.as_bytes()))
}

/// Reads a row from a column on.
pub fn read<R: Row>(row: &SqlRow, first: usize) -> Result<R> {
    R::read(&mut Reader::new(R::TABLE, &PostgresRow { row, first }))
}

/// Reads the changing part of a job, which comes first in every statement.
pub fn read_job(row: &SqlRow) -> Result<JobRow> {
    read(row, 0)
}

/// A job with its fixed part.
pub fn read_whole(row: &SqlRow) -> Result<(JobRow, Body)> {
    Ok((read_job(row)?, read(row, JobRow::TABLE.columns.len())?))
}

/// An unsigned counter in a signed column: the bits stay.
pub fn bits(value: u32) -> i64 {
    i64::from(value.cast_signed())
}

/// Rows of integers turned into columns for `unnest`.
#[derive(Debug)]
pub struct Columns<const N: usize>(pub [Numbers; N]);

impl<const N: usize> Columns<N> {
    pub fn with_capacity(rows: usize) -> Self {
        Self(std::array::from_fn(|_| Numbers(Vec::with_capacity(rows))))
    }

    pub fn push(&mut self, row: [i64; N]) {
        for (column, value) in self.0.iter_mut().zip(row) {
            column.0.push(value);
        }
    }

    pub fn len(&self) -> usize {
        self.0.first().map_or(0, |column| column.0.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
