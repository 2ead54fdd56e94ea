//! Workers: pull jobs, bring outcomes back.
use std::any::Any;
use std::mem::offset_of;
use std::ptr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ojs::dispatch::{CancelReason, Phase};
use ojs::worker::{WorkerHandle, WorkerOptions};
use ojs_abi::connection::Connection;
use ojs_abi::dispatch::{Cancels, HostDispatch, Pull};
use ojs_abi::error::AbiError;
use ojs_abi::frame;
use ojs_abi::lane::{LaneKind, Wait};
use ojs_abi::process::Owner;
use ojs_abi::runtime;
use ojs_abi::settings::{WorkerSettings, versions};
use ojs_abi::token::JobToken;
use ojs_abi::worker::{heartbeat, start};

use crate::client::ojs_client;
use crate::error::{enter, enter_new, given, ojs_error};
use crate::slice::{Options, ojs_buf, ojs_slice, options, put, put_at, put_new, strings};

/// There is one lane: a job that was pulled is begun.
pub(crate) const LANE: usize = 0;
/// What a worker that is freed while it runs gets for giving its jobs back.
const FREE: Duration = Duration::from_secs(5);

/// A worker: not started, running, or over. Free with ojs_worker_free().
pub struct ojs_worker {
    owner: Owner,
    link: Arc<Connection>,
    pub(crate) host: Arc<HostDispatch>,
    options: WorkerOptions,
    handle: OnceLock<WorkerHandle>,
    /// The layers around its handlers, see `chain` in the module of answers.
    pub(crate) layers: OnceLock<Box<dyn Any + Send + Sync>>,
}

/// Settings of a worker. Empty and 0 mean the default.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ojs_worker_options {
    /// Set by ojs_worker_options_init().
    pub size: u32,
    /// Jobs held at a time; 10.
    pub concurrency: u32,
    /// The queues, in order of preference; `default`.
    pub queues: *const ojs_slice,
    /// How many.
    pub queue_count: usize,
    /// The job types that this worker runs; a job of another one fails for good. None: it runs all.
    pub types: *const ojs_slice,
    /// How many.
    pub type_count: usize,
    /// Its name on the server; a random one.
    pub worker_id: ojs_slice,
    /// Between heartbeats; 5,000.
    pub heartbeat_ms: u64,
    /// How long a silent worker keeps a job; 30,000.
    pub visibility_ms: u64,
    /// How long running handlers may finish after a stop; 25,000.
    pub grace_ms: u64,
    /// The longest pause between fetches, where a server cannot wake a worker.
    pub poll_ms: u64,
    /// Do not give unfinished jobs back when it stops: they wait until their leases end.
    pub keep_on_shutdown: bool,
    /// Labels of the worker, sent to the server.
    pub labels: *const ojs_slice,
    /// How many.
    pub label_count: usize,
    /// How long outcomes may take to reach the server after `grace_ms`; as long as `visibility_ms`, at most 30,000.
    pub flush_ms: u64,
    /// What happens to a job of a type that is not among `types`: `fail` (it becomes a dead letter) or `release` (it
    /// goes back to its queue, and no attempt is counted); `fail`.
    pub unknown_types: ojs_slice,
    /// Ask only for jobs of `types`, of a server whose manifest names `fetch_types`; jobs of other types are given
    /// back.
    pub only_registered_types: bool,
    /// The versions of arguments that the worker runs, a JSON object by job type: `version`, for which the handler is
    /// written (it runs all with the same first number), or `versions`, a list of ranges such as `>=2.0 <3.0`; and
    /// `transforms`, a list of pairs of versions: the arguments of the first can be changed into those of the second,
    /// see ojs_version_changes(). Types that are not there run in every version.
    pub versions: ojs_slice,
}

// SAFETY: the other members are numbers, slices and pointers.
unsafe impl Options for ojs_worker_options {
    const BOOLS: &'static [(usize, &'static str)] = &[
        (offset_of!(Self, keep_on_shutdown), "keep_on_shutdown"),
        (offset_of!(Self, only_registered_types), "only_registered_types"),
    ];
}

