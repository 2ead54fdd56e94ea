//! Writers that commit in groups (decision record 3): one for SQLite and memory, several for PostgreSQL.
//!
//! Requests put commands into a channel; the writer thread takes what has gathered there, applies it in one transaction, commits, then
//! answers all of them. While it waits for the disk the next group gathers: no timer, and throughput grows with load.
mod apart;
mod reader;
mod search;
mod thread;

use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use crate::error::{Applied, Refusal, StoreError};
use crate::features::progress::board::Board;
use crate::features::state::Kept;
use crate::features::webhooks::backlog::Backlog;
use crate::kernel::clock::Clock;
use crate::kernel::counters::Counters;
use crate::kernel::hooks::Hooks;
use crate::kernel::maintenance::Sweeper;
use crate::kernel::typed::{Asked, Submitted};
use crate::kernel::wake::Wakeups;
use crate::metrics::Metrics;
use crate::store::seam::{Checkup, Store};
use crate::store::tables::Tables;
use reader::read_loop;
use search::{Place, Searchers};
use thread::WriterThread;

/// Longest wait for the answer of a thread to a health check: longer than a transaction may wait for another process.
const PROBE_PATIENCE: Duration = Duration::from_secs(10);
/// A health check counts for this long: probes of several monitors then cost the threads at most one check a second.
const PROBE_AGE: Duration = Duration::from_secs(1);

type Answer = oneshot::Sender<Applied<()>>;

enum Message {
    Execute(Arc<dyn Submitted>, Answer),
    /// With its place, when it is a search.
    Query(Arc<dyn Asked>, Answer, Option<Place>),
    Sweep(Answer),
    /// Asks a thread whether it works, and whether it can confirm commits.
    Probe(Answer),
    Close(oneshot::Sender<()>),
}

/// The connections of a store, each for a thread of its own.
pub struct Connections {
    /// The writers: the one that is free takes the next commands.
    pub writers: Vec<Box<dyn Tables>>,
    /// Does the work that is due by time; `None` leaves that to the only writer.
    pub maintenance: Option<Box<dyn Tables>>,
    /// They answer queries; an empty list sends queries through the writer.
    pub readers: Vec<Box<dyn Tables>>,
    /// They answer searches; an empty list sends searches where the other queries go.
    pub searchers: Vec<Box<dyn Tables>>,
    /// For manifest and health.
    pub name: &'static str,
    /// Checks the file in the background, when it may have been damaged.
    pub checkup: Option<Arc<Checkup>>,
}

/// The parts of a store.
pub struct WriterParts {
    /// What takes part in transactions beside the kernel.
    pub features: &'static [Hooks],
    /// The store's connections.
    pub connections: Connections,
    /// Source of time.
    pub clock: Arc<dyn Clock>,
    /// Time-driven work.
    pub sweeper: Sweeper,
    /// Notified of new jobs.
    pub wakeups: Arc<Wakeups>,
    /// Notified of commits.
    pub metrics: Arc<Metrics>,
    /// Reports of progress that are not written yet.
    pub progress: Arc<Board>,
    /// Deliveries of webhooks that wait.
    pub(crate) backlog: Arc<Backlog>,
}

/// State that the threads of a store share.
struct Shared {
    clock: Arc<dyn Clock>,
    wakeups: Arc<Wakeups>,
    metrics: Arc<Metrics>,
}

/// A store made of tables and the threads that own them.
pub struct GroupCommitStore {
    writers: Pool,
    maintenance: Option<Pool>,
    readers: Option<Pool>,
    searchers: Option<Searchers>,
    name: &'static str,
    checkup: Option<Arc<Checkup>>,
    /// The latest health check, and its time.
    probed: tokio::sync::Mutex<Option<(Instant, Result<(), StoreError>)>>,
}

/// Threads that take messages from one channel.
struct Pool {
    sender: Sender<Message>,
    size: usize,
}

type Inbox = Arc<Mutex<Receiver<Message>>>;
/// The work of a thread, given its inbox.
type Job = Box<dyn FnOnce(&Inbox) + Send>;

impl Pool {
    /// Starts a thread per job.
    fn spawn(name: &str, jobs: Vec<Job>) -> Result<Self, StoreError> {
        let (sender, receiver) = channel();
        let inbox: Inbox = Arc::new(Mutex::new(receiver));
        let size = jobs.len();
        for job in jobs {
            let inbox = Arc::clone(&inbox);
            let started = crate::threads::spawn(name, move || job(&inbox));
            started.map_err(|error| StoreError::Failed(format!("cannot start a thread: {error}")))?;
        }
        Ok(Self { sender, size })
    }
}

