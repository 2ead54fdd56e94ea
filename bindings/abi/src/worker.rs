//! The common part of the workers of all hosts: the start, heartbeats, progress, checkpoints, and the numbers of
//! states.
use std::sync::{Arc, OnceLock};

use ojs::dispatch::{CancelReason, Dispatch, Phase};
use ojs::worker::{Beat, Progress, WorkerDriver, WorkerHandle, WorkerOptions};
use ojs::{Client, Json};

use crate::dispatch::HostDispatch;
use crate::error::AbiError;
use crate::runtime;
use crate::token::JobToken;

/// Starts a worker on a connected client and keeps its handle in `place`, where the handler of the first job finds it.
///
/// # Errors
/// It was started before, or the operating system gives no threads.
pub fn start<'w>(
    place: &'w OnceLock<WorkerHandle>,
    client: &Client,
    options: &WorkerOptions,
    host: &Arc<HostDispatch>,
) -> Result<&'w WorkerHandle, AbiError> {
    let runtime = runtime::handle()?;
    let _inside = runtime.enter();
    let mut first = false;
    let handle = place.get_or_init(|| {
        first = true;
        WorkerDriver::prepare(Arc::clone(client.transport()), options.clone(), Arc::clone(host) as Arc<dyn Dispatch>)
    });
    if !first {
        return Err(AbiError::invalid("a worker can be started once; make another one"));
    }
    runtime.spawn(HostDispatch::tend(Arc::downgrade(host)));
    WorkerDriver::begin(handle);
    Ok(handle)
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

/// Reports the progress of a job; returns at once. See [`ojs::JobContext::progress`]. `data` is JSON text.
///
/// # Errors
/// Forked, or data that is no JSON.
pub fn progress(
    handle: &WorkerHandle,
    host: &HostDispatch,
    token: JobToken,
    fraction: Option<f64>,
    message: Option<String>,
    data: Option<String>,
) -> Result<(), AbiError> {
    let Some(key) = host.key(token) else { return Ok(()) };
    let data = data.map(Json::from_text).transpose()?;
    let _inside = runtime::handle()?.enter();
    handle.progress(key, Progress { fraction, message, data });
    Ok(())
}

/// The same of a JSON object with `progress`, `message` and `data`, each of which may be left out.
///
/// # Errors
/// Forked, or another form.
pub fn report(handle: &WorkerHandle, host: &HostDispatch, token: JobToken, text: &str) -> Result<(), AbiError> {
    #[derive(serde::Deserialize)]
    struct Report {
        progress: Option<f64>,
        message: Option<String>,
        data: Option<serde_json::Value>,
    }
    let report: Report = serde_json::from_str(text).map_err(|error| ojs::Error::json("report", error))?;
    let data = report.data.map(|data| data.to_string());
    progress(handle, host, token, report.progress, report.message, data)
}

/// Saves the checkpoint of a job, or the result of one of its steps, as JSON text. The inner error is why the handler
/// should stop: the job is not its own any more, and nothing was saved.
///
/// # Errors
/// Forked, too large, or no answer from the server.
pub async fn save(
    handle: &WorkerHandle,
    host: &HostDispatch,
    token: JobToken,
    step: Option<String>,
    text: String,
) -> Result<Result<u64, CancelReason>, AbiError> {
    let lost = || host.cancelled(token).unwrap_or(CancelReason::LeaseLost);
    let Some(key) = host.key(token) else { return Ok(Err(lost())) };
    match handle.save(key, step, Json::from_text(text)?).await {
        Ok(sequence) => Ok(Ok(sequence)),
        Err(ojs::Error::NotHeld) => Ok(Err(lost())),
        Err(error) => Err(error.into()),
    }
}

/// The checkpoint of a job, or the result of one of its steps, as JSON text; `None` when there is none.
///
/// # Errors
/// Forked.
pub fn saved(handle: &WorkerHandle, host: &HostDispatch, token: JobToken, step: Option<&str>) -> Result<Option<Json>, AbiError> {
    let Some(key) = host.key(token) else { return Ok(None) };
    match handle.saved(key, step) {
        Err(ojs::Error::NotHeld) => Ok(None),
        saved => Ok(saved?),
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