impl Default for ojs_worker_options {
    fn default() -> Self {
        Self {
            size: u32::try_from(size_of::<Self>()).unwrap_or(0),
            concurrency: 0,
            queues: ptr::null(),
            queue_count: 0,
            types: ptr::null(),
            type_count: 0,
            worker_id: ojs_slice::EMPTY,
            heartbeat_ms: 0,
            visibility_ms: 0,
            grace_ms: 0,
            poll_ms: 0,
            keep_on_shutdown: false,
            labels: ptr::null(),
            label_count: 0,
            flush_ms: 0,
            unknown_types: ojs_slice::EMPTY,
            only_registered_types: false,
            versions: ojs_slice::EMPTY,
        }
    }
}

/// Where a worker is in its life.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ojs_phase {
    /// Not started.
    New = 0,
    /// Fetches and runs.
    Running = 1,
    /// Runs what it holds, fetches nothing.
    Quiet = 2,
    /// Finishes what it holds, then stops.
    Draining = 3,
    /// Over.
    Stopped = 4,
}

/// What came of a pull.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ojs_pull {
    /// There is a frame with at least one job.
    Jobs = 0,
    /// Nothing within the time.
    TimedOut = 1,
    /// ojs_worker_unblock() was called.
    Unblocked = 2,
    /// The worker is over: leave the loop.
    Closed = 3,
}

/// Why a handler should stop.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ojs_cancel {
    /// It should not.
    None = 0,
    /// The job was cancelled on the server.
    Cancelled = 1,
    /// Another worker has the job by now, or it was answered before.
    LeaseLost = 2,
    /// The attempt's time is up.
    TimedOut = 3,
    /// The worker stops and its grace period is over.
    Shutdown = 4,
}

/// A running job that should stop.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ojs_cancellation {
    /// The job's.
    pub token: u64,
    /// The reason, never OJS_CANCEL_NONE.
    pub why: ojs_cancel,
}

impl From<Option<CancelReason>> for ojs_cancel {
    fn from(why: Option<CancelReason>) -> Self {
        match why {
            None => Self::None,
            Some(CancelReason::Cancelled) => Self::Cancelled,
            Some(CancelReason::LeaseLost) => Self::LeaseLost,
            Some(CancelReason::TimedOut) => Self::TimedOut,
            Some(CancelReason::Shutdown) => Self::Shutdown,
        }
    }
}

/// Fills in the size and the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_worker_options_init(options: *mut ojs_worker_options) {
    put(options, ojs_worker_options::default());
}

/// A worker on a client's connection. `options` may be NULL. It does nothing before ojs_worker_start().
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_new(
    client: Option<&ojs_client>,
    options: *const ojs_worker_options,
    out: *mut *mut ojs_worker,
) -> Option<Box<ojs_error>> {
    enter_new("ojs_worker_new", out, || {
        let link = Arc::clone(&given(client, "client")?.link);
        let given = self::options(options, ojs_worker_options::default(), "ojs_worker_options")?;
        let settings = worker_settings(&given)?;
        let routes = settings.routes(LANE);
        let options = settings.options()?;
        let host = HostDispatch::new(&[LaneKind::EventLoop], routes, options.concurrency);
        let (handle, layers) = (OnceLock::new(), OnceLock::new());
        Ok(ojs_worker { owner: Owner::current(), link, host, options, handle, layers })
    })
}

fn worker_settings(given: &ojs_worker_options) -> Result<WorkerSettings, AbiError> {
    let default = WorkerOptions::default();
    let queues = strings(given.queues, given.queue_count, "queues")?;
    let types = strings(given.types, given.type_count, "types")?;
    let length = |ms: u64| (ms > 0).then(|| Duration::from_millis(ms));
    Ok(WorkerSettings {
        queues: if queues.is_empty() { default.queues } else { queues },
        concurrency: usize::try_from(given.concurrency).ok().filter(|jobs| *jobs > 0).unwrap_or(default.concurrency),
        worker_id: given.worker_id.string("worker_id")?,
        heartbeat_interval: length(given.heartbeat_ms),
        visibility_timeout: length(given.visibility_ms).or(default.visibility_timeout),
        grace_period: length(given.grace_ms),
        flush_timeout: length(given.flush_ms),
        poll_interval: length(given.poll_ms),
        labels: strings(given.labels, given.label_count, "labels")?,
        keep_on_shutdown: given.keep_on_shutdown,
        unknown_types: given.unknown_types.string("unknown_types")?,
        only_registered_types: given.only_registered_types,
        versions: versions(given.versions.string("versions")?.as_deref())?,
        fallback: types.is_empty(),
        types,
    })
}

