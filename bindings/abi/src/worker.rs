//! What the workers of all hosts do the same way: heartbeats, and the numbers that hosts know states by.
use ojs::dispatch::{CancelReason, Phase};
use ojs::worker::{Beat, WorkerHandle};

use crate::dispatch::HostDispatch;
use crate::error::AbiError;
use crate::token::JobToken;

/// Extends the lease of a job now; the answer is why its handler should stop.
///
/// # Errors
/// Forked, or no answer from the server.
pub async fn heartbeat(handle: &WorkerHandle, host: &HostDispatch, token: JobToken) -> Result<Option<CancelReason>, AbiError> {
    let Some(key) = host.key(token) else { return Ok(Some(CancelReason::LeaseLost)) };
    match handle.heartbeat(key).await {
        Ok(Beat::Continue) => Ok(None),
        Ok(Beat::Cancelled(why)) => Ok(Some(why)),
        Err(ojs::Error::NotHeld) => Ok(Some(CancelReason::LeaseLost)),
        Err(error) => Err(error.into()),
    }
}

/// The numbers that Python, JavaScript and Ruby know the reasons by.
#[must_use]
pub const fn reason_number(why: CancelReason) -> u8 {
    match why {
        CancelReason::Cancelled => 0,
        CancelReason::LeaseLost => 1,
        CancelReason::TimedOut => 2,
        CancelReason::Shutdown => 3,
    }
}

/// The numbers that they know the phases by: 0 running, 1 quiet, 2 draining, 3 stopped.
#[must_use]
pub const fn phase_number(phase: Phase) -> u8 {
    match phase {
        Phase::Running => 0,
        Phase::Quiet => 1,
        Phase::Draining => 2,
        Phase::Stopped => 3,
    }
}
