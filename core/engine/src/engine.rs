//! The engine: a store, the waiting for jobs, and an orderly end. `connect` opens it.
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ojs_model::{JobId, NewJob, OjsError, Timestamp};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::error::{Applied, Refusal, StoreError};
use crate::features::bulk_operations::runner;
use crate::features::progress::board::Board;
use crate::features::push::sender as push;
use crate::features::queue_config::commands::EmitFull;
use crate::features::tenants::within::Within;
use crate::features::webhooks::backlog::Backlog;
use crate::features::webhooks::sender;
use crate::http::client_limit::{ClientLimit, MAX_WAITING, MAX_WAITING_PER_CLIENT};
use crate::kernel::audit::query::RunAudit;
use crate::kernel::clock::Clock;
use crate::kernel::command::{Claim, Enqueue, Exchange, Exchanged, Outcome, OutcomeReport};
use crate::kernel::ending::Ending;
use crate::kernel::finding::Audited;
use crate::kernel::hooks::Hooks;
use crate::kernel::job::JobView;
use crate::kernel::placed::Placed;
use crate::kernel::typed::{Command, Query};
use crate::kernel::wake::{Registration, Signal, Wakeups};
use crate::metrics::Metrics;
use crate::options::EngineOptions;
use crate::outgoing::Outgoing;
use crate::store::seam::{Finding, Store};
use crate::stream::Streams;

/// Longest wait for jobs that a request may ask for: below the idle time-outs of common proxies.
pub const MAX_WAIT: Duration = Duration::from_secs(60);
/// Shortest pause between two looks of a fetch that names job types.
const PICKY_PAUSE: Duration = Duration::from_millis(20);
/// Shortest pause between two looks at a queue that hands out at a rate.
const MIN_PAUSE: Duration = Duration::from_millis(5);

/// A job engine. Cheap to clone; all clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
    /// Whose jobs this clone sees; `None` for those of all tenants.
    tenant: Option<Arc<str>>,
}

/// A database that several machines share.
pub(crate) trait Database: Send + Sync {
    /// What distinguishes it from all others.
    fn identity(&self) -> &str;
    /// Milliseconds that its clock is ahead of ours.
    fn ahead(&self) -> i64;
}

/// What an engine has in common with its store.
#[derive(Clone)]
pub(crate) struct Shared {
    /// The hooks of all features.
    pub hooks: &'static [Hooks],
    pub wakeups: Arc<Wakeups>,
    pub metrics: Arc<Metrics>,
    /// Reports of progress that are not written yet.
    pub progress: Arc<Board>,
    /// Deliveries of webhooks that wait.
    pub backlog: Arc<Backlog>,
    /// Cancelled when the engine closes.
    pub closing: CancellationToken,
}

struct Inner {
    store: Arc<dyn Store>,
    shared: Shared,
    streams: Streams,
    /// Places for requests that wait.
    waiting: Arc<ClientLimit>,
    options: EngineOptions,
    /// The database's clock, for stores that several machines share.
    database: Option<Arc<dyn Database>>,
    opened: Instant,
    opened_at: Timestamp,
    /// Sends requests to addresses of clients.
    outgoing: Arc<Outgoing>,
    /// Send deliveries of webhooks, and jobs to push endpoints; carry out bulk operations.
    senders: Mutex<Vec<JoinHandle<()>>>,
}

