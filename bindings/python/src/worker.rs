//! Workers: Python threads and event loops pull jobs here and bring outcomes back.
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ojs::dispatch::Outcome;
use ojs::worker::{WorkerHandle, WorkerOptions};
use ojs_abi::connection::Connection as Link;
use ojs_abi::dispatch::{Handed, HostDispatch, Pull, Routes};
use ojs_abi::doorbell::SocketDoorbell;
use ojs_abi::error::AbiError;
use ojs_abi::lane::{LaneKind, Wait};
use ojs_abi::process::Owner;
use ojs_abi::runtime;
use ojs_abi::settings::WorkerSettings;
use ojs_abi::token::JobToken;
use ojs_abi::worker::{heartbeat, phase_number, progress, reason_number, save, saved, start};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::connection::{Connection, length};
use crate::convert::outcome;
use crate::gate;
use crate::replies::{Answer, Replies};

/// `(token, type, id, attempt, queue, envelope)`.
type PyJob<'py> = (u64, Bound<'py, PyAny>, Bound<'py, PyAny>, u32, Bound<'py, PyAny>, Bound<'py, PyBytes>);

/// A worker: not started, running, or over.
#[pyclass(frozen, module = "openjobspec._native")]
pub struct Worker {
    owner: Owner,
    link: Arc<Link>,
    host: Arc<HostDispatch>,
    options: WorkerOptions,
    handle: OnceLock<WorkerHandle>,
}

#[pymethods]
impl Worker {
    /// `types` maps job types to lanes; `event_loops[i]` says whether lane i is an event loop or threads. The
    /// settings are JSON.
    #[new]
    #[pyo3(signature = (connection, types, event_loops, *, fallback=None, settings))]
    fn new(
        py: Python<'_>,
        connection: &Connection,
        types: HashMap<String, usize>,
        event_loops: Vec<bool>,
        fallback: Option<usize>,
        settings: &str,
    ) -> PyResult<Self> {
        let options = gate::attached(py, "Worker", || WorkerSettings::read(settings)?.options())?;
        let kinds: Vec<LaneKind> = event_loops.iter().map(|l| if *l { LaneKind::EventLoop } else { LaneKind::Threads }).collect();
        let host = HostDispatch::new(&kinds, Routes { types, fallback }, options.concurrency);
        Ok(Self { owner: Owner::current(), link: Arc::clone(&connection.core), host, options, handle: OnceLock::new() })
    }

    /// Connects and begins to fetch.
    fn start(&self, py: Python<'_>) -> PyResult<()> {
        self.owner.check("a worker").map_err(|e| gate::exception(py, &e))?;
        let link = Arc::clone(&self.link);
        let client = gate::wait(py, "Worker.start", async move { link.client().await })?;
        start(&self.handle, &client, &self.options, &self.host).map_err(|e| gate::exception(py, &e))?;
        Ok(())
    }

    #[getter]
    fn id(&self) -> Option<String> {
        self.handle.get().map(|handle| handle.id().to_owned())
    }

