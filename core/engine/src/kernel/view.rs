//! A job with everything needed to print it.
use ojs_model::{JobId, OjsError};

use crate::error::{Applied, StoreError};
use crate::features::trains::answer::place_of;
use crate::kernel::job::{Body, JobRow, JobView, flag};
use crate::store::tables::Tables;

/// The row of a job that the caller may see.
///
/// # Errors
/// 404.
pub(crate) fn visible(tables: &mut dyn Tables, id: JobId) -> Applied<JobRow> {
    tables.visible(id)?.ok_or_else(|| OjsError::not_found("job", &id.to_string()).into())
}

/// A job that the caller may see, with everything needed to print it.
///
/// # Errors
/// 404.
pub(crate) fn visible_view(tables: &mut dyn Tables, id: JobId) -> Applied<JobView> {
    let row = visible(tables, id)?;
    Ok(view(tables, row)?)
}

/// A job with everything needed to print it.
pub fn view(tables: &mut dyn Tables, row: JobRow) -> Result<JobView, StoreError> {
    let body = tables.body(row.seq)?;
    view_with(tables, row, body)
}

pub(crate) fn view_with(tables: &mut dyn Tables, row: JobRow, body: Body) -> Result<JobView, StoreError> {
    let history = if row.has(flag::ERRORS) || row.has(flag::RESULT) { tables.history(row.seq)? } else { Default::default() };
    let queue = tables.queue_by_num(row.queue)?.name;
    let worker = if row.worker == 0 { None } else { tables.worker_name(row.worker)? };
    let train = if row.has(flag::TRAIN) { Some(place_of(tables, &row, &body)?) } else { None };
    Ok(JobView { row, body, history, queue, worker, train, delivered: String::new() })
}