impl Drop for Inner {
    /// An engine that was dropped instead of closed: nothing of it may go on looking for its database.
    fn drop(&mut self) {
        self.shared.closing.cancel();
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("options", &self.inner.options).finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine over a store that has been opened. It starts what sends, and what carries out bulk operations.
    pub(crate) fn over(
        store: Arc<dyn Store>,
        database: Option<Arc<dyn Database>>,
        options: EngineOptions,
        shared: Shared,
    ) -> Self {
        let outgoing = Arc::new(Outgoing::new(options.outgoing.clone(), options.test_mode));
        let Shared { wakeups, metrics, backlog, closing, .. } = shared.clone();
        let sender = Outgoing::IS_PRESENT.then(|| {
            let (wakeups, metrics, outgoing) = (Arc::clone(&wakeups), Arc::clone(&metrics), Arc::clone(&outgoing));
            let (store, closing) = (Arc::downgrade(&store), closing.clone());
            let event_source = Arc::clone(&options.event_source);
            tokio::spawn(sender::run(sender::Parts { store, wakeups, metrics, outgoing, backlog, closing, event_source }))
        });
        let pusher = Outgoing::IS_PRESENT.then(|| {
            let (wakeups, outgoing) = (Arc::clone(&wakeups), Arc::clone(&outgoing));
            let now = Box::new(store_clock(Arc::clone(&options.clock), database.clone()));
            let (store, closing) = (Arc::downgrade(&store), closing.clone());
            tokio::spawn(push::run(push::Parts { store, wakeups, metrics, outgoing, now, closing }))
        });
        let runner = {
            let now = Box::new(store_clock(Arc::clone(&options.clock), database.clone()));
            let store = Arc::downgrade(&store);
            tokio::spawn(runner::run(runner::Parts { store, wakeups, now, closing }))
        };
        let inner = Inner {
            store,
            shared,
            streams: Streams::default(),
            waiting: Arc::new(ClientLimit::new(MAX_WAITING, MAX_WAITING_PER_CLIENT)),
            opened: Instant::now(),
            opened_at: options.clock.now(),
            options,
            database,
            outgoing,
            senders: Mutex::new(sender.into_iter().chain(pusher).chain([runner]).collect()),
        };
        Self { inner: Arc::new(inner), tenant: None }
    }

    /// The store, for tools and tests that go below HTTP.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// Stops waiting fetches, finishes what was accepted, closes the files. Later requests get 503. Idempotent.
    pub async fn close(&self) {
        self.stop_waiting();
        self.write_progress(true).await;
        let senders = std::mem::take(&mut *self.inner.senders.lock().unwrap_or_else(PoisonError::into_inner));
        for sender in senders {
            // What is under way is settled while there is a store. A panic in it was logged; nothing is handed on.
            let _ = sender.await;
        }
        self.inner.store.close().await;
    }

    /// Answers waiting fetches with what there is, now and from now on.
    pub(crate) fn stop_waiting(&self) {
        self.inner.shared.closing.cancel();
    }

    /// Resolves when the engine no longer lets requests wait.
    pub(crate) async fn closed(&self) {
        self.inner.shared.closing.cancelled().await;
    }

    /// Registers a caller for the end of a job.
    pub(crate) fn watch_end(&self, job: JobId) -> Ending {
        self.inner.shared.wakeups.endings.watch(job)
    }

    /// Registers a caller for a signal.
    pub(crate) fn watch(&self, signal: &Signal) -> Registration {
        self.inner.shared.wakeups.register_signal(signal)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.inner.shared.closing.is_cancelled()
    }

    pub(crate) fn streams(&self) -> &Streams {
        &self.inner.streams
    }

    /// Places for requests that wait.
    pub(crate) fn waiting(&self) -> &Arc<ClientLimit> {
        &self.inner.waiting
    }

    /// Reports of progress that are not written yet.
    pub(crate) fn progress(&self) -> &Arc<Board> {
        &self.inner.shared.progress
    }

    /// Deliveries of webhooks that wait.
    pub(crate) fn backlog(&self) -> &Backlog {
        &self.inner.shared.backlog
    }

    /// The engine for a task that must not keep it open.
    pub(crate) fn downgrade(&self) -> impl Fn() -> Option<Self> + Send + Sync + 'static {
        let (inner, tenant) = (Arc::downgrade(&self.inner), self.tenant.clone());
        move || inner.upgrade().map(|inner| Self { inner, tenant: tenant.clone() })
    }