/// Connects and begins to fetch.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_start(worker: Option<&ojs_worker>) -> Option<Box<ojs_error>> {
    enter("ojs_worker_start", || given(worker, "worker")?.start())
}

impl ojs_worker {
    pub(crate) fn start(&self) -> Result<(), AbiError> {
        self.owner.check("a worker")?;
        let client = runtime::handle()?.block_on(self.link.client())?;
        start(&self.handle, &client, &self.options, &self.host)?;
        Ok(())
    }

    pub(crate) fn running(&self) -> Result<&WorkerHandle, AbiError> {
        self.owner.check("a worker")?;
        self.handle.get().ok_or_else(|| AbiError::invalid("the worker has not been started"))
    }

    pub(crate) fn concurrency(&self) -> usize {
        self.options.concurrency
    }

    /// One pull from the only lane.
    pub(crate) fn pull(&self, max: usize, wait: Wait) -> Result<Pull, AbiError> {
        self.running()?;
        self.host.pull(LANE, max, wait)
    }

    pub(crate) fn heartbeat(&self, token: JobToken) -> Result<Option<CancelReason>, AbiError> {
        let handle = self.running()?;
        runtime::handle()?.block_on(heartbeat(handle, &self.host, token))
    }
}

/// Its name on the server; empty before the start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_worker_id(worker: Option<&ojs_worker>) -> ojs_slice {
    let handle = worker.and_then(|worker| worker.handle.get());
    handle.map_or(ojs_slice::EMPTY, |handle| ojs_slice::of(handle.id().as_bytes()))
}

fn wait(wait_ms: i64) -> Wait {
    u64::try_from(wait_ms).map_or(Wait::Forever, |ms| Wait::AtMost(Duration::from_millis(ms)))
}

/// Takes up to `max` jobs, waiting at most `wait_ms` for the first (negative: until there is one, an unblock, or the end). `frame`
/// is a frame of jobs, see ojs_frame_job(), or NULL: `status` says why. Every job must be answered once.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_pull(
    worker: Option<&ojs_worker>,
    max: u32,
    wait_ms: i64,
    frame: *mut *mut ojs_buf,
    status: *mut ojs_pull,
) -> Option<Box<ojs_error>> {
    put(frame, ptr::null_mut());
    put(status, ojs_pull::TimedOut);
    enter("ojs_worker_pull", || {
        let worker = given(worker, "worker")?;
        if frame.is_null() || max == 0 {
            return Err(AbiError::invalid("frame is NULL or max is 0: nothing could be handed out"));
        }
        match worker.pull(usize::try_from(max).unwrap_or(usize::MAX), wait(wait_ms))? {
            Pull::Jobs(jobs) => {
                put_new(frame, ojs_buf::new(self::frame::pack_jobs(&jobs)?));
                put(status, ojs_pull::Jobs);
            }
            Pull::TimedOut => {}
            Pull::Unblocked => put(status, ojs_pull::Unblocked),
            Pull::Closed => put(status, ojs_pull::Closed),
        }
        Ok(())
    })
}

/// Waits for running jobs that should stop, at most `wait_ms` (negative: until there is one, an unblock, or the end), and writes up
/// to `max` of them to `list`, each job once. `status` is OJS_PULL_JOBS when there are any, and else as for ojs_worker_pull(). For
/// one thread beside the one that pulls: it lets a host stop handlers without asking ojs_worker_cancelled() for each of them.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_cancellations(
    worker: Option<&ojs_worker>,
    max: usize,
    wait_ms: i64,
    list: *mut ojs_cancellation,
    count: *mut usize,
    status: *mut ojs_pull,
) -> Option<Box<ojs_error>> {
    put(count, 0);
    put(status, ojs_pull::TimedOut);
    enter("ojs_worker_cancellations", || {
        let worker = given(worker, "worker")?;
        if list.is_null() || count.is_null() || max == 0 {
            return Err(AbiError::invalid("list or count is NULL, or max is 0: nothing could be handed out"));
        }
        worker.running()?;
        match worker.host.cancellations(LANE, max, wait(wait_ms))? {
            Cancels::Jobs(jobs) => {
                for (at, (token, why)) in jobs.iter().enumerate() {
                    put_at(list, at, ojs_cancellation { token: token.to_bits(), why: Some(*why).into() });
                }
                put(count, jobs.len());
                put(status, ojs_pull::Jobs);
            }
            Cancels::TimedOut => {}
            Cancels::Unblocked => put(status, ojs_pull::Unblocked),
            Cancels::Closed => put(status, ojs_pull::Closed),
        }
        Ok(())
    })
}

