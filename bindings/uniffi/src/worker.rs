//! Workers: pull jobs, bring outcomes back.
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use ojs::dispatch::CancelReason;
use ojs::worker::{WorkerHandle, WorkerOptions};
use ojs_abi::connection::Connection;
use ojs_abi::dispatch::{Cancels, HostDispatch, Pull};
use ojs_abi::error::AbiError;
use ojs_abi::frame;
use ojs_abi::lane::{LaneKind, Wait};
use ojs_abi::process::Owner;
use ojs_abi::runtime;
use ojs_abi::settings::WorkerSettings;
use ojs_abi::token::JobToken;
use ojs_abi::worker::{heartbeat, phase_number, reason_number, report, save, saved, start};

use crate::client::CoreClient;
use crate::error::{CoreError, call, enter};

/// There is one lane: a job that was pulled is begun.
const LANE: usize = 0;

/// A worker: not started, running, or over. When it is dropped while it runs, its jobs go back to their queue.
#[derive(uniffi::Object)]
pub struct CoreWorker {
    owner: Owner,
    link: Arc<Connection>,
    host: Arc<HostDispatch>,
    options: WorkerOptions,
    handle: OnceLock<WorkerHandle>,
    /// A frame that was too large for the memory that the host gave for it.
    pub(crate) kept: Mutex<Option<Vec<u8>>>,
}

/// A running job that should stop.
#[derive(Debug, Clone, Copy, uniffi::Record)]
pub struct Cancellation {
    /// The job's.
    pub token: u64,
    /// The reason, by its number in `xtask/schema.toml`.
    pub why: u8,
}

/// What became of a save.
#[derive(Debug, Clone, Copy, uniffi::Record)]
pub struct Saved {
    /// The sequence of the checkpoint.
    pub sequence: u64,
    /// Why the handler should stop, and nothing was saved; 0 when it should not.
    pub why: u8,
}

/// 0 is no reason, so every reason has one more than the number that Python, JavaScript and Ruby know it by.
const fn number(why: Option<CancelReason>) -> u8 {
    match why {
        None => 0,
        Some(why) => reason_number(why) + 1,
    }
}

#[uniffi::export]
impl CoreWorker {
    /// A worker on a client's connection. `settings` is a JSON object by the names of `xtask/schema.toml`, lengths of
    /// time in seconds; beside them `types` (the job types that have a handler), `fallback` (there is one for all
    /// others) and `versions`.
    ///
    /// # Errors
    /// A setting that does not exist or cannot be.
    #[uniffi::constructor]
    pub fn new(client: &CoreClient, settings: &str) -> Result<Self, CoreError> {
        enter("worker_new", || {
            let settings = WorkerSettings::read(settings)?;
            let routes = settings.routes(LANE);
            let options = settings.options()?;
            let host = HostDispatch::new(&[LaneKind::EventLoop], routes, options.concurrency);
            let link = Arc::clone(&client.link);
            Ok(Self { owner: Owner::current(), link, host, options, handle: OnceLock::new(), kept: Mutex::default() })
        })
    }

    /// Connects and begins to fetch.
    ///
    /// # Errors
    /// No connection, or it was started before.
    pub async fn start(&self) -> Result<(), CoreError> {
        enter("worker_start", || self.owner.check("a worker"))?;
        let link = Arc::clone(&self.link);
        let client = call("worker_start", async move { link.client().await }).await?;
        enter("worker_start", || {
            start(&self.handle, &client, &self.options, &self.host)?;
            Ok(())
        })
    }

    /// Takes up to `max` jobs, as a frame; waits until there is one. Empty when the worker is over. For one thread of
    /// the host.
    ///
    /// # Errors
    /// Not started.
    pub fn pull(&self, max: u32) -> Result<Vec<u8>, CoreError> {
        enter("worker_pull", || self.next_frame(max))
    }

    /// Running jobs that should stop, at most `max`, each once; waits until there is one. Empty when the worker is
    /// over. For one thread of the host beside the one that pulls.
    ///
    /// # Errors
    /// Not started.
    pub fn cancellations(&self, max: u32) -> Result<Vec<Cancellation>, CoreError> {
        enter("worker_cancellations", || {
            self.running()?;
            loop {
                match self.host.cancellations(LANE, usize::try_from(max.max(1)).unwrap_or(1), Wait::Forever)? {
                    Cancels::Jobs(jobs) => {
                        let list =
                            jobs.iter().map(|(token, why)| Cancellation { token: token.to_bits(), why: number(Some(*why)) });
                        return Ok(list.collect());
                    }
                    Cancels::TimedOut | Cancels::Unblocked => {}
                    Cancels::Closed => return Ok(Vec::new()),
                }
            }
        })
    }

    /// Hands in a frame of outcomes, and how long their handlers took together, in microseconds. Never waits. The
    /// answer is how many came too late or twice: they changed nothing.
    ///
    /// # Errors
    /// A frame of another form; then nothing was done.
    pub fn complete(&self, outcomes: &[u8], busy_us: u64) -> Result<u64, CoreError> {
        enter("worker_complete", || self.take_outcomes(outcomes, busy_us))
    }

    /// Extends the lease of a job now; the answer is why its handler should stop, 0 when it should not.
    ///
    /// # Errors
    /// No answer of the server.
    pub async fn heartbeat(&self, token: u64) -> Result<u8, CoreError> {
        let (handle, host) = (self.running()?.clone(), Arc::clone(&self.host));
        call("worker_heartbeat", async move { Ok(number(heartbeat(&handle, &host, JobToken::from_bits(token)).await?)) }).await
    }

