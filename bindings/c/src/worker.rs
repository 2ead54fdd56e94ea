//! Workers: pull jobs, bring outcomes back.
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ojs::dispatch::{CancelReason, Dispatch, HandlerFailure, Outcome, Phase};
use ojs::worker::{Beat, WorkerDriver, WorkerHandle, WorkerOptions};
use ojs_abi::connection::Connection;
use ojs_abi::dispatch::{Handed, HostDispatch, Pull, Routes};
use ojs_abi::doorbell::Doorbell;
use ojs_abi::error::AbiError;
use ojs_abi::frame;
use ojs_abi::lane::{LaneKind, Wait};
use ojs_abi::process::Owner;
use ojs_abi::runtime;
use ojs_abi::token::JobToken;

use crate::client::{UserData, ojs_client};
use crate::error::{enter, given, ojs_error};
use crate::slice::{boxed, ojs_buf, ojs_slice, options, put, strings};

/// There is one lane: a job that was pulled is begun.
const LANE: usize = 0;
/// What a worker that is freed while it runs gets for giving its jobs back.
const FREE: Duration = Duration::from_secs(5);

/// A worker: not started, running, or over. Free with ojs_worker_free().
pub struct ojs_worker {
    owner: Owner,
    link: Arc<Connection>,
    pub(crate) host: Arc<HostDispatch>,
    options: WorkerOptions,
    handle: OnceLock<WorkerHandle>,
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
    /// Somebody called ojs_worker_unblock().
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
pub extern "C" fn ojs_worker_options_init(options: *mut ojs_worker_options) {
    put(options, ojs_worker_options::default());
}

/// A worker on a client's connection. `options` may be NULL. It does nothing before ojs_worker_start().
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_worker_new(
    client: Option<&ojs_client>,
    options: *const ojs_worker_options,
    out: *mut *mut ojs_worker,
) -> Option<Box<ojs_error>> {
    put(out, ptr::null_mut());
    enter("ojs_worker_new", || {
        let link = Arc::clone(&given(client, "client")?.link);
        let given = self::options(options, ojs_worker_options::default(), "ojs_worker_options")?;
        let types = strings(given.types, given.type_count, "types")?;
        let fallback = types.is_empty().then_some(LANE);
        let routes = Routes { types: types.into_iter().map(|name| (name, LANE)).collect::<HashMap<_, _>>(), fallback };
        let options = worker_options(&given)?;
        let host = HostDispatch::new(&[LaneKind::EventLoop], routes, options.concurrency);
        let worker = ojs_worker { owner: Owner::current(), link, host, options, handle: OnceLock::new() };
        put(out, Box::into_raw(Box::new(worker)));
        Ok(())
    })
}

fn worker_options(given: &ojs_worker_options) -> Result<WorkerOptions, AbiError> {
    let mut queues = strings(given.queues, given.queue_count, "queues")?;
    if queues.is_empty() {
        queues.push("default".to_owned());
    }
    let mut options = WorkerOptions::new(queues).release_on_shutdown(!given.keep_on_shutdown);
    if let Ok(concurrency) = usize::try_from(given.concurrency)
        && concurrency > 0
    {
        options.concurrency = concurrency;
    }
    options.worker_id = given.worker_id.string("worker_id")?;
    let length = |ms: u64| (ms > 0).then(|| Duration::from_millis(ms));
    options.heartbeat_interval = length(given.heartbeat_ms).unwrap_or(options.heartbeat_interval);
    options.visibility_timeout = length(given.visibility_ms).or(options.visibility_timeout);
    options.grace_period = length(given.grace_ms).unwrap_or(options.grace_period);
    if let Some(pause) = length(given.poll_ms) {
        options.poll_interval_min = options.poll_interval_min.min(pause);
        options.poll_interval_max = pause;
    }
    Ok(options)
}

/// Connects and begins to fetch.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_worker_start(worker: Option<&ojs_worker>) -> Option<Box<ojs_error>> {
    enter("ojs_worker_start", || given(worker, "worker")?.start())
}

impl ojs_worker {
    pub(crate) fn start(&self) -> Result<(), AbiError> {
        self.owner.check("a worker")?;
        let runtime = runtime::handle()?;
        let client = runtime.block_on(self.link.client())?;
        let _on_runtime = runtime.enter();
        let mut first = false;
        self.handle.get_or_init(|| {
            first = true;
            let host = Arc::clone(&self.host) as Arc<dyn Dispatch>;
            WorkerDriver::start(Arc::clone(client.transport()), self.options.clone(), host)
        });
        if !first {
            return Err(AbiError::invalid("a worker can be started once; make another one"));
        }
        runtime.spawn(HostDispatch::tend(Arc::downgrade(&self.host)));
        Ok(())
    }

