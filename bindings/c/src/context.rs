//! What a request hands on to the jobs that are made for it: its trace, user, tenant and language.
use std::ffi::c_void;

use ojs_abi::error::AbiError;
use ojs_abi::layered;

use crate::answer::{ojs_answer, ojs_handler_next, ojs_handler_next_run};
use crate::enqueue_layer::{ojs_enqueue_next, ojs_enqueue_next_run};
use crate::error::{enter, enter_new, ojs_error};
use crate::job::ojs_job;
use crate::request_context;
use crate::slice::{ojs_buf, ojs_slice};

/// Sets the metadata of the request that this thread works on: a JSON object with `traceparent` and others; empty
/// when the request is over. Jobs get it where their client has the layer ojs_context_carry().
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_context_set(meta: ojs_slice) -> Option<Box<ojs_error>> {
    enter("ojs_context_set", || {
        let meta = meta.text("meta")?;
        if !meta.is_empty() {
            layered::with_meta("{}", meta, true)?;
        }
        request_context::set(meta.to_owned());
        Ok(())
    })
}

/// The metadata that ojs_context_set() has set: a JSON object, `{}` outside of a request.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_context_get(out: *mut *mut ojs_buf) -> Option<Box<ojs_error>> {
    enter_new("ojs_context_get", out, || {
        let context = request_context::current();
        Ok(ojs_buf::new(if context.is_empty() { "{}".to_owned() } else { context }.into_bytes()))
    })
}

/// A layer for ojs_client_add_layer(): jobs carry in their metadata what the request of this thread hands on; what a
/// job says itself stays. With ojs_context_restore() the trace goes from a request into its jobs, and on into theirs.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_context_carry(
    user_data: *mut c_void,
    request: ojs_slice,
    next: *const ojs_enqueue_next<'_>,
    job: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    let _ = user_data;
    let mut whole = None;
    let error = enter("ojs_context_carry", || {
        let context = request_context::current();
        if !context.is_empty() {
            whole = Some(layered::with_meta(request.text("request")?, &context, true)?);
        }
        Ok(())
    });
    if error.is_some() {
        return error;
    }
    let request = whole.as_ref().map_or(request, |whole| ojs_slice::of(whole.as_bytes()));
    // SAFETY: `next` and `job` are what the caller of a layer promises.
    unsafe { ojs_enqueue_next_run(next.as_ref(), request, job) }
}

/// A layer for ojs_worker_add_layer(): around the handler it is as in the request that made the job, and jobs that the
/// handler enqueues carry the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_context_restore(
    user_data: *mut c_void,
    job: *const ojs_job,
    answer: *const ojs_answer,
    next: *const ojs_handler_next<'_>,
) {
    let _ = (user_data, answer);
    let mut context = String::new();
    // A job whose metadata cannot be read hands nothing on.
    drop(enter("ojs_context_restore", || {
        // SAFETY: NULL, or a job that lives until this returns.
        let job = unsafe { job.as_ref() }.ok_or_else(|| AbiError::invalid("job is NULL"))?;
        context = layered::handed_on(job.envelope.bytes("envelope")?)?;
        Ok(())
    }));
    // SAFETY: `next` is what the caller of a layer promises; it was not called before.
    request_context::scoped(context, || drop(unsafe { ojs_handler_next_run(next.as_ref(), job) }));
}

/// A job, as JSON, with further metadata, a JSON object: for layers. Of a member that the job has already, `keep` says
/// whose value counts: with it the job's.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_request_with_meta(
    request: ojs_slice,
    meta: ojs_slice,
    keep: bool,
    out: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    enter_new("ojs_request_with_meta", out, || {
        let whole = layered::with_meta(request.text("request")?, meta.text("meta")?, keep)?;
        Ok(ojs_buf::new(whole.into_bytes()))
    })
}
