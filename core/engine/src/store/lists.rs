//! The lists of columns that statements in `.sql` files name by a placeholder.
use crate::kernel::job::{Body, History, JobRow};
use crate::store::row::Row;
use crate::store::row::fill::Lists;
use crate::store::rows::EventBatch;

/// What `{JOB}`, `{r.JOB}` and the like stand for.
pub const LISTS: Lists =
    &[("JOB", JobRow::TABLE), ("BODY", Body::TABLE), ("HISTORY", History::TABLE), ("EVENT", EventBatch::TABLE)];