    /// Reports how far a job has come: a JSON object of `progress`, `message` and `data`. Returns at once.
    ///
    /// # Errors
    /// Another form.
    pub fn progress(&self, token: u64, said: &str) -> Result<(), CoreError> {
        enter("worker_progress", || report(self.running()?, &self.host, JobToken::from_bits(token), said))
    }

    /// Saves the checkpoint of a job, which is JSON; or the result of a step.
    ///
    /// # Errors
    /// Too large, or no answer of the server.
    pub async fn save(&self, token: u64, step: Option<String>, state: String) -> Result<Saved, CoreError> {
        let (handle, host) = (self.running()?.clone(), Arc::clone(&self.host));
        let saved =
            call("worker_save", async move { save(&handle, &host, JobToken::from_bits(token), step, state).await }).await?;
        Ok(match saved {
            Ok(sequence) => Saved { sequence, why: 0 },
            Err(why) => Saved { sequence: 0, why: number(Some(why)) },
        })
    }

    /// The checkpoint of a job as JSON, or the result of a step; nothing when there is none. Costs no request.
    ///
    /// # Errors
    /// Not started.
    pub fn saved(&self, token: u64, step: Option<String>) -> Result<Option<String>, CoreError> {
        enter("worker_saved", || {
            let found = saved(self.running()?, &self.host, JobToken::from_bits(token), step.as_deref())?;
            Ok(found.map(|json| String::from_utf8_lossy(json.as_bytes()).into_owned()))
        })
    }

    /// Fetches no more; what runs goes on.
    ///
    /// # Errors
    /// Not started.
    pub fn quiet(&self) -> Result<(), CoreError> {
        enter("worker_quiet", || {
            self.running()?.quiet();
            Ok(())
        })
    }

    /// Fetches again.
    ///
    /// # Errors
    /// Not started.
    pub fn resume(&self) -> Result<(), CoreError> {
        enter("worker_resume", || {
            self.running()?.resume();
            Ok(())
        })
    }

    /// Begins to stop: running handlers may finish for `grace_ms` (nothing: as the settings say), then their jobs go
    /// back to the queue. A second call ends the grace period.
    ///
    /// # Errors
    /// Not started.
    pub fn stop(&self, grace_ms: Option<u64>) -> Result<(), CoreError> {
        enter("worker_stop", || {
            self.running()?.stop(grace_ms.map(Duration::from_millis));
            Ok(())
        })
    }

    /// Waits until the worker is over.
    ///
    /// # Errors
    /// Not started.
    pub async fn over(&self) -> Result<(), CoreError> {
        let handle = self.running()?.clone();
        call("worker_over", async move {
            handle.wait().await;
            Ok(())
        })
        .await
    }

    /// The same on the calling thread, for at most so many milliseconds; for the end of a process. Whether it is over.
    ///
    /// # Errors
    /// Not started.
    pub fn over_within(&self, wait_ms: u64) -> Result<bool, CoreError> {
        enter("worker_over", || {
            let handle = self.running()?.clone();
            let wait = Duration::from_millis(wait_ms);
            Ok(runtime::handle()?.block_on(async move { tokio::time::timeout(wait, handle.wait()).await.is_ok() }))
        })
    }

    /// Where it is in its life, by its number in `xtask/schema.toml`.
    pub fn phase(&self) -> u8 {
        // 0 is a worker that has not been started.
        self.handle.get().map_or(0, |_| phase_number(self.host.current_phase()) + 1)
    }

    /// Where it is in memory until it is freed, for the functions of [`frames`](crate::frames).
    pub fn address(&self) -> u64 {
        // No platform of this library has wider addresses.
        std::ptr::from_ref(self).expose_provenance() as u64
    }

    /// Its name on the server; empty before the start.
    pub fn id(&self) -> String {
        self.handle.get().map(|handle| handle.id().to_owned()).unwrap_or_default()
    }
}

impl CoreWorker {
    /// See [`pull`](Self::pull).
    pub(crate) fn next_frame(&self, max: u32) -> Result<Vec<u8>, AbiError> {
        self.running()?;
        loop {
            match self.host.pull(LANE, usize::try_from(max.max(1)).unwrap_or(1), Wait::Forever)? {
                Pull::Jobs(jobs) => return frame::pack_jobs(&jobs),
                Pull::TimedOut | Pull::Unblocked => {}
                Pull::Closed => return Ok(Vec::new()),
            }
        }
    }

    /// See [`complete`](Self::complete).
    pub(crate) fn take_outcomes(&self, outcomes: &[u8], busy_us: u64) -> Result<u64, AbiError> {
        let answers = frame::read_outcomes(outcomes)?;
        if busy_us > 0 {
            self.host.observe(LANE, answers.len(), Duration::from_micros(busy_us));
        }
        Ok(u64::try_from(self.host.complete(answers)?).unwrap_or(u64::MAX))
    }

    fn running(&self) -> Result<&WorkerHandle, AbiError> {
        self.owner.check("a worker")?;
        self.handle.get().ok_or_else(|| AbiError::invalid("the worker has not been started"))
    }
}

impl Drop for CoreWorker {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.get().filter(|_| self.owner.is_current()) {
            handle.stop(Some(Duration::ZERO));
        }
    }
}