    /// For a thread: answers the last job, reports how long `jobs` took, and waits for more. None at the end.
    fn turn<'py>(
        &self,
        py: Python<'py>,
        lane: usize,
        done: Option<&Bound<'py, PyTuple>>,
        jobs: usize,
        busy_ns: u64,
        max: usize,
    ) -> PyResult<Option<Vec<PyJob<'py>>>> {
        let done = done.map(outcome).transpose()?;
        let pull = gate::detached(py, "Worker.turn", || {
            if let Some(done) = done {
                self.host.complete(vec![done])?;
            }
            self.host.observe(lane, jobs, Duration::from_nanos(busy_ns));
            self.host.pull(lane, max, Wait::Forever)
        })?;
        batch(py, pull)
    }

    /// For a thread: answers the last job and begins the next; False when the next is not its own any more.
    fn step(&self, done: Option<&Bound<'_, PyTuple>>, next: u64) -> PyResult<bool> {
        let done = done.map(outcome).transpose()?;
        Ok(self.host.step(done, JobToken::from_bits(next)))
    }

    /// For an event loop: what is there now, at most `max`. None at the end.
    fn drain<'py>(&self, py: Python<'py>, lane: usize, max: usize) -> PyResult<Option<Vec<PyJob<'py>>>> {
        let pull = gate::attached(py, "Worker.drain", || {
            self.host.rearm(lane)?;
            self.host.pull(lane, max, Wait::Never)
        })?;
        batch(py, pull)
    }

    /// For an event loop: outcomes, and how long the handlers took together.
    fn complete(&self, py: Python<'_>, lane: usize, outcomes: Vec<Bound<'_, PyTuple>>, busy_ns: u64) -> PyResult<usize> {
        let answers: Vec<(JobToken, Outcome)> = outcomes.iter().map(outcome).collect::<PyResult<_>>()?;
        gate::attached(py, "Worker.complete", || {
            self.host.observe(lane, answers.len(), Duration::from_nanos(busy_ns));
            self.host.complete(answers)
        })
    }

    /// For an event loop: `[(token, reason)]` of running jobs that should stop.
    fn cancels(&self, py: Python<'_>, lane: usize) -> PyResult<Vec<(u64, u8)>> {
        let cancels = gate::attached(py, "Worker.cancels", || self.host.take_cancels(lane))?;
        Ok(cancels.into_iter().map(|(token, why)| (token.to_bits(), reason_number(why))).collect())
    }

    /// Why the job should stop, or None.
    fn cancelled(&self, token: u64) -> Option<u8> {
        self.host.cancelled(JobToken::from_bits(token)).map(reason_number)
    }

    /// The descriptor that turns readable when the lane has something for its event loop.
    fn fd(&self, py: Python<'_>, lane: usize) -> PyResult<i32> {
        gate::attached(py, "Worker.fd", || {
            let bell = SocketDoorbell::new().map_err(|e| AbiError::System(format!("no file descriptor: {e}")))?;
            let fd = bell.fd();
            self.host.set_doorbell(lane, Box::new(bell))?;
            Ok(fd)
        })
    }

    /// Extends the lease of a job now; returns why it should stop, or None.
    fn heartbeat(&self, py: Python<'_>, token: u64) -> PyResult<Option<u8>> {
        let beat = beat(self.running(py)?, Arc::clone(&self.host), JobToken::from_bits(token));
        gate::wait(py, "Worker.heartbeat", beat)
    }

    /// The same from an event loop.
    fn submit_heartbeat(&self, py: Python<'_>, replies: &Replies, ticket: u64, token: u64) -> PyResult<()> {
        let beat = beat(self.running(py)?, Arc::clone(&self.host), JobToken::from_bits(token));
        let replies = Arc::clone(&replies.core);
        gate::attached(py, "Worker.submit_heartbeat", || {
            runtime::handle()?.spawn(async move { replies.put(ticket, beat.await.map(Answer::Verdict)) });
            Ok(())
        })
    }

    /// Reports how far a job has come; `data` is JSON text.
    fn progress(
        &self,
        py: Python<'_>,
        token: u64,
        fraction: Option<f64>,
        message: Option<String>,
        data: Option<Vec<u8>>,
    ) -> PyResult<()> {
        let handle = self.running(py)?;
        let data = data.map(|text| String::from_utf8_lossy(&text).into_owned());
        gate::attached(py, "Worker.progress", || {
            progress(&handle, &self.host, JobToken::from_bits(token), fraction, message, data)
        })
    }

    /// Saves the checkpoint of a job, or the result of a step; returns its sequence, or None and why the job should
    /// stop.
    fn save(&self, py: Python<'_>, token: u64, step: Option<String>, text: Vec<u8>) -> PyResult<Kept> {
        let keep = keep(self.running(py)?, Arc::clone(&self.host), JobToken::from_bits(token), step, text);
        gate::wait(py, "Worker.save", keep)
    }

    /// The same from an event loop.
    fn submit_save(
        &self,
        py: Python<'_>,
        replies: &Replies,
        ticket: u64,
        token: u64,
        step: Option<String>,
        text: Vec<u8>,
    ) -> PyResult<()> {
        let keep = keep(self.running(py)?, Arc::clone(&self.host), JobToken::from_bits(token), step, text);
        let replies = Arc::clone(&replies.core);
        gate::attached(py, "Worker.submit_save", || {
            runtime::handle()?.spawn(async move { replies.put(ticket, keep.await.map(Answer::Kept)) });
            Ok(())
        })
    }

    /// The checkpoint of a job, or the result of a step, as JSON text; None when there is none.
    fn saved<'py>(&self, py: Python<'py>, token: u64, step: Option<&str>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let handle = self.running(py)?;
        let found = gate::attached(py, "Worker.saved", || saved(&handle, &self.host, JobToken::from_bits(token), step))?;
        Ok(found.map(|json| PyBytes::new(py, json.as_bytes())))
    }

    /// Fetches no more.
    fn quiet(&self, py: Python<'_>) -> PyResult<()> {
        self.running(py)?.quiet();
        Ok(())
    }

    /// Fetches again.
    fn resume(&self, py: Python<'_>) -> PyResult<()> {
        self.running(py)?.resume();
        Ok(())
    }

    /// Begins to stop; a second call ends the grace period.
    #[pyo3(signature = (grace=None))]
    fn stop(&self, py: Python<'_>, grace: Option<f64>) -> PyResult<()> {
        let grace = length(py, "grace", grace)?;
        self.running(py)?.stop(grace);
        Ok(())
    }

    /// Waits until it is over, at most `limit` seconds; True when it is. Ctrl-C interrupts the wait.
    fn wait(&self, py: Python<'_>, limit: f64) -> PyResult<bool> {
        let limit = length(py, "limit", Some(limit))?.unwrap_or_default();
        let handle = self.running(py)?;
        gate::wait(py, "Worker.wait", async move { Ok(tokio::time::timeout(limit, handle.wait()).await.is_ok()) })
    }

    /// 0 running, 1 quiet, 2 draining, 3 stopped.
    #[getter]
    fn phase(&self) -> u8 {
        phase_number(self.host.current_phase())
    }

    /// False in a child forked after it was made.
    #[getter]
    fn is_own(&self) -> bool {
        self.owner.is_current()
    }

    /// Jobs taken in and not yet answered.
    #[getter]
    fn held(&self) -> usize {
        self.host.held()
    }
}

