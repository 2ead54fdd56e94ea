//! What a run says for people and for later attempts: progress, checkpoints, steps.
use std::ptr;

use ojs_abi::token::JobToken;
use ojs_abi::{runtime, worker};

use crate::error::{enter, given, ojs_error};
use crate::slice::{ojs_buf, ojs_slice, put, put_new};
use crate::worker::{ojs_cancel, ojs_worker};

/// Reports how far a job has come, and returns at once. `report` is JSON: `{"progress":0.4,"message":"…","data":…}`,
/// each member may be left out. Of many reports the latest is sent, a few a second at most; one that is lost does not
/// harm the job.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_progress(
    worker: Option<&ojs_worker>,
    token: u64,
    report: ojs_slice,
) -> Option<Box<ojs_error>> {
    enter("ojs_worker_progress", || {
        let own = given(worker, "worker")?;
        worker::report(own.running()?, &own.host, JobToken::from_bits(token), report.text("report")?)
    })
}

/// Saves the checkpoint of a job, which is JSON, in place of the one before; where `step` is not empty, the result of
/// that step beside it. It is on the server's disk when this returns. `verdict` is why the handler should stop: then
/// nothing was saved.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_save(
    worker: Option<&ojs_worker>,
    token: u64,
    step: ojs_slice,
    state: ojs_slice,
    sequence: *mut u64,
    verdict: *mut ojs_cancel,
) -> Option<Box<ojs_error>> {
    put(sequence, 0);
    put(verdict, ojs_cancel::None);
    enter("ojs_worker_save", || {
        let own = given(worker, "worker")?;
        let (step, state) = (step.string("step")?, state.text("state")?.to_owned());
        let save = worker::save(own.running()?, &own.host, JobToken::from_bits(token), step, state);
        match runtime::handle()?.block_on(save)? {
            Ok(saved) => put(sequence, saved),
            Err(why) => put(verdict, Some(why).into()),
        }
        Ok(())
    })
}

/// The checkpoint of a job as JSON, or the result of a step where `step` is not empty; `saved` is NULL when there is
/// none. Costs no request: it came with the job.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_saved(
    worker: Option<&ojs_worker>,
    token: u64,
    step: ojs_slice,
    saved: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    put(saved, ptr::null_mut());
    enter("ojs_worker_saved", || {
        let own = given(worker, "worker")?;
        let step = step.string("step")?;
        if let Some(found) = worker::saved(own.running()?, &own.host, JobToken::from_bits(token), step.as_deref())? {
            put_new(saved, ojs_buf::new(found.as_bytes().clone()));
        }
        Ok(())
    })
}