impl GroupCommitStore {
    /// Starts the threads.
    ///
    /// # Errors
    /// When the store cannot reserve lease tokens, or the operating system refuses a thread.
    pub fn start(parts: WriterParts) -> Result<Self, StoreError> {
        let WriterParts { features, connections, clock, sweeper, wakeups, metrics, progress, backlog } = parts;
        let Connections { writers, maintenance, readers, searchers, name, checkup } = connections;
        let kept = Kept { progress, backlog, ..Kept::default() };
        let counters = Counters { kept, ..Counters::with(features) };
        let has_maintenance = maintenance.is_some();
        let member = |mut tables: Box<dyn Tables>, sweeps: bool| -> Result<Job, StoreError> {
            let mut counters = counters.clone();
            // Durably, before the first claim: tokens stay unique even when a power cut swallows unsynced claims.
            tables.begin(true)?;
            counters.reserve(tables.as_mut())?;
            tables.commit()?;
            let shared = Shared { clock: Arc::clone(&clock), wakeups: Arc::clone(&wakeups), metrics: Arc::clone(&metrics) };
            let mut thread = WriterThread::new(tables, counters, sweeps.then(|| sweeper.clone()), shared);
            Ok(Box::new(move |inbox| thread.run(inbox)))
        };
        let writers = writers.into_iter().map(|tables| member(tables, !has_maintenance)).collect::<Result<_, _>>()?;
        let maintenance = match maintenance {
            Some(tables) => Some(Pool::spawn("ojs-maintenance", vec![member(tables, true)?])?),
            None => None,
        };
        let reading = |name: &str, connections: Vec<Box<dyn Tables>>| -> Result<Option<Pool>, StoreError> {
            let mut jobs: Vec<Job> = Vec::new();
            for tables in connections {
                let metrics = Arc::clone(&metrics);
                jobs.push(Box::new(move |inbox| read_loop(tables, &metrics, inbox)));
            }
            if jobs.is_empty() { Ok(None) } else { Pool::spawn(name, jobs).map(Some) }
        };
        let readers = reading("ojs-reader", readers)?;
        let searchers = reading("ojs-search", searchers)?.map(Searchers::of);
        let writers = Pool::spawn("ojs-writer", writers)?;
        Ok(Self { writers, maintenance, readers, searchers, name, checkup, probed: tokio::sync::Mutex::default() })
    }

    fn send<'a>(&self, to: &Pool, message: impl FnOnce(Answer) -> Message) -> BoxFuture<'a, Applied<()>> {
        let (answer, reply) = oneshot::channel();
        let sent = to.sender.send(message(answer)).is_ok();
        Box::pin(async move {
            if !sent {
                return Err(StoreError::Closed.into());
            }
            reply.await.unwrap_or(Err(StoreError::Closed.into()))
        })
    }
}

impl GroupCommitStore {
    /// Checks one writer and the maintenance thread; returns why nothing can be confirmed, if so.
    async fn ask_threads(&self) -> Result<(), StoreError> {
        for pool in [Some(&self.writers), self.maintenance.as_ref()].into_iter().flatten() {
            let reply = self.send(pool, Message::Probe);
            match tokio::time::timeout(PROBE_PATIENCE, reply).await {
                Ok(Ok(())) => {}
                Ok(Err(Refusal::Store(StoreError::Closed))) => {
                    return Err(StoreError::Unavailable("a thread that writes has ended: restart the process".into()));
                }
                Ok(Err(refusal)) => return Err(StoreError::Failed(refusal.into_error()?.message)),
                Err(_) => {
                    let text = format!("a thread that writes has not answered for {} s", PROBE_PATIENCE.as_secs());
                    return Err(StoreError::Unavailable(text));
                }
            }
        }
        Ok(())
    }
}

impl Store for GroupCommitStore {
    fn submit(&self, command: Arc<dyn Submitted>) -> BoxFuture<'_, Applied<()>> {
        self.send(&self.writers, |answer| Message::Execute(command, answer))
    }

    fn ask(&self, query: Arc<dyn Asked>) -> BoxFuture<'_, Applied<()>> {
        match self.searchers.as_ref().filter(|_| query.is_search()) {
            None => self.send(self.readers.as_ref().unwrap_or(&self.writers), |answer| Message::Query(query, answer, None)),
            Some(searchers) => match searchers.enter() {
                Ok(place) => self.send(&searchers.pool, |answer| Message::Query(query, answer, Some(place))),
                Err(full) => Box::pin(std::future::ready(Err(full.into()))),
            },
        }
    }

    fn sweep(&self) -> BoxFuture<'_, Applied<()>> {
        self.send(self.maintenance.as_ref().unwrap_or(&self.writers), Message::Sweep)
    }

    fn probe(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            // Held while the threads are asked: a caller that comes meanwhile gets the same answer.
            let mut probed = self.probed.lock().await;
            if let Some((_, outcome)) = probed.as_ref().filter(|(at, _)| at.elapsed() < PROBE_AGE) {
                return outcome.clone();
            }
            let outcome = self.ask_threads().await;
            *probed = Some((Instant::now(), outcome.clone()));
            outcome
        })
    }

    fn checkup(&self) -> Option<Arc<Checkup>> {
        self.checkup.clone()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Some(checkup) = self.checkup.clone() {
                // Its connection must not be the last: the one that writes folds the log into the file.
                let _ = tokio::task::spawn_blocking(move || checkup.end()).await;
            }
            // The readers first: SQLite folds its log into the file when the last connection closes, if that one may write.
            let searchers = self.searchers.as_ref().map(|searchers| &searchers.pool);
            let pools = [searchers, self.readers.as_ref(), self.maintenance.as_ref(), Some(&self.writers)];
            for pool in pools.into_iter().flatten() {
                let mut waits = Vec::new();
                for _ in 0..pool.size {
                    let (done, closed) = oneshot::channel();
                    // Each takes one, and takes nothing after it.
                    if pool.sender.send(Message::Close(done)).is_ok() {
                        waits.push(closed);
                    }
                }
                for closed in waits {
                    // An error means that the thread has ended already.
                    let _ = closed.await;
                }
            }
        })
    }

    fn name(&self) -> &'static str {
        self.name
    }
}

impl Drop for GroupCommitStore {
    /// Ends the readers of a store that was dropped instead of closed.
    fn drop(&mut self) {
        if let Some(checkup) = &self.checkup {
            checkup.stop();
        }
    }
}

/// Runs work; a panic in it becomes its text.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // A rollback undoes what a panic leaves half done; caches are read again.
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a text".to_owned())
    })
}
