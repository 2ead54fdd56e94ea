//! What other features ask of versions.
use crate::kernel::handlers::Handlers;

/// Whether a worker runs a version of a job type, given what is kept of the worker. `version` is as
/// [`JobRow::version`](crate::kernel::job::JobRow::version). A worker that declares nothing runs everything.
pub(crate) fn declares(info: &str, job_type: &str, version: i64) -> bool {
    let Some(handlers) = Handlers::of_worker(info) else { return true };
    handlers.iter().any(|handler| handler.job_type == job_type && handler.runs(version))
}
