//! Workers: Ruby threads pull jobs here and bring outcomes back.
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use magnus::{Error, RArray, RString, Ruby};
use ojs::dispatch::Outcome;
use ojs::worker::{WorkerHandle, WorkerOptions};
use ojs_abi::connection::Connection as Link;
use ojs_abi::dispatch::{Handed, HostDispatch, Pull};
use ojs_abi::error::AbiError;
use ojs_abi::frame;
use ojs_abi::guard::guard;
use ojs_abi::lane::{LaneKind, Wait};
use ojs_abi::process::Owner;
use ojs_abi::settings::WorkerSettings;
use ojs_abi::token::JobToken;
use ojs_abi::worker::{heartbeat, phase_number, progress, reason_number, save, saved, start};

use crate::connection::{Connection, length};
use crate::{gate, text};

/// All handlers run on one kind of thread.
const LANE: usize = 0;
/// Outcomes by the numbers of `ojs_frame.h`.
const COMPLETED: u8 = 0;
const FAILED: u8 = 1;
const RELEASED: u8 = 2;
const SNOOZED: u8 = 3;

/// A worker: not started, running, or over.
#[magnus::wrap(class = "OJS::Native::Worker", free_immediately)]
pub struct Worker {
    owner: Owner,
    link: Arc<Link>,
    host: Arc<HostDispatch>,
    options: WorkerOptions,
    handle: OnceLock<WorkerHandle>,
}

impl Worker {
    /// The settings are JSON.
    pub fn new(ruby: &Ruby, connection: &Connection, settings: String) -> Result<Self, Error> {
        gate::held(ruby, "Worker.new", || {
            let settings = WorkerSettings::read(&settings)?;
            let routes = settings.routes(LANE);
            let options = settings.options()?;
            let host = HostDispatch::new(&[LaneKind::Threads], routes, options.concurrency);
            Ok(Self { owner: Owner::current(), link: Arc::clone(&connection.core), host, options, handle: OnceLock::new() })
        })
    }

    /// Connects and begins to fetch.
    pub fn start(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        gate::held(ruby, "Worker.start", || this.owner.check("a worker"))?;
        let client = gate::wait(ruby, "Worker.start", async { this.link.client().await })?;
        gate::held(ruby, "Worker.start", || start(&this.handle, &client, &this.options, &this.host).map(drop))
    }

    pub fn id(&self) -> Option<String> {
        self.handle.get().map(|handle| handle.id().to_owned())
    }

    /// For a thread: answers the last job, reports how long `jobs` took, and waits for more: `[[token, type, id,
    /// attempt, queue, envelope], …]`. Nil at the end.
    pub fn turn(
        ruby: &Ruby,
        this: &Self,
        done: Option<RArray>,
        jobs: usize,
        busy: f64,
        max: usize,
    ) -> Result<Option<RArray>, Error> {
        let done = done.map(|done| outcome(ruby, done)).transpose()?;
        // Counted while the GVL is held: an unblock that comes before the pull begins is seen by it.
        let mut seen = gate::held(ruby, "Worker.turn", || {
            if let Some(done) = done {
                this.host.complete(vec![done])?;
            }
            this.host.observe(LANE, jobs, Duration::try_from_secs_f64(busy).unwrap_or_default());
            this.host.unblocks(LANE)
        })?;
        let unblock = || this.host.unblock();
        let pull = gate::released(ruby, "Worker.turn", unblock, || {
            let pull = this.host.pull_since(LANE, max, Wait::Forever, seen)?;
            seen = this.host.unblocks(LANE)?;
            Ok(if matches!(pull, Pull::Unblocked) { None } else { Some(pull) })
        })?;
        match pull {
            Pull::Jobs(jobs) => batch(ruby, &jobs).map(Some),
            Pull::TimedOut | Pull::Unblocked => Ok(Some(ruby.ary_new())),
            Pull::Closed => Ok(None),
        }
    }

    /// For a thread: answers the last job and begins the next; false when the next is not its own any more.
    pub fn step(ruby: &Ruby, this: &Self, done: Option<RArray>, next: u64) -> Result<bool, Error> {
        let done = done.map(|done| outcome(ruby, done)).transpose()?;
        gate::held(ruby, "Worker.step", || Ok(this.host.step(done, JobToken::from_bits(next))))
    }

    /// Answers a job; false when it was answered, cancelled or given away before.
    pub fn complete(ruby: &Ruby, this: &Self, done: RArray) -> Result<bool, Error> {
        let done = outcome(ruby, done)?;
        gate::held(ruby, "Worker.complete", || Ok(this.host.complete(vec![done])? == 0))
    }

    /// Why the job should stop, or nil.
    pub fn cancelled(&self, token: u64) -> Option<u8> {
        self.host.cancelled(JobToken::from_bits(token)).map(reason_number)
    }

    /// Extends the lease of a job now; returns why it should stop, or nil.
    pub fn heartbeat(ruby: &Ruby, this: &Self, token: u64) -> Result<Option<u8>, Error> {
        let handle = this.running(ruby)?;
        gate::wait(ruby, "Worker.heartbeat", async {
            Ok(heartbeat(&handle, &this.host, JobToken::from_bits(token)).await?.map(reason_number))
        })
    }

