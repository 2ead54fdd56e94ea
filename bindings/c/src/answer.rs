//! Handlers as callbacks: threads of the library pull jobs and call a function for each.
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::sync::Arc;

use ojs::dispatch::{HandlerFailure, Outcome};
use ojs::middleware::Chain;
use ojs_abi::dispatch::{Handed, Pull};
use ojs_abi::error::AbiError;
use ojs_abi::frame::{self, OutcomeKind};
use ojs_abi::lane::Wait;

use crate::error::{enter, given, ojs_error};
use crate::job::ojs_job;
use crate::layer::Layer;
use crate::outcome::{failure, result};
use crate::slice::{ojs_buf, ojs_slice, put, put_new};
use crate::user_data::{UserData, ojs_destroy_fn};
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

/// Runs a job. `answer` holds the outcome; if it stays empty, the job is completed without a result. `job` and
/// `answer` live until it returns.
pub type ojs_handler_fn = Option<extern "C" fn(user_data: *mut c_void, job: *const ojs_job, answer: *const ojs_answer)>;

/// The layers of a worker.
pub(crate) type HandlerChain = Chain<Layer<ojs_handler_layer_fn>>;
type HandlerLayers = Arc<[Arc<Layer<ojs_handler_layer_fn>>]>;

/// The chain of a worker, made when it is first asked for. Only this function knows its type: it names answers, which
/// name workers.
///
/// # Errors
/// None: nothing else is ever there.
pub(crate) fn chain(worker: &ojs_worker) -> Result<&HandlerChain, AbiError> {
    let layers = worker.layers.get_or_init(|| Box::new(HandlerChain::default()));
    layers.downcast_ref().ok_or_else(|| AbiError::System("the layers of a worker are of another type".to_owned()))
}

/// The rest of the layers around a handler, and behind them the handler. It lives as long as the call of the layer, and
/// belongs to its thread.
pub struct ojs_handler_next<'a> {
    inside: Inside<'a>,
    job: *const ojs_job,
    called: Cell<bool>,
}

/// What is inside of a layer.
#[derive(Clone, Copy)]
struct Inside<'a> {
    layers: &'a HandlerLayers,
    index: usize,
    handler: Handler,
    user_data: UserData,
    answer: *const ojs_answer,
}

/// A layer around handlers. It goes on with ojs_handler_next_run(), once; where it does not, the handler does not run.
/// What is in `answer` then, see ojs_answer_outcome(), it may replace: the last answer counts. All pointers live until
/// it returns.
pub type ojs_handler_layer_fn = Option<
    extern "C" fn(user_data: *mut c_void, job: *const ojs_job, answer: *const ojs_answer, next: *const ojs_handler_next<'_>),
>;

/// Goes on inwards with this job (NULL: with the same one). It returns when the handler has. An error says that the
/// layer has called it before: nothing was run.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_handler_next_run(
    next: Option<&ojs_handler_next<'_>>,
    job: *const ojs_job,
) -> Option<Box<ojs_error>> {
    enter("ojs_handler_next_run", || {
        let next = given(next, "next")?;
        if next.called.replace(true) {
            return Err(AbiError::Sdk(ojs::Error::Middleware("a middleware called next twice".to_owned())));
        }
        next.inside.run(if job.is_null() { next.job } else { job });
        Ok(())
    })
}

impl Inside<'_> {
    /// Runs the layers from this one inwards, and the handler.
    fn run(self, job: *const ojs_job) {
        let Some(layer) = self.layers.get(self.index) else {
            (self.handler)(self.user_data.get(), job, self.answer);
            return;
        };
        let inside = Self { index: self.index + 1, ..self };
        match layer.run {
            None => inside.run(job),
            Some(function) => {
                let next = ojs_handler_next { inside, job, called: Cell::new(false) };
                function(layer.user_data(), job, self.answer, &raw const next);
            }
        }
    }
}

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
        let layers = chain(worker)?.layers();
        worker.start()?;
        let run = Run { handler, user_data: shared, layers: &layers };
        let threads = usize::try_from(threads).ok().filter(|threads| *threads > 0).unwrap_or(worker.concurrency());
        std::thread::scope(|scope| {
            for number in 0..threads {
                let builder = std::thread::Builder::new().name(format!("ojs-handler-{number}"));
                let spawned = builder.spawn_scoped(scope, || run.lane(worker));
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

/// What all threads run.
struct Run<'a> {
    handler: Handler,
    user_data: UserData,
    layers: &'a HandlerLayers,
}

impl Run<'_> {
    /// The life of one thread.
    fn lane(&self, worker: &ojs_worker) {
        loop {
            match worker.pull(1, Wait::Forever) {
                Ok(Pull::Jobs(jobs)) => jobs.into_iter().for_each(|handed| self.perform(worker, handed)),
                Ok(Pull::TimedOut | Pull::Unblocked) => {}
                Ok(Pull::Closed) | Err(_) => return,
            }
        }
    }

    fn perform(&self, worker: &ojs_worker, handed: Handed) {
        let token = handed.token;
        let job = ojs_job::of(&handed);
        let answer = ojs_answer { worker, handed, outcome: RefCell::new(Outcome::Completed { result: None }) };
        let (layers, handler, user_data) = (self.layers, self.handler, self.user_data);
        let began = std::time::Instant::now();
        Inside { layers, index: 0, handler, user_data, answer: &raw const answer }.run(&raw const job);
        worker.host.observe(0, 1, began.elapsed());
        // It fails in a forked child only, which has no such thread.
        let _ = worker.host.complete(vec![(token, answer.outcome.into_inner())]);
    }
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
        let failure: HandlerFailure = frame::failure(failure.bytes("failure")?)?;
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

/// How the job ends as things stand, for layers: `kind` is a number of ojs_frame.h (0 completed, 1 failed, 2 released,
/// 3 snoozed), `payload` the result or the failure as JSON, NULL when there is none.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_answer_outcome(
    answer: Option<&ojs_answer>,
    kind: *mut u32,
    payload: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    put(kind, OutcomeKind::Completed as u32);
    put(payload, std::ptr::null_mut());
    enter("ojs_answer_outcome", || {
        let answer = given(answer, "answer")?;
        let (number, json) = match &*answer.outcome.borrow() {
            Outcome::Completed { result } => (OutcomeKind::Completed, result.clone()),
            Outcome::Failed(failure) => (OutcomeKind::Failed, Some(frame::failure_json(failure).into())),
            Outcome::Snoozed(_) => (OutcomeKind::Snoozed, None),
            Outcome::Released | Outcome::Abandoned => (OutcomeKind::Released, None),
        };
        put(kind, number as u32);
        if let Some(json) = json {
            put_new(payload, ojs_buf::new(json));
        }
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
