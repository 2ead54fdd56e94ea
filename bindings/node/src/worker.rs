//! Workers: JavaScript takes jobs from a lane and brings outcomes back, both in packed frames.
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use napi::bindgen_prelude::*;
use napi_derive::napi;
use ojs::dispatch::CancelReason;
use ojs::worker::{WorkerHandle, WorkerOptions};
use ojs_abi::connection::Connection as Link;
use ojs_abi::dispatch::{HostDispatch, Pull};
use ojs_abi::error::AbiError;
use ojs_abi::frame;
use ojs_abi::guard::guard;
use ojs_abi::lane::{LaneKind, Wait};
use ojs_abi::runtime;
use ojs_abi::settings::WorkerSettings;
use ojs_abi::token::JobToken;
use ojs_abi::worker::{heartbeat, phase_number, progress, reason_number, save, saved, start};

use crate::bell::Bell;
use crate::connection::{Connection, millis};
use crate::gate;
use crate::replies::{Answer, Replies};

/// There is one lane: JavaScript has one event loop.
const LANE: usize = 0;

/// A worker: not started, running, or over.
#[napi]
pub struct Worker {
    link: Arc<Link>,
    host: Arc<HostDispatch>,
    options: WorkerOptions,
    handle: Arc<OnceLock<WorkerHandle>>,
}

#[napi]
impl Worker {
    /// The settings are JSON. `ring` is called when there are jobs or cancellations, and at the end.
    #[napi(constructor)]
    pub fn new(connection: &Connection, settings: String, ring: Function<'_, (), ()>) -> Result<Self> {
        let bell = Bell::new(&ring)?;
        gate::enter("Worker", || {
            let settings = WorkerSettings::read(&settings)?;
            let routes = settings.routes(LANE);
            let options = settings.options()?;
            let host = HostDispatch::new(&[LaneKind::EventLoop], routes, options.concurrency);
            host.set_doorbell(LANE, Box::new(bell))?;
            Ok(Self { link: Arc::clone(&connection.core), host, options, handle: Arc::default() })
        })
    }

    /// Connects and begins to fetch.
    #[napi]
    pub fn start(&self, replies: &Replies, ticket: f64) -> Result<()> {
        let (link, host, options) = (Arc::clone(&self.link), Arc::clone(&self.host), self.options.clone());
        let place = Arc::clone(&self.handle);
        replies.submit("Worker.start", ticket, async move {
            let client = link.client().await?;
            let handle = start(&place, &client, &options, &host)?;
            Ok(Answer::Text(handle.id().to_owned()))
        })
    }

    /// What is there now, at most `max`, as a frame of jobs; null at the end of the worker, empty when there is nothing.
    #[napi]
    pub fn drain(&self, max: u32) -> Result<Option<Buffer>> {
        let frame = gate::enter("Worker.drain", || {
            self.host.rearm(LANE)?;
            match self.host.pull(LANE, usize::try_from(max).unwrap_or(usize::MAX), Wait::Never)? {
                Pull::Jobs(jobs) => frame::pack_jobs(&jobs).map(Some),
                Pull::TimedOut | Pull::Unblocked => Ok(Some(Vec::new())),
                Pull::Closed => Ok(None),
            }
        })?;
        Ok(frame.map(Buffer::from))
    }

    /// A frame of outcomes, and how long the handlers took together. Returns how many were stale.
    #[napi]
    pub fn complete(&self, frame: &[u8], busy_ms: f64) -> Result<u32> {
        gate::enter("Worker.complete", || {
            let answers = frame::read_outcomes(frame)?;
            let busy = Duration::try_from_secs_f64(busy_ms / 1000.0).unwrap_or_default();
            self.host.observe(LANE, answers.len(), busy);
            self.host.complete(answers).map(|stale| u32::try_from(stale).unwrap_or(u32::MAX))
        })
    }

    /// Jobs that should stop: three numbers each, the low and the high half of the token, and the reason.
    #[napi]
    pub fn cancels(&self) -> Result<Vec<u32>> {
        let cancels = gate::enter("Worker.cancels", || self.host.take_cancels(LANE))?;
        Ok(cancels.into_iter().flat_map(|(token, why)| halves(token, why)).collect())
    }

    /// Extends the lease of a job; the answer is why it should stop, or nothing.
    #[napi]
    pub fn heartbeat(&self, replies: &Replies, ticket: f64, low: u32, high: u32) -> Result<()> {
        let handle = self.running()?;
        let (host, token) = (Arc::clone(&self.host), token_of(low, high));
        replies.submit("Worker.heartbeat", ticket, async move {
            Ok(Answer::Number(heartbeat(&handle, &host, token).await?.map(reason_number)))
        })
    }