impl Worker {
    fn running(&self, py: Python<'_>) -> PyResult<WorkerHandle> {
        gate::attached(py, "Worker", || {
            self.owner.check("a worker")?;
            self.handle.get().cloned().ok_or_else(|| AbiError::invalid("the worker has not been started"))
        })
    }
}

async fn beat(handle: WorkerHandle, host: Arc<HostDispatch>, token: JobToken) -> Result<Option<u8>, AbiError> {
    Ok(heartbeat(&handle, &host, token).await?.map(reason_number))
}

/// The sequence, or why the job should stop.
type Kept = (Option<u64>, Option<u8>);

async fn keep(
    handle: WorkerHandle,
    host: Arc<HostDispatch>,
    token: JobToken,
    step: Option<String>,
    text: Vec<u8>,
) -> Result<Kept, AbiError> {
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(match save(&handle, &host, token, step, text).await? {
        Ok(sequence) => (Some(sequence), None),
        Err(why) => (None, Some(reason_number(why))),
    })
}

fn batch(py: Python<'_>, pull: Pull) -> PyResult<Option<Vec<PyJob<'_>>>> {
    match pull {
        Pull::Jobs(jobs) => jobs.iter().map(|handed| job(py, handed)).collect::<PyResult<_>>().map(Some),
        Pull::TimedOut | Pull::Unblocked => Ok(Some(Vec::new())),
        Pull::Closed => Ok(None),
    }
}

fn job<'py>(py: Python<'py>, handed: &Handed) -> PyResult<PyJob<'py>> {
    let job = &handed.job;
    let text = |text: &str| -> PyResult<Bound<'py, PyAny>> { Ok(text.into_pyobject(py)?.into_any()) };
    Ok((
        handed.token.to_bits(),
        text(&job.job_type)?,
        text(&job.id)?,
        job.attempt,
        text(&job.queue)?,
        PyBytes::new(py, &job.envelope),
    ))
}