    /// Reports how far a job has come; `data` is JSON text.
    pub fn progress(
        ruby: &Ruby,
        this: &Self,
        token: u64,
        fraction: Option<f64>,
        message: Option<String>,
        data: Option<String>,
    ) -> Result<(), Error> {
        let handle = this.running(ruby)?;
        let token = JobToken::from_bits(token);
        gate::held(ruby, "Worker.progress", || progress(&handle, &this.host, token, fraction, message, data))
    }

    /// Saves the checkpoint of a job, or the result of a step; its sequence, and why the job should stop, one of them
    /// nil.
    pub fn save(
        ruby: &Ruby,
        this: &Self,
        token: u64,
        step: Option<String>,
        text: String,
    ) -> Result<(Option<u64>, Option<u8>), Error> {
        let handle = this.running(ruby)?;
        gate::wait(ruby, "Worker.save", async {
            Ok(match save(&handle, &this.host, JobToken::from_bits(token), step, text).await? {
                Ok(sequence) => (Some(sequence), None),
                Err(why) => (None, Some(reason_number(why))),
            })
        })
    }

    /// The checkpoint of a job, or the result of a step, as JSON text, or nil.
    pub fn saved(ruby: &Ruby, this: &Self, token: u64, step: Option<String>) -> Result<Option<String>, Error> {
        let handle = this.running(ruby)?;
        let token = JobToken::from_bits(token);
        let found = gate::held(ruby, "Worker.saved", || saved(&handle, &this.host, token, step.as_deref()))?;
        Ok(found.map(|json| json.as_str().to_owned()))
    }

    /// Fetches no more.
    pub fn quiet(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.running(ruby)?.quiet();
        Ok(())
    }

    /// Fetches again.
    pub fn resume(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.running(ruby)?.resume();
        Ok(())
    }

    /// Begins to stop; a second call ends the grace period.
    pub fn stop(ruby: &Ruby, this: &Self, grace: Option<f64>) -> Result<(), Error> {
        let grace = gate::held(ruby, "Worker.stop", || length("grace", grace))?;
        this.running(ruby)?.stop(grace);
        Ok(())
    }

    /// Waits until it is over, at most `limit` seconds; true when it is.
    pub fn wait(ruby: &Ruby, this: &Self, limit: f64) -> Result<bool, Error> {
        let handle = this.running(ruby)?;
        gate::wait(ruby, "Worker.wait", async {
            let limit = length("limit", Some(limit))?.unwrap_or_default();
            Ok(tokio::time::timeout(limit, handle.wait()).await.is_ok())
        })
    }

    /// 0 running, 1 quiet, 2 draining, 3 stopped.
    pub fn phase(&self) -> u8 {
        phase_number(self.host.current_phase())
    }

    /// False in a child forked after it was made.
    pub fn is_own(&self) -> bool {
        self.owner.is_current()
    }

    /// Jobs taken in and not yet answered.
    pub fn held(&self) -> usize {
        self.host.held()
    }

    fn running(&self, ruby: &Ruby) -> Result<WorkerHandle, Error> {
        gate::held(ruby, "Worker", || {
            self.owner.check("a worker")?;
            self.handle.get().cloned().ok_or_else(|| AbiError::invalid("the worker has not been started"))
        })
    }
}

impl Drop for Worker {
    /// No thread can pull any more: the jobs go back to the queue at once.
    fn drop(&mut self) {
        if !self.owner.is_current() {
            // In a forked child nothing of the parent's is taken down, nor woken: its locks may have been inherited locked.
            std::mem::forget((self.handle.take(), Arc::clone(&self.host)));
        } else if let Some(handle) = self.handle.get() {
            let _ = guard("Worker.drop", || {
                handle.stop(Some(Duration::ZERO));
                Ok(())
            });
        }
    }
}

/// `[token, kind, payload]`: the result as JSON or nil, a failure as JSON, nothing, or seconds.
fn outcome(ruby: &Ruby, done: RArray) -> Result<(JobToken, Outcome), Error> {
    let (token, kind): (u64, u8) = (done.entry(0)?, done.entry(1)?);
    let json = || done.entry::<Option<RString>>(2).map(|json| json.map(text::bytes));
    let outcome = match kind {
        COMPLETED => Outcome::Completed { result: json()? },
        FAILED => {
            let json = json()?.unwrap_or_default();
            Outcome::Failed(gate::held(ruby, "Worker", || frame::failure(&json))?)
        }
        RELEASED => Outcome::Released,
        SNOOZED => {
            let delay = done.entry(2)?;
            Outcome::Snoozed(gate::held(ruby, "Worker", || length("delay", Some(delay)))?.unwrap_or_default())
        }
        other => return gate::held(ruby, "Worker", || Err(AbiError::invalid(format!("unknown outcome {other}")))),
    };
    Ok((JobToken::from_bits(token), outcome))
}

fn batch(ruby: &Ruby, jobs: &[Handed]) -> Result<RArray, Error> {
    let list = ruby.ary_new_capa(jobs.len());
    for Handed { token, job } in jobs {
        let head = ruby.ary_new_capa(6);
        head.push(token.to_bits())?;
        head.push(text::utf8(ruby, job.job_type.as_bytes()))?;
        head.push(text::utf8(ruby, job.id.as_bytes()))?;
        head.push(job.attempt)?;
        head.push(text::utf8(ruby, job.queue.as_bytes()))?;
        head.push(text::utf8(ruby, &job.envelope))?;
        list.push(head)?;
    }
    Ok(list)
}