    /// Reports how far a job has come; `data` is JSON text.
    #[napi]
    pub fn progress(
        &self,
        low: u32,
        high: u32,
        fraction: Option<f64>,
        message: Option<String>,
        data: Option<String>,
    ) -> Result<()> {
        let handle = self.running()?;
        gate::enter("Worker.progress", || progress(&handle, &self.host, token_of(low, high), fraction, message, data))
    }

    /// Saves the checkpoint of a job, or the result of a step; the answer is its sequence as text, or the number of the
    /// reason why the job should stop.
    #[napi]
    pub fn save(&self, replies: &Replies, ticket: f64, low: u32, high: u32, step: Option<String>, text: String) -> Result<()> {
        let handle = self.running()?;
        let (host, token) = (Arc::clone(&self.host), token_of(low, high));
        replies.submit("Worker.save", ticket, async move {
            Ok(match save(&handle, &host, token, step, text).await? {
                Ok(sequence) => Answer::Text(sequence.to_string()),
                Err(why) => Answer::Number(Some(reason_number(why))),
            })
        })
    }

    /// The checkpoint of a job, or the result of a step, as JSON text.
    #[napi]
    pub fn saved(&self, low: u32, high: u32, step: Option<String>) -> Result<Option<String>> {
        let handle = self.running()?;
        let found = gate::enter("Worker.saved", || saved(&handle, &self.host, token_of(low, high), step.as_deref()))?;
        Ok(found.map(|json| json.as_str().to_owned()))
    }

    /// Fetches no more.
    #[napi]
    pub fn quiet(&self) -> Result<()> {
        self.running()?.quiet();
        Ok(())
    }

    /// Fetches again.
    #[napi]
    pub fn resume(&self) -> Result<()> {
        self.running()?.resume();
        Ok(())
    }

    /// Begins to stop; a second call ends the grace period.
    #[napi]
    pub fn stop(&self, grace: Option<f64>) -> Result<()> {
        let grace = millis("the grace period", grace).map_err(|error| gate::exception(&error))?;
        self.running()?.stop(grace);
        Ok(())
    }

    /// Answers when it is over.
    #[napi]
    pub fn wait(&self, replies: &Replies, ticket: f64) -> Result<()> {
        let handle = self.running()?;
        replies.submit("Worker.wait", ticket, async move {
            handle.wait().await;
            Ok(Answer::Number(None))
        })
    }

    /// For the end of the process: gives unfinished jobs back and waits for that, at most `limit` milliseconds.
    #[napi]
    pub fn finish(&self, limit: f64) -> Result<()> {
        let Some(handle) = self.handle.get().cloned() else { return Ok(()) };
        gate::enter("Worker.finish", || {
            handle.stop(Some(Duration::ZERO));
            let limit = millis("the limit", Some(limit))?.unwrap_or_default();
            runtime::finish_within(limit, async move { handle.wait().await });
            Ok(())
        })
    }

    /// 0 running, 1 quiet, 2 draining, 3 stopped.
    #[napi(getter)]
    pub fn phase(&self) -> u32 {
        u32::from(phase_number(self.host.current_phase()))
    }

    /// Jobs taken in and not yet answered.
    #[napi(getter)]
    pub fn held(&self) -> u32 {
        u32::try_from(self.host.held()).unwrap_or(u32::MAX)
    }

    fn running(&self) -> Result<WorkerHandle> {
        self.handle.get().cloned().ok_or_else(|| gate::exception(&AbiError::invalid("the worker has not been started")))
    }
}

impl Drop for Worker {
    /// The environment ends (a terminated worker thread): the jobs go back to the queue at once.
    fn drop(&mut self) {
        if let Some(handle) = self.handle.get() {
            let _ = guard("Worker.drop", || {
                handle.stop(Some(Duration::ZERO));
                Ok(())
            });
        }
    }
}

fn halves(token: JobToken, why: CancelReason) -> [u32; 3] {
    let bits = token.to_bits();
    let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or_default();
    [half(bits), half(bits >> 32), u32::from(reason_number(why))]
}

/// The token of two halves.
fn token_of(low: u32, high: u32) -> JobToken {
    JobToken::from_bits(u64::from(high) << 32 | u64::from(low))
}
