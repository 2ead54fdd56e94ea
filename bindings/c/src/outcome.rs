//! Answers to jobs: one by one, or many in a frame.
use std::time::Duration;

use ojs::dispatch::{HandlerFailure, Outcome};
use ojs_abi::error::AbiError;
use ojs_abi::frame;
use ojs_abi::token::JobToken;

use crate::error::{enter, given, ojs_error};
use crate::slice::{ojs_slice, put};
use crate::worker::{LANE, ojs_worker};

/// Answers one job; `stale` says that the answer came too late or twice: it changed nothing.
fn complete(
    export: &'static str,
    worker: Option<&ojs_worker>,
    token: u64,
    stale: *mut bool,
    outcome: impl FnOnce() -> Result<Outcome, AbiError>,
) -> Option<Box<ojs_error>> {
    put(stale, false);
    enter(export, || {
        let worker = given(worker, "worker")?;
        put(stale, worker.host.complete(vec![(JobToken::from_bits(token), outcome()?)])? > 0);
        Ok(())
    })
}

/// The job is done; `result` is JSON, or empty for none. `stale` becomes true when the answer came too late or twice.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_succeed(
    worker: Option<&ojs_worker>,
    token: u64,
    result: ojs_slice,
    stale: *mut bool,
) -> Option<Box<ojs_error>> {
    complete("ojs_worker_succeed", worker, token, stale, || self::result(result))
}

pub(crate) fn result(result: ojs_slice) -> Result<Outcome, AbiError> {
    match result.bytes("result")? {
        [] => Ok(Outcome::Completed { result: None }),
        json => self::frame::completed(json),
    }
}

/// The job failed. `code` may be empty (`handler_error`), `message` may not. It runs again by its retry policy if `retryable`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_fail(
    worker: Option<&ojs_worker>,
    token: u64,
    code: ojs_slice,
    message: ojs_slice,
    retryable: bool,
    stale: *mut bool,
) -> Option<Box<ojs_error>> {
    complete("ojs_worker_fail", worker, token, stale, || failure(code, message, retryable))
}

pub(crate) fn failure(code: ojs_slice, message: ojs_slice, retryable: bool) -> Result<Outcome, AbiError> {
    let code = code.string("code")?.unwrap_or_else(|| "handler_error".to_owned());
    let message = message.string("message")?.ok_or_else(|| AbiError::invalid("message is empty: say what went wrong"))?;
    Ok(Outcome::Failed(HandlerFailure { code: code.clone(), retryable, ..HandlerFailure::error(code, message) }))
}

/// The job goes back to its queue without an attempt being counted.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_release(worker: Option<&ojs_worker>, token: u64, stale: *mut bool) -> Option<Box<ojs_error>> {
    complete("ojs_worker_release", worker, token, stale, || Ok(Outcome::Released))
}

/// The job runs again after `delay_ms`; no failure is counted.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_snooze(
    worker: Option<&ojs_worker>,
    token: u64,
    delay_ms: u64,
    stale: *mut bool,
) -> Option<Box<ojs_error>> {
    complete("ojs_worker_snooze", worker, token, stale, || Ok(Outcome::Snoozed(Duration::from_millis(delay_ms))))
}

/// Answers many jobs at once: a frame of outcomes, see ojs_frame.h. When an entry is wrong, nothing is done. `stale` counts the
/// answers that came too late or twice. `busy_us` is how long the handlers took together, in microseconds: it decides how many
/// jobs are fetched ahead.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_complete(
    worker: Option<&ojs_worker>,
    outcomes: ojs_slice,
    busy_us: u64,
    stale: *mut u32,
) -> Option<Box<ojs_error>> {
    put(stale, 0);
    enter("ojs_worker_complete", || {
        let worker = given(worker, "worker")?;
        let answers = self::frame::read_outcomes(outcomes.bytes("outcomes")?)?;
        worker.host.observe(LANE, answers.len(), Duration::from_micros(busy_us));
        put(stale, u32::try_from(worker.host.complete(answers)?).unwrap_or(u32::MAX));
        Ok(())
    })
}
