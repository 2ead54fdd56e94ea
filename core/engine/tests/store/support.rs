//! A store on a bench: a manual clock, short verbs, and the macro that makes one test per store.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use ojs_engine::clock::{Clock, ManualClock};
use ojs_engine::command::{
    Cancel, Changed, Claim, Command, Enqueue, Exchange, Finished, GetJob, GetQueue, Heartbeat, ListDead, Outcome, OutcomeReport,
    ReadEvents,
};
use ojs_engine::error::{Refusal, StoreError};
use ojs_engine::job::JobView;
use ojs_engine::outgoing::OutgoingOptions;
use ojs_engine::rows::{Counts, DeadFilter};
use ojs_engine::{Engine, EngineOptions, Event, EventFilter, StoreUrl};
use ojs_model::{JobError, JobId, JobState, NewJob, OjsError, Timestamp};
use ojs_postgres_fixture::Database;
use tempfile::TempDir;

use crate::checked::Checked;

/// 2026-01-01T00:00:00Z.
pub const START: i64 = 1_767_225_600_000;

pub struct Bench {
    /// First: the audit needs the store, and fields are dropped in order.
    pub audited: Audited,
    pub engine: Engine,
    pub clock: Arc<ManualClock>,
    pub dir: TempDir,
    /// Kept: it goes when the test ends.
    pub database: Option<Database>,
}

/// Audits the store when the test ends, so that every test of the suite does. A test that damages its store says so
/// with [`damaged`](Self::damaged). A store that was closed is not audited.
pub struct Audited {
    engine: Engine,
    damaged: AtomicBool,
}

impl Audited {
    pub fn of(engine: &Engine) -> Self {
        Self { engine: engine.clone(), damaged: AtomicBool::new(false) }
    }

    /// From here on contradictions are what the test is about.
    pub fn damaged(&self) {
        self.damaged.store(true, Ordering::Relaxed);
    }
}

impl Drop for Audited {
    fn drop(&mut self) {
        if std::thread::panicking() || self.damaged.load(Ordering::Relaxed) {
            return;
        }
        // The threads of the store answer, so the runtime of the test may wait.
        match block_on(self.engine.audit()) {
            Err(StoreError::Closed) => {}
            audited => assert_eq!(audited.unwrap().findings, [], "the store contradicts itself"),
        }
    }
}

/// How long one test may take. Under load the longest one takes a third of it.
const PATIENCE: Duration = Duration::from_secs(300);

/// Fails a test that does not end, by its name, so that the tests after it run.
pub async fn bounded(test: impl Future<Output = ()>) {
    assert!(tokio::time::timeout(PATIENCE, Box::pin(test)).await.is_ok(), "the test has not ended within {PATIENCE:?}");
}

