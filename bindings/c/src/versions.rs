//! Versions of the arguments of jobs, for programs that keep the functions which change them.
use ojs_abi::versions;

use crate::error::{enter_new, ojs_error};
use crate::slice::{ojs_buf, ojs_slice};

/// The changes that bring the arguments of a job to the version of its handler: a JSON array of their numbers among the
/// `transforms` of the type, such as `[0,1]`; empty when the arguments stay as they are. `said` is the member of the
/// type in the option `versions` of its worker, `job` the job as JSON. Call this before the handler of a type with
/// transforms runs. Jobs whose arguments cannot become those of the handler are not handed out: they fail or go back.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_version_changes(
    job_type: ojs_slice,
    said: ojs_slice,
    job: ojs_slice,
    out: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    enter_new("ojs_version_changes", out, || {
        let numbers = versions::changes(job_type.text("job_type")?, said.text("said")?, job.bytes("job")?)?;
        Ok(ojs_buf::new(numbers.into_bytes()))
    })
}
