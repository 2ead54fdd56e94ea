//! What the workers of all hosts do the same way: settings, heartbeats, and the numbers that hosts know states by.
use std::time::Duration;

use ojs::dispatch::{CancelReason, Phase};
use ojs::worker::{Beat, WorkerHandle, WorkerOptions};

use crate::dispatch::HostDispatch;
use crate::error::AbiError;
use crate::token::JobToken;

/// Lengths of time that a host may leave to the defaults.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lengths {
    /// Between heartbeats.
    pub heartbeat_interval: Option<Duration>,
    /// How long running handlers may finish after a stop.
    pub grace_period: Option<Duration>,
    /// The longest pause between fetches, where a server cannot wake a worker.
    pub poll_interval: Option<Duration>,
}

impl Lengths {
    /// The options with those that were given.
    #[must_use]
    pub fn set(self, mut options: WorkerOptions) -> WorkerOptions {
        options.heartbeat_interval = self.heartbeat_interval.unwrap_or(options.heartbeat_interval);
        options.grace_period = self.grace_period.unwrap_or(options.grace_period);
        match self.poll_interval {
            Some(longest) => {
                let shortest = options.poll_interval_min.min(longest);
                options.poll_interval(shortest, longest)
            }
            None => options,
        }
    }
}

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