    pub(crate) fn wakeups(&self) -> &Wakeups {
        &self.inner.shared.wakeups
    }

    /// Sends requests to addresses of clients.
    pub(crate) fn outgoing(&self) -> &Outgoing {
        &self.inner.outgoing
    }

    pub(crate) fn metrics(&self) -> &Arc<Metrics> {
        &self.inner.shared.metrics
    }

    /// What the engine was opened with.
    #[must_use]
    pub fn options(&self) -> &EngineOptions {
        &self.inner.options
    }

    pub(crate) fn now(&self) -> Timestamp {
        store_time(&*self.inner.options.clock, self.inner.database.as_deref())
    }

    pub(crate) fn opened_at(&self) -> Timestamp {
        self.inner.opened_at
    }

    pub(crate) fn uptime(&self) -> Duration {
        self.inner.opened.elapsed()
    }

    /// What distinguishes this store from all others, where applications may reach it too.
    pub(crate) fn store_identity(&self) -> Option<&str> {
        self.inner.database.as_ref().map(|database| database.identity())
    }

    pub(crate) fn store_name(&self) -> &'static str {
        self.inner.store.name()
    }

    /// The same engine as one tenant sees it: what belongs to others is not there.
    pub(crate) fn of_tenant(&self, tenant: Arc<str>) -> Self {
        Self { inner: Arc::clone(&self.inner), tenant: Some(tenant) }
    }

    /// The same engine as an operator sees it.
    pub(crate) fn of_all(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), tenant: None }
    }

    /// The tenant whose jobs this clone sees; `None` for those of all tenants.
    pub(crate) fn tenant(&self) -> Option<&Arc<str>> {
        self.tenant.as_ref()
    }

    /// Carries out a command.
    pub(crate) fn execute<C: Command>(&self, command: C) -> impl Future<Output = Applied<C::Reply>> + Send {
        let (store, tenant) = (Arc::clone(&self.inner.store), self.tenant.clone());
        async move {
            match tenant {
                None => store.execute(command).await,
                Some(tenant) => store.execute(Within { tenant, asked: command }).await,
            }
        }
    }

    /// Whether what writes is alive and may confirm changes.
    pub(crate) async fn probe(&self) -> Result<(), StoreError> {
        self.inner.store.probe().await
    }

    /// What the look through the store's file has found, if there is one.
    pub(crate) fn finding(&self) -> Option<Finding> {
        self.inner.store.checkup().map(|checkup| checkup.finding())
    }

    /// Compares the rows of the store with each other and changes nothing: counts with jobs, jobs with their bodies,
    /// workflows with their steps, and so on. It reads everything in one snapshot, a page at a time, on one of the two
    /// connections for lists and searches. Other queries of a store in memory wait meanwhile: some seconds for a
    /// million jobs.
    ///
    /// ```
    /// # use ojs_engine::{Engine, EngineOptions};
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// let engine = Engine::open(EngineOptions::new("memory:".parse().unwrap())).await.unwrap();
    /// let audited = engine.audit().await.unwrap();
    /// assert!(audited.is_sound(), "{:?}", audited.findings);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When rows cannot be read at all, or the engine is closed.
    pub async fn audit(&self) -> Result<Audited, StoreError> {
        let checks = self.inner.shared.hooks.iter().filter_map(|feature| feature.audit).collect();
        let refused =
            |refusal: Refusal| refusal.into_error().map_or_else(|fault| fault, |error| StoreError::Failed(error.message));
        self.query(RunAudit(checks)).await.map_err(refused)
    }

    /// Answers a query.
    pub(crate) fn query<Q: Query>(&self, query: Q) -> impl Future<Output = Applied<Q::Reply>> + Send {
        let (store, tenant) = (Arc::clone(&self.inner.store), self.tenant.clone());
        async move {
            match tenant {
                None => store.query(query).await,
                Some(tenant) => store.query(Within { tenant, asked: query }).await,
            }
        }
    }

    /// Stores jobs. When a queue that lets its producers wait is full, waits up to `patience` for room.
    pub(crate) async fn enqueue(&self, jobs: Vec<Arc<NewJob>>, patience: Duration) -> Applied<Vec<Placed>> {
        let first = self.execute(Enqueue(jobs.clone())).await;
        let Some(queue) = blocked_on(&first) else { return first };
        let deadline = tokio::time::Instant::now() + patience.min(MAX_WAIT);
        let mut refusal = first;
        let mut full = queue;
        while !patience.is_zero() {
            // Registered before the next try: room that comes in between is not missed.
            let registration = self.inner.shared.wakeups.register_signal(&Signal::Room(full.clone()));
            refusal = self.execute(Enqueue(jobs.clone())).await;
            match blocked_on(&refusal) {
                None => return refusal,
                Some(queue) if queue != full => {
                    full = queue;
                    continue;
                }
                Some(_) => {}
            }
            tokio::select! {
                () = registration.woken() => {}
                () = tokio::time::sleep_until(deadline) => break,
                () = self.inner.shared.closing.cancelled() => break,
            }
        }
        let job_type = jobs.iter().find(|job| job.queue == full).map(|job| job.job_type.clone()).unwrap_or_default();
        self.execute(EmitFull { queue: full, job_type }).await?;
        refusal
    }

    /// Writes outcomes, then claims jobs without waiting.
    pub(crate) async fn exchange(&self, outcomes: Vec<OutcomeReport>, claim: Option<Claim>) -> Applied<Exchanged> {
        self.execute(Exchange { outcomes, claim }).await
    }

    /// Writes outcomes, then claims jobs, waiting up to `wait` for the first. A caller that is refused while it waits
    /// gets no jobs, and the refusal unless there are results of outcomes.
    pub(crate) async fn exchange_while(
        &self,
        outcomes: Vec<OutcomeReport>,
        claim: Option<Claim>,
        wait: Duration,
        refused: impl Future<Output = OjsError> + Send,
    ) -> Applied<Exchanged> {
        let claim = match claim {
            Some(claim) if !wait.is_zero() => claim,
            claim => return self.exchange_at_once(outcomes, claim).await,
        };
        let mut refused = std::pin::pin!(refused);
        // Registered before the first look: a job that arrives in between is not missed.
        let mut picky = !claim.types.is_empty() || claim.handlers.is_some() || self.tenant.is_some();
        let mut registration = match picky {
            true => self.inner.shared.wakeups.register_picky(&claim.queues),
            false => self.inner.shared.wakeups.register(&claim.queues, claim.count),
        };
        let quiet = claim.worker.clone().map(|worker| self.inner.shared.wakeups.register_signal(&Signal::Quiet(worker)));
        let deadline = tokio::time::Instant::now() + wait.min(MAX_WAIT);
        let mut exchanged = self.claim_for_caller(outcomes, &claim).await?;
        while exchanged.jobs.is_empty() {
            if exchanged.is_picky && !picky {
                // Registered anew, so it looks once more: a job may have come in between.
                (picky, registration) = (true, self.inner.shared.wakeups.register_picky(&claim.queues));
                let Exchanged { jobs, retry_at, .. } = self.claim_for_caller(Vec::new(), &claim).await?;
                (exchanged.jobs, exchanged.retry_at) = (jobs, retry_at);
                continue;
            }
            if picky {
                // It is called for jobs that others take as well: a busy queue must not make it look without end.
                tokio::time::sleep(PICKY_PAUSE).await;
            }
            // A queue with a rate says when it has more jobs; no other event does.
            let pause =
                exchanged.retry_at.map_or(MAX_WAIT, |at| Duration::from_millis(at.millis_since(self.now())).max(MIN_PAUSE));
            tokio::select! {
                () = registration.woken() => {}
                () = tokio::time::sleep(pause) => {}
                () = tokio::time::sleep_until(deadline) => break,
                () = woken(quiet.as_ref()) => break,
                () = self.inner.shared.closing.cancelled() => break,
                error = &mut refused => return without_jobs(exchanged, error),
            }
            let claimed = tokio::select! {
                biased;
                error = &mut refused => return without_jobs(exchanged, error),
                claimed = self.claim_for_caller(Vec::new(), &claim) => claimed?,
            };
            (exchanged.jobs, exchanged.retry_at) = (claimed.jobs, claimed.retry_at);
        }
        Ok(exchanged)
    }

    /// Claims in a task of its own: when the caller hangs up while the claim is under way, the jobs are given back at once
    /// instead of waiting for their leases to run out.
    async fn claim_for_caller(&self, outcomes: Vec<OutcomeReport>, claim: &Claim) -> Applied<Exchanged> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let (engine, claim) = (self.clone(), claim.clone());
        tokio::spawn(async move {
            let reply = engine.execute(Exchange { outcomes, claim: Some(claim) }).await;
            // Unread in the channel or refused by it: dropped in both cases, and then given back.
            let _ = sender.send(reply.map(|exchanged| Handout { engine, exchanged }));
        });
        let handout = receiver.await.unwrap_or_else(|_| Err(StoreError::Closed.into()))?;
        Ok(handout.take())
    }

    async fn give_back(&self, jobs: Vec<JobView>) {
        let release = |job: JobView| OutcomeReport {
            job: job.row.id,
            lease: Some(job.row.lease),
            worker: None,
            outcome: Outcome::Release(0),
            want_job: false,
        };
        let outcomes: Vec<_> = jobs.into_iter().map(release).collect();
        if let Err(refusal) = self.execute(Exchange { outcomes, claim: None }).await {
            tracing::warn!(?refusal, "jobs of a caller that hung up come back when their leases run out");
        }
    }
}

