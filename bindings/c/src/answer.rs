//! Handlers as callbacks: threads of the library pull jobs and call a function for each.
use std::cell::RefCell;
use std::ffi::c_void;

use ojs::dispatch::{HandlerFailure, Outcome};
use ojs_abi::dispatch::{Handed, Pull};
use ojs_abi::error::AbiError;
use ojs_abi::lane::Wait;

use crate::client::UserData;
use crate::doorbell::ojs_destroy_fn;
use crate::error::{enter, given, ojs_error};
use crate::job::ojs_job;
use crate::outcome::{failure, result};
use crate::slice::ojs_slice;
use crate::worker::{ojs_cancel, ojs_worker};

/// Where a handler leaves how its job ended. It lives as long as the call of the handler, and belongs to its thread.
pub struct ojs_answer {
    worker: *const ojs_worker,
    handed: Handed,
    outcome: RefCell<Outcome>,
}

impl ojs_answer {
    fn set(&self, outcome: Outcome) {
        // The last error counts. The cell belongs to one thread, so nothing else holds it.
        if let Ok(mut place) = self.outcome.try_borrow_mut() {
            *place = outcome;
        }
    }

    fn worker(&self) -> Option<&ojs_worker> {
        // SAFETY: made by `ojs_worker_run`, which holds the worker until all handlers have returned.
        unsafe { self.worker.as_ref() }
    }
}

/// Runs a job. What it leaves in `answer` counts; nothing means: done, without a result. `job` and `answer` live until it returns.
pub type ojs_handler_fn = Option<extern "C" fn(user_data: *mut c_void, job: *const ojs_job, answer: *const ojs_answer)>;

/// Starts the worker and runs `handler` for its jobs, on `threads` threads of the library (0: as many as its concurrency). Returns
/// when the worker is over: stop it with ojs_worker_stop() from another thread or from a handler. `destroy` may be NULL; it is called
/// once, after the last handler has returned, also when this function fails.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_run(
    worker: Option<&ojs_worker>,
    threads: u32,
    handler: ojs_handler_fn,
    user_data: *mut c_void,
    destroy: ojs_destroy_fn,
) -> Option<Box<ojs_error>> {
    let shared = UserData(user_data);
    let error = enter("ojs_worker_run", || {
        let worker = given(worker, "worker")?;
        let handler = handler.ok_or_else(|| AbiError::invalid("handler is NULL"))?;
        worker.start()?;
        let threads = usize::try_from(threads).ok().filter(|threads| *threads > 0).unwrap_or(worker.concurrency());
        std::thread::scope(|scope| {
            for number in 0..threads {
                let builder = std::thread::Builder::new().name(format!("ojs-handler-{number}"));
                let spawned = builder.spawn_scoped(scope, || lane(worker, handler, shared));
                // One thread is enough to go on; without any the worker must not hold jobs.
                if let Err(error) = spawned
                    && number == 0
                {
                    stop(worker);
                    return Err(AbiError::System(format!("cannot start threads: {error}")));
                }
            }
            Ok(())
        })
    });
    if let Some(destroy) = destroy {
        destroy(user_data);
    }
    error
}

fn stop(worker: &ojs_worker) {
    // An error would say that it does not run.
    // SAFETY: the worker is a reference, and there is no other pointer.
    drop(unsafe { crate::worker::ojs_worker_stop(Some(worker), 0) });
}

type Handler = extern "C" fn(user_data: *mut c_void, job: *const ojs_job, answer: *const ojs_answer);

/// The life of one thread.
fn lane(worker: &ojs_worker, handler: Handler, user_data: UserData) {
    loop {
        match worker.pull(1, Wait::Forever) {
            Ok(Pull::Jobs(jobs)) => jobs.into_iter().for_each(|handed| perform(worker, handler, user_data, handed)),
            Ok(Pull::TimedOut | Pull::Unblocked) => {}
            Ok(Pull::Closed) | Err(_) => return,
        }
    }
}

fn perform(worker: &ojs_worker, handler: Handler, user_data: UserData, handed: Handed) {
    let token = handed.token;
    let job = ojs_job::of(&handed);
    let answer = ojs_answer { worker, handed, outcome: RefCell::new(Outcome::Completed { result: None }) };
    let began = std::time::Instant::now();
    handler(user_data.get(), &raw const job, &raw const answer);
    worker.host.observe(0, 1, began.elapsed());
    // It fails in a forked child only, which has no such thread.
    let _ = worker.host.complete(vec![(token, answer.outcome.into_inner())]);
}

/// The job is done, with a result in JSON.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_answer_result(answer: Option<&ojs_answer>, result: ojs_slice) -> Option<Box<ojs_error>> {
    enter("ojs_answer_result", || {
        given(answer, "answer")?.set(self::result(result)?);
        Ok(())
    })
}

/// The job failed; see ojs_worker_fail().
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_answer_fail(
    answer: Option<&ojs_answer>,
    code: ojs_slice,
    message: ojs_slice,
    retryable: bool,
) -> Option<Box<ojs_error>> {
    enter("ojs_answer_fail", || {
        given(answer, "answer")?.set(failure(code, message, retryable)?);
        Ok(())
    })
}

/// The job failed; a JSON object says how: `message`, and perhaps `code`, `type`, `retryable`, `details`, `backtrace`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_answer_failure(answer: Option<&ojs_answer>, failure: ojs_slice) -> Option<Box<ojs_error>> {
    enter("ojs_answer_failure", || {
        let failure: HandlerFailure = ojs_abi::frame::failure(failure.bytes("failure")?)?;
        given(answer, "answer")?.set(Outcome::Failed(failure));
        Ok(())
    })
}

/// The job goes back to its queue without an attempt being counted.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_answer_release(answer: Option<&ojs_answer>) -> Option<Box<ojs_error>> {
    enter("ojs_answer_release", || {
        given(answer, "answer")?.set(Outcome::Released);
        Ok(())
    })
}

/// The job runs again after `delay_ms`; no failure is counted.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_answer_snooze(answer: Option<&ojs_answer>, delay_ms: u64) -> Option<Box<ojs_error>> {
    enter("ojs_answer_snooze", || {
        given(answer, "answer")?.set(Outcome::Snoozed(std::time::Duration::from_millis(delay_ms)));
        Ok(())
    })
}

/// Why the handler should stop. Costs nothing; ask often.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_answer_cancelled(answer: Option<&ojs_answer>) -> ojs_cancel {
    let reason = answer.and_then(|answer| answer.worker()?.host.cancelled(answer.handed.token));
    reason.into()
}

/// Extends the lease now; `verdict` is why the handler should stop.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_answer_heartbeat(answer: Option<&ojs_answer>, verdict: *mut ojs_cancel) -> Option<Box<ojs_error>> {
    let worker = answer.and_then(ojs_answer::worker);
    let token = answer.map_or(0, |answer| answer.handed.token.to_bits());
    // SAFETY: the worker is a reference or NULL; for `verdict` our caller promises the same.
    unsafe { crate::worker::ojs_worker_heartbeat(worker, token, verdict) }
}
