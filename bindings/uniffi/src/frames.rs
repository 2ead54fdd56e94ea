//! The way of frames in Kotlin: functions of C that take and give numbers alone.
//!
//! A call of uniffi in Kotlin makes several objects with memory outside of the heap, for its status, its buffers, and
//! the handle, which a second call copies. These functions take addresses instead. Errors have no form here but a
//! number below 0: the host makes the same call by [`CoreWorker`], which says what is wrong.
use std::sync::PoisonError;

use ojs_abi::error::AbiError;
use ojs_abi::guard::guard;

use crate::worker::CoreWorker;

/// The answer of a call that did nothing.
const FAILED: i64 = -1;

fn number(answer: Result<u64, AbiError>) -> i64 {
    answer.map_or(FAILED, |number| i64::try_from(number).unwrap_or(i64::MAX))
}

/// As [`CoreWorker::pull`]: the frame is written to `frame`, which has room for `capacity` bytes. The answer is the
/// length of the frame; 0 when the worker is over. A longer frame than there is room for comes again with the next
/// call.
///
/// # Safety
/// `worker` is [`CoreWorker::address`] of a worker that is not freed meanwhile, and nothing else uses the room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_frames_pull(worker: *const CoreWorker, max: u32, frame: *mut u8, capacity: u64) -> i64 {
    // SAFETY: the caller keeps the worker.
    let worker = unsafe { &*worker };
    number(guard("worker_pull", || {
        let kept = worker.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        let pulled = kept.map_or_else(|| worker.next_frame(max), Ok)?;
        let length = u64::try_from(pulled.len()).unwrap_or(u64::MAX);
        if length <= capacity {
            // SAFETY: there is room, and it belongs to this call.
            unsafe { std::ptr::copy_nonoverlapping(pulled.as_ptr(), frame, pulled.len()) };
        } else {
            *worker.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(pulled);
        }
        Ok(length)
    }))
}

/// As [`CoreWorker::complete`]: the frame is `length` bytes at `outcomes`.
///
/// # Safety
/// `worker` is [`CoreWorker::address`] of a worker that is not freed meanwhile, and nothing writes to the frame.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_frames_complete(worker: *const CoreWorker, outcomes: *const u8, length: u64, busy_us: u64) -> i64 {
    // SAFETY: the caller keeps the worker and the frame.
    let worker = unsafe { &*worker };
    number(guard("worker_complete", || {
        let length = usize::try_from(length).map_err(|_| AbiError::invalid("a frame of this length"))?;
        // SAFETY: the caller says that these bytes are there, and it does not write to them.
        let outcomes = unsafe { std::slice::from_raw_parts(outcomes, length) };
        worker.take_outcomes(outcomes, busy_us)
    }))
}