    fn running(&self) -> Result<&WorkerHandle, AbiError> {
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
        let Some(key) = self.host.key(token) else { return Ok(Some(CancelReason::LeaseLost)) };
        match runtime::handle()?.block_on(handle.heartbeat(key)) {
            Ok(Beat::Continue) => Ok(None),
            Ok(Beat::Cancelled(why)) => Ok(Some(why)),
            Err(ojs::Error::NotHeld) => Ok(Some(CancelReason::LeaseLost)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Its name on the server; empty before the start.
#[unsafe(no_mangle)]
pub extern "C" fn ojs_worker_id(worker: Option<&ojs_worker>) -> ojs_slice {
    let handle = worker.and_then(|worker| worker.handle.get());
    handle.map_or(ojs_slice::EMPTY, |handle| ojs_slice::of(handle.id().as_bytes()))
}

/// Takes up to `max` jobs, waiting at most `wait_ms` for the first (negative: until there is one, an unblock, or the end). `frame`
/// is a frame of jobs, see ojs_frame_job(), or NULL: `status` tells why. Every job must be answered once.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_worker_pull(
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
        let wait = u64::try_from(wait_ms).map_or(Wait::Forever, |ms| Wait::AtMost(Duration::from_millis(ms)));
        match worker.pull(usize::try_from(max).unwrap_or(usize::MAX), wait)? {
            Pull::Jobs(jobs) => {
                put(frame, boxed(self::frame::pack_jobs(&jobs)?));
                put(status, ojs_pull::Jobs);
            }
            Pull::TimedOut => {}
            Pull::Unblocked => put(status, ojs_pull::Unblocked),
            Pull::Closed => put(status, ojs_pull::Closed),
        }
        Ok(())
    })
}

/// A job out of a frame. The slices live as long as the frame.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ojs_job {
    /// Answers go by this.
    pub token: u64,
    /// UUIDv7, the same in every redelivery.
    pub id: ojs_slice,
    /// Finds the handler.
    pub job_type: ojs_slice,
    /// The queue it came from.
    pub queue: ojs_slice,
    /// The whole job as JSON: `args`, `meta`, and the rest.
    pub envelope: ojs_slice,
    /// 1 on the first run.
    pub attempt: u32,
    /// It has a deadline.
    pub has_deadline: bool,
    /// Milliseconds left until then, when the frame was made.
    pub deadline_ms: u64,
}

impl ojs_job {
    const NONE: Self = Self {
        token: 0,
        id: ojs_slice::EMPTY,
        job_type: ojs_slice::EMPTY,
        queue: ojs_slice::EMPTY,
        envelope: ojs_slice::EMPTY,
        attempt: 0,
        has_deadline: false,
        deadline_ms: 0,
    };