/// Makes a test per store out of each function.
#[macro_export]
macro_rules! on_every_store {
    ($($name:ident),* $(,)?) => {
        mod memory {
            $( #[tokio::test] async fn $name() { $crate::support::bounded(super::$name($crate::support::Bench::memory().await)).await } )*
        }
        mod sqlite {
            $( #[tokio::test] async fn $name() { $crate::support::bounded(super::$name($crate::support::Bench::sqlite().await)).await } )*
        }
        mod checked {
            $( #[tokio::test] async fn $name() { $crate::support::bounded(super::$name($crate::support::Bench::checked().await)).await } )*
        }
        mod postgres {
            $( #[tokio::test] async fn $name() { $crate::support::bounded(super::$name($crate::support::Bench::postgres().await)).await } )*
        }
    };
}

impl Bench {
    pub async fn memory() -> Self {
        Self::open(|_| "memory:".to_owned()).await
    }

    pub async fn sqlite() -> Self {
        Self::open(|dir| format!("sqlite:{}", dir.path().join("jobs.db").display())).await
    }

    /// A file behind a store that fails on what refused commands leave behind.
    pub async fn checked() -> Self {
        let dir = TempDir::new().unwrap();
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(START)));
        let file = dir.path().join("jobs.db");
        let url = format!("sqlite:{}", file.display());
        let between = Arc::new(move |store| Checked::between(store, file.clone()));
        let options = EngineOptions { between: Some(between), ..options(&url, Arc::clone(&clock) as _) };
        let engine = Engine::open(options).await.unwrap();
        Self { audited: Audited::of(&engine), engine, clock, dir, database: None }
    }

    /// A database of its own on a real server.
    pub async fn postgres() -> Self {
        Self::on(tokio::task::spawn_blocking(ojs_postgres_fixture::database).await.unwrap()).await
    }

    /// A database of a server that the test has started.
    pub async fn on(database: ojs_postgres_fixture::Database) -> Self {
        let url = database.url().to_owned();
        Self { database: Some(database), ..Self::open(|_| url).await }
    }

    async fn open(url: impl FnOnce(&TempDir) -> String) -> Self {
        let dir = TempDir::new().unwrap();
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(START)));
        let engine = Engine::open(options(&url(&dir), Arc::clone(&clock) as _)).await.unwrap();
        Self { audited: Audited::of(&engine), engine, clock, dir, database: None }
    }

    /// The same store, opened again by an engine that knows nothing of it yet.
    pub async fn reopened(self) -> Self {
        self.engine.close().await;
        let url = match &self.database {
            Some(database) => database.url().to_owned(),
            None => format!("sqlite:{}", self.dir.path().join("jobs.db").display()),
        };
        let engine = Engine::open(options(&url, Arc::clone(&self.clock) as _)).await.unwrap();
        let audited = Audited::of(&engine);
        audited.damaged.store(self.audited.damaged.load(Ordering::Relaxed), Ordering::Relaxed);
        Self { audited, engine, ..self }
    }

    /// Goes on with a successor, as after a crash: the engine before it is dropped, and not audited. Waits until
    /// nothing of that engine uses its store: a claim that is under way could take a job whose outcome would be lost.
    pub async fn succeeded_by(&mut self, successor: Engine) {
        let before = Arc::downgrade(self.engine.store());
        let audited = Audited::of(&successor);
        audited.damaged.store(self.audited.damaged.load(Ordering::Relaxed), Ordering::Relaxed);
        self.audited.damaged();
        self.audited = audited;
        self.engine = successor;
        while before.strong_count() > 0 {
            tokio::task::yield_now().await;
        }
    }

    pub fn now(&self) -> i64 {
        self.clock.now().as_millis()
    }

    /// Moves time and does what it made due.
    pub async fn advance(&self, by: Duration) {
        self.clock.advance(by);
        self.engine.store().sweep().await.unwrap();
    }

    pub async fn try_enqueue(&self, requests: &[&str]) -> Result<Vec<JobView>, Refusal> {
        let parse = |text: &&str| Arc::new(NewJob::parse(text, self.clock.now()).unwrap());
        let placed = self.engine.store().execute(Enqueue(requests.iter().map(parse).collect())).await?;
        Ok(placed.into_iter().map(|placed| placed.job).collect())
    }

    pub async fn enqueue(&self, request: &str) -> JobId {
        self.try_enqueue(&[request]).await.unwrap()[0].row.id
    }

    /// A job of type `t` on queue `q`.
    pub async fn job(&self) -> JobId {
        self.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q"}}"#).await
    }

    pub async fn exchange(
        &self,
        outcomes: Vec<OutcomeReport>,
        claim: Option<Claim>,
    ) -> (Vec<Result<Finished, OjsError>>, Vec<JobView>) {
        let exchanged = self.engine.store().execute(Exchange { outcomes, claim }).await.unwrap();
        (exchanged.results, exchanged.jobs)
    }

    pub async fn claim_for(&self, worker: Option<&str>, queues: &[&str], count: usize) -> Vec<JobView> {
        let queues = queues.iter().map(|q| (*q).to_owned()).collect();
        let claim = Claim { queues, count, worker: worker.map(str::to_owned), visibility_ms: Some(30_000), ..Claim::default() };
        self.exchange(Vec::new(), Some(claim)).await.1
    }

    pub async fn claim(&self, count: usize) -> Vec<JobView> {
        self.claim_for(Some("w"), &["q"], count).await
    }

    pub async fn settle(&self, job: JobId, lease: Option<i64>, outcome: Outcome) -> Result<Finished, OjsError> {
        // A token is enough, whichever worker holds the job.
        let worker = lease.is_none().then(|| "w".to_owned());
        let report = OutcomeReport { job, lease, worker, outcome, want_job: true };
        self.exchange(vec![report], None).await.0.remove(0)
    }

    pub async fn ack(&self, job: &JobView) -> Result<Finished, OjsError> {
        self.settle(job.row.id, Some(job.row.lease), Outcome::Ack(None)).await
    }

    pub async fn nack(&self, job: &JobView, error: &str) -> Result<Finished, OjsError> {
        let error = JobError::parse(&serde_json::from_str(error).unwrap()).unwrap();
        self.settle(job.row.id, Some(job.row.lease), Outcome::Nack(Box::new(error))).await
    }

    pub async fn beat(&self, worker: &str, jobs: &[(JobId, Option<i64>)]) -> (Vec<JobId>, Vec<JobId>) {
        let beat = Heartbeat {
            worker: worker.to_owned(),
            jobs: jobs.to_vec(),
            visibility_ms: None,
            test_directives: false,
            info: None,
            ..Default::default()
        };
        let answer = self.engine.store().execute(beat).await.unwrap();
        (answer.extended, answer.cancelled)
    }

    pub async fn get(&self, id: JobId) -> JobView {
        self.engine.store().query(GetJob(id)).await.unwrap()
    }

    pub async fn state(&self, id: JobId) -> JobState {
        self.get(id).await.row.state
    }

    pub async fn change(&self, command: impl Command<Reply = Changed>) -> Result<JobView, OjsError> {
        match self.engine.store().execute(command).await {
            Ok(changed) => Ok(changed.job),
            Err(Refusal::Ojs(error)) => Err(*error),
            other => panic!("{other:?}"),
        }
    }

    pub async fn counts(&self, queue: &str) -> Counts {
        self.engine.store().query(GetQueue(queue.to_owned())).await.unwrap().1
    }

    pub async fn dead(&self, filter: DeadFilter) -> (Vec<JobId>, usize) {
        let filter = DeadFilter { limit: 100, ..filter };
        let page = self.engine.store().query(ListDead(filter)).await.unwrap();
        (page.jobs.iter().map(|job| job.row.id).collect(), page.total)
    }

    pub async fn events(&self, filter: EventFilter) -> (Vec<Event>, String, bool) {
        let filter = EventFilter { limit: if filter.limit == 0 { 1000 } else { filter.limit }, ..filter };
        self.engine.store().query(ReadEvents(filter)).await.unwrap()
    }

    /// Names of the events of one job, in order.
    pub async fn story(&self, id: JobId) -> Vec<String> {
        let (events, _, _) = self.events(EventFilter::default()).await;
        events.into_iter().filter(|event| event.subject == id.to_string()).map(|event| event.name).collect()
    }

    /// Brings a fresh job into a state.
    pub async fn job_in(&self, state: JobState) -> JobId {
        let plain = r#"{"type":"t","args":[],"options":{"queue":"q","retry":{"max_attempts":2}}}"#;
        match state {
            JobState::Available => self.enqueue(plain).await,
            JobState::Scheduled => self.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","delay_until":"+PT1H"}}"#).await,
            JobState::Pending => self.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","pending":true}}"#).await,
            _ => {
                let id = self.enqueue(plain).await;
                let job = self.claim(1).await.remove(0);
                assert_eq!(job.row.id, id);
                match state {
                    JobState::Completed => drop(self.ack(&job).await.unwrap()),
                    JobState::Retryable => drop(self.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap()),
                    JobState::Discarded => {
                        drop(self.nack(&job, r#"{"code":"x","message":"m","retryable":false}"#).await.unwrap());
                    }
                    JobState::Cancelled => drop(self.change(Cancel(id)).await.unwrap()),
                    _ => {}
                }
                id
            }
        }
    }
}

pub fn options(url: &str, clock: Arc<dyn Clock>) -> EngineOptions {
    // Endpoints of webhooks are on this machine.
    let outgoing = OutgoingOptions { allow_insecure: true, ..OutgoingOptions::default() };
    EngineOptions { clock, outgoing, ..EngineOptions::new(url.parse::<StoreUrl>().unwrap()) }
}

/// Waits on this thread for what other threads of the store do.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::park(),
        }
    }
}

pub fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}