/// Why the handler of this job should stop. Costs nothing; ask often.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_worker_cancelled(worker: Option<&ojs_worker>, token: u64) -> ojs_cancel {
    match worker {
        Some(worker) if worker.owner.is_current() => worker.host.cancelled(JobToken::from_bits(token)).into(),
        _ => ojs_cancel::LeaseLost,
    }
}

/// Extends the lease of a job now; the worker does so every few seconds by itself. `verdict` is why the handler should stop.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_heartbeat(
    worker: Option<&ojs_worker>,
    token: u64,
    verdict: *mut ojs_cancel,
) -> Option<Box<ojs_error>> {
    put(verdict, ojs_cancel::None);
    enter("ojs_worker_heartbeat", || {
        put(verdict, given(worker, "worker")?.heartbeat(JobToken::from_bits(token))?.into());
        Ok(())
    })
}

/// Sends everyone who waits in ojs_worker_pull() or ojs_worker_cancellations() home, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_worker_unblock(worker: Option<&ojs_worker>) {
    if let Some(worker) = worker {
        // A share of its own: a thread that this call sends home may free the worker before the call has returned.
        let host = Arc::clone(&worker.host);
        host.unblock();
    }
}

/// Fetches no more; what runs goes on.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_quiet(worker: Option<&ojs_worker>) -> Option<Box<ojs_error>> {
    enter("ojs_worker_quiet", || {
        given(worker, "worker")?.running()?.quiet();
        Ok(())
    })
}

/// Fetches again.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_resume(worker: Option<&ojs_worker>) -> Option<Box<ojs_error>> {
    enter("ojs_worker_resume", || {
        given(worker, "worker")?.running()?.resume();
        Ok(())
    })
}

/// Begins to stop and returns: running handlers may finish for `grace_ms` (negative: as the options say), then their jobs go back
/// to the queue. A second call ends the grace period.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_stop(worker: Option<&ojs_worker>, grace_ms: i64) -> Option<Box<ojs_error>> {
    enter("ojs_worker_stop", || {
        let grace = u64::try_from(grace_ms).ok().map(Duration::from_millis);
        given(worker, "worker")?.running()?.stop(grace);
        Ok(())
    })
}

/// Waits until the worker is over, at most `wait_ms` (negative: for ever). `over` says whether it is.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_wait(worker: Option<&ojs_worker>, wait_ms: i64, over: *mut bool) -> Option<Box<ojs_error>> {
    put(over, false);
    enter("ojs_worker_wait", || {
        let handle = given(worker, "worker")?.running()?;
        let ended = runtime::handle()?.block_on(async {
            match u64::try_from(wait_ms) {
                Ok(ms) => tokio::time::timeout(Duration::from_millis(ms), handle.wait()).await.is_ok(),
                Err(_negative) => {
                    handle.wait().await;
                    true
                }
            }
        });
        put(over, ended);
        Ok(())
    })
}

/// Where it is in its life.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_worker_phase(worker: Option<&ojs_worker>) -> ojs_phase {
    let Some(worker) = worker.filter(|worker| worker.handle.get().is_some()) else { return ojs_phase::New };
    match worker.host.current_phase() {
        Phase::Running => ojs_phase::Running,
        Phase::Quiet => ojs_phase::Quiet,
        Phase::Draining => ojs_phase::Draining,
        Phase::Stopped => ojs_phase::Stopped,
    }
}

/// Jobs taken in and not yet answered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_worker_held(worker: Option<&ojs_worker>) -> usize {
    worker.filter(|worker| worker.owner.is_current()).map_or(0, |worker| worker.host.held())
}

/// Frees a worker. One that still runs is stopped first: its jobs go back to the queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_worker_free(worker: Option<Box<ojs_worker>>) {
    let Some(worker) = worker else { return };
    if !worker.owner.is_current() {
        // A forked child takes nothing of its parent's down.
        std::mem::forget(worker);
        return;
    }
    if let Some(handle) = worker.handle.get().cloned() {
        let _ = enter("ojs_worker_free", || {
            handle.stop(Some(Duration::ZERO));
            runtime::finish_within(FREE, async move { handle.wait().await });
            Ok(())
        });
    }
}