/// The answer to a caller that was refused while it waited.
fn without_jobs(exchanged: Exchanged, error: OjsError) -> Applied<Exchanged> {
    if exchanged.results.is_empty() { Err(error.into()) } else { Ok(exchanged) }
}

/// The time by the clock of the store.
fn store_time(clock: &dyn Clock, database: Option<&dyn Database>) -> Timestamp {
    let ahead = database.filter(|_| clock.is_wall()).map_or(0, Database::ahead);
    Timestamp::from_millis(clock.now().as_millis().saturating_add(ahead))
}

/// The same for a task that outlives no engine.
fn store_clock(clock: Arc<dyn Clock>, database: Option<Arc<dyn Database>>) -> impl Fn() -> Timestamp + Send + Sync {
    move || store_time(&*clock, database.as_deref())
}

/// Resolves when a registration is called; never without one.
async fn woken(registration: Option<&Registration>) {
    match registration {
        Some(registration) => registration.woken().await,
        None => std::future::pending().await,
    }
}

/// The queue that is full and lets its producers wait, when that is why an enqueue was refused.
fn blocked_on(reply: &Applied<Vec<Placed>>) -> Option<String> {
    match reply {
        Err(Refusal::Blocked(blocked)) => Some(blocked.queue.clone()),
        _ => None,
    }
}

/// Claimed jobs on their way to a caller who may have hung up: jobs that the caller does not take are given back.
struct Handout {
    engine: Engine,
    exchanged: Exchanged,
}

impl Handout {
    fn take(mut self) -> Exchanged {
        std::mem::take(&mut self.exchanged)
    }
}

impl Drop for Handout {
    fn drop(&mut self) {
        let jobs = std::mem::take(&mut self.exchanged.jobs);
        // Without a runtime the process is ending; the leases run out by themselves.
        if let (false, Ok(runtime)) = (jobs.is_empty(), tokio::runtime::Handle::try_current()) {
            let engine = self.engine.clone();
            runtime.spawn(async move { engine.give_back(jobs).await });
        }
    }
}
