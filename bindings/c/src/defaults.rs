//! Options that are set once for a type of jobs.
use ojs_abi::defaults;

use crate::error::{enter, ojs_error};
use crate::slice::ojs_slice;

/// Sets the options that jobs of this type have unless their enqueue says otherwise, for all clients of the process: a JSON object by the
/// names on the wire, `{"queue": "mail", "retry": 8, "timeout": "5m"}`. It takes the place of what was set before; `{}` sets nothing. An
/// unknown option, or a value that means nothing, is an error that names it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_job_defaults_set(job_type: ojs_slice, options: ojs_slice) -> Option<Box<ojs_error>> {
    enter("ojs_job_defaults_set", || defaults::set(job_type.text("job_type")?, options.text("options")?))
}