    /// Of a job in our hands; it must outlive the view.
    pub(crate) fn of(handed: &Handed) -> Self {
        let job = &handed.job;
        let left = job.deadline.map(|deadline| deadline.saturating_duration_since(std::time::Instant::now()));
        Self {
            token: handed.token.to_bits(),
            id: ojs_slice::of(job.id.as_bytes()),
            job_type: ojs_slice::of(job.job_type.as_bytes()),
            queue: ojs_slice::of(job.queue.as_bytes()),
            envelope: ojs_slice::of(&job.envelope),
            attempt: job.attempt,
            has_deadline: left.is_some(),
            deadline_ms: u64::try_from(left.unwrap_or_default().as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// How many jobs are in a frame that ojs_worker_pull() gave; 0 of anything else.
#[unsafe(no_mangle)]
pub extern "C" fn ojs_frame_count(frame: Option<&ojs_buf>) -> usize {
    frame.and_then(|frame| self::frame::Jobs::read(&frame.0).ok()).map_or(0, |jobs| jobs.len())
}

/// The job with this index in a frame.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_frame_job(frame: Option<&ojs_buf>, index: usize, out: *mut ojs_job) -> Option<Box<ojs_error>> {
    put(out, ojs_job::NONE);
    enter("ojs_frame_job", || {
        let job = self::frame::Jobs::read(&given(frame, "frame")?.0)?.get(index)?;
        put(
            out,
            ojs_job {
                token: job.token.to_bits(),
                id: ojs_slice::of(job.id),
                job_type: ojs_slice::of(job.job_type),
                queue: ojs_slice::of(job.queue),
                envelope: ojs_slice::of(job.envelope),
                attempt: job.attempt,
                has_deadline: job.deadline_ms.is_some(),
                deadline_ms: job.deadline_ms.unwrap_or(0),
            },
        );
        Ok(())
    })
}

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
pub extern "C" fn ojs_worker_succeed(
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
pub extern "C" fn ojs_worker_fail(
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
pub extern "C" fn ojs_worker_release(worker: Option<&ojs_worker>, token: u64, stale: *mut bool) -> Option<Box<ojs_error>> {
    complete("ojs_worker_release", worker, token, stale, || Ok(Outcome::Released))
}

/// The job runs again after `delay_ms`; no failure is counted.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_worker_snooze(
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
pub extern "C" fn ojs_worker_complete(
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

/// Why the handler of this job should stop. Costs nothing; ask often.
#[unsafe(no_mangle)]
pub extern "C" fn ojs_worker_cancelled(worker: Option<&ojs_worker>, token: u64) -> ojs_cancel {
    match worker {
        Some(worker) if worker.owner.is_current() => worker.host.cancelled(JobToken::from_bits(token)).into(),
        _ => ojs_cancel::LeaseLost,
    }
}

/// Extends the lease of a job now; the worker does so every few seconds by itself. `verdict` is why the handler should stop.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_worker_heartbeat(
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

/// What is called when there is something to pull, a job to stop, or the end; and how its user_data is freed.
pub type ojs_ring_fn = Option<extern "C" fn(user_data: *mut c_void)>;
/// Frees user_data: called once, when it is not needed any more.
pub type ojs_destroy_fn = Option<extern "C" fn(user_data: *mut c_void)>;

struct Bell {
    ring: extern "C" fn(user_data: *mut c_void),
    destroy: ojs_destroy_fn,
    user_data: UserData,
}

impl std::fmt::Debug for Bell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bell")
    }
}

impl Doorbell for Bell {
    fn ring(&self) {
        (self.ring)(self.user_data.get());
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        if let Some(destroy) = self.destroy {
            destroy(self.user_data.get());
        }
    }
}

/// For event loops: `ring` is called once when there is something, and again only after ojs_worker_rearm(). It must not block; it
/// is best used to wake the loop, which then rearms and pulls with a wait of 0. The first doorbell stays. `destroy` may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_worker_set_doorbell(
    worker: Option<&ojs_worker>,
    ring: ojs_ring_fn,
    user_data: *mut c_void,
    destroy: ojs_destroy_fn,
) -> Option<Box<ojs_error>> {
    let user_data = UserData(user_data);
    enter("ojs_worker_set_doorbell", || {
        let ring = ring.ok_or_else(|| AbiError::invalid("ring is NULL"))?;
        given(worker, "worker")?.host.set_doorbell(LANE, Box::new(Bell { ring, destroy, user_data }))
    })
}

/// Before pulling from an event loop: what comes from now on rings again.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_worker_rearm(worker: Option<&ojs_worker>) -> Option<Box<ojs_error>> {
    enter("ojs_worker_rearm", || given(worker, "worker")?.host.rearm(LANE))
}

/// Sends everyone who waits in ojs_worker_pull() home, once.
#[unsafe(no_mangle)]
pub extern "C" fn ojs_worker_unblock(worker: Option<&ojs_worker>) {
    if let Some(worker) = worker {
        worker.host.unblock();
    }
}

/// Fetches no more; what runs goes on.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_worker_quiet(worker: Option<&ojs_worker>) -> Option<Box<ojs_error>> {
    enter("ojs_worker_quiet", || {
        given(worker, "worker")?.running()?.quiet();
        Ok(())
    })
}

/// Fetches again.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_worker_resume(worker: Option<&ojs_worker>) -> Option<Box<ojs_error>> {
    enter("ojs_worker_resume", || {
        given(worker, "worker")?.running()?.resume();
        Ok(())
    })
}

/// Begins to stop and returns: running handlers may finish for `grace_ms` (negative: as the options say), then their jobs go back
/// to the queue. A second call ends the grace period.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_worker_stop(worker: Option<&ojs_worker>, grace_ms: i64) -> Option<Box<ojs_error>> {
    enter("ojs_worker_stop", || {
        let grace = u64::try_from(grace_ms).ok().map(Duration::from_millis);
        given(worker, "worker")?.running()?.stop(grace);
        Ok(())
    })
}

/// Waits until the worker is over, at most `wait_ms` (negative: for ever). `over` tells whether it is.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_worker_wait(worker: Option<&ojs_worker>, wait_ms: i64, over: *mut bool) -> Option<Box<ojs_error>> {
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
pub extern "C" fn ojs_worker_phase(worker: Option<&ojs_worker>) -> ojs_phase {
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
pub extern "C" fn ojs_worker_held(worker: Option<&ojs_worker>) -> usize {
    worker.filter(|worker| worker.owner.is_current()).map_or(0, |worker| worker.host.held())
}

/// Frees a worker. One that still runs is stopped first: its jobs go back to the queue.
#[unsafe(no_mangle)]
pub extern "C" fn ojs_worker_free(worker: Option<Box<ojs_worker>>) {
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
