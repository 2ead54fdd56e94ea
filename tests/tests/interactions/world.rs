//! A server in this process, with a clock that the test moves, behind a real socket.
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ojs_engine::clock::{Clock, ManualClock};
use ojs_engine::outgoing::OutgoingOptions;
use ojs_engine::{Engine, EngineOptions, Listener, StoreUrl};
use ojs_model::Timestamp;
use ojs_postgres_fixture::Database;
use ojs_tests::Wire;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600_000;

/// Makes a test per store out of each function. An audit of the store ends each of them.
#[macro_export]
macro_rules! on_every_store {
    ($($name:ident),* $(,)?) => {
        $crate::on_every_store! { @ memory: $($name),* }
        $crate::on_every_store! { @ sqlite: $($name),* }
        $crate::on_every_store! { @ postgres: $($name),* }
    };
    (@ $store:ident: $($name:ident),*) => {
        mod $store {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    let world = $crate::world::World::$store().await;
                    super::$name(&world).await;
                    world.end().await;
                }
            )*
        }
    };
}

/// A server, its store and its clock.
pub struct World {
    pub engine: Engine,
    clock: Arc<ManualClock>,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
    // Kept until the last server on it has ended.
    place: Arc<Place>,
}

/// Where the rows are.
struct Place {
    url: String,
    _dir: TempDir,
    _database: Option<Database>,
}

impl World {
    pub async fn memory() -> Self {
        Self::on("memory:".to_owned(), None).await
    }

    pub async fn sqlite() -> Self {
        Self::on(String::new(), None).await
    }

    pub async fn postgres() -> Self {
        let database = tokio::task::spawn_blocking(ojs_postgres_fixture::database).await.unwrap();
        Self::on(database.url().to_owned(), Some(database)).await
    }

    async fn on(url: String, database: Option<Database>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let url = if url.is_empty() { format!("sqlite:{}", dir.path().join("jobs.db").display()) } else { url };
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(START)));
        Self::open(Arc::new(Place { url, _dir: dir, _database: database }), clock).await
    }

    async fn open(place: Arc<Place>, clock: Arc<ManualClock>) -> Self {
        // Endpoints of webhooks are on this machine.
        let outgoing = OutgoingOptions { allow_insecure: true, ..OutgoingOptions::default() };
        let clock_of_engine = Arc::clone(&clock) as Arc<dyn Clock>;
        let store = place.url.parse::<StoreUrl>().unwrap();
        let options = EngineOptions { clock: clock_of_engine, outgoing, ..EngineOptions::new(store) };
        let engine = Engine::open(options).await.unwrap();
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr();
        let (stop, stopped) = oneshot::channel();
        let router = engine.router();
        let serving = tokio::spawn(listener.run(router, async move { drop(stopped.await) }, || {}));
        Self { engine, clock, address, stop, serving, place }
    }

    /// A second server on the same store; `None` where the store is the memory of one process.
    pub async fn beside(&self) -> Option<Self> {
        if self.place.url.starts_with("memory") {
            return None;
        }
        Some(Self::open(Arc::clone(&self.place), Arc::clone(&self.clock)).await)
    }

    /// Where clients connect.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A connection of its own.
    pub async fn connect(&self) -> Wire {
        Wire::connect(self.address).await.unwrap()
    }

    /// Ends the server. Its store must not contradict itself.
    pub async fn end(self) {
        assert_eq!(self.engine.audit().await.unwrap().findings, [], "the store contradicts itself");
        drop(self.stop);
        self.engine.close().await;
        self.serving.await.unwrap();
    }

    /// Moves time and does what it made due.
    pub async fn advance(&self, by: Duration) {
        self.clock.advance(by);
        self.engine.store().sweep().await.unwrap();
    }

    /// One request: status and body.
    pub async fn http(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        self.request(&[], method, path, &body).await
    }

    /// One request of a tenant.
    pub async fn of(&self, tenant: &str, method: &str, path: &str, body: Value) -> (u16, Value) {
        self.request(&[("X-OJS-Tenant", tenant)], method, path, &body).await
    }

    async fn request(&self, headers: &[(&str, &str)], method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.connect().await.call_with(headers, method, path, &body).await.unwrap();
        let json = if answer.body.is_empty() { Value::Null } else { answer.json() };
        (answer.status, json)
    }

    /// What `GET` answers, which must be 200.
    pub async fn read(&self, path: &str) -> Value {
        let (status, body) = self.http("GET", path, Value::Null).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// Stores a job; returns its id.
    pub async fn enqueue(&self, tenant: Option<&str>, job: Value) -> String {
        let headers: Vec<_> = tenant.iter().map(|tenant| ("X-OJS-Tenant", *tenant)).collect();
        let (status, body) = self.request(&headers, "POST", "/jobs", &job).await;
        assert_eq!(status, 201, "{body}");
        body["job"]["id"].as_str().unwrap().to_owned()
    }

    /// Fetches from queue `q` without waiting.
    pub async fn fetch(&self, tenant: Option<&str>, count: u64) -> Vec<Value> {
        self.fetch_with(tenant, json!({"count": count})).await
    }

    /// The same, with further members in the request.
    pub async fn fetch_with(&self, tenant: Option<&str>, more: Value) -> Vec<Value> {
        let body = with(json!({"queues": ["q"], "worker_id": "w"}), &more);
        let headers: Vec<_> = tenant.iter().map(|tenant| ("X-OJS-Tenant", *tenant)).collect();
        let (status, answer) = self.request(&headers, "POST", "/workers/fetch", &body).await;
        assert_eq!(status, 200, "{answer}");
        answer["jobs"].as_array().unwrap().clone()
    }

    /// Acks a job that was fetched.
    pub async fn ack(&self, job: &Value) {
        let body = json!({"job_id": job["id"], "lease_token": job["lease_token"], "result": "done"});
        let (status, answer) = self.http("POST", "/workers/ack", body).await;
        assert_eq!(status, 200, "{answer}");
    }

    /// Fails a job that was fetched.
    pub async fn nack(&self, job: &Value, error: Value) {
        let body = json!({"job_id": job["id"], "lease_token": job["lease_token"], "error": error});
        let (status, answer) = self.http("POST", "/workers/nack", body).await;
        assert_eq!(status, 200, "{answer}");
    }

    /// The state of a job.
    pub async fn state(&self, id: &str) -> String {
        self.read(&format!("/jobs/{id}")).await["job"]["state"].as_str().unwrap().to_owned()
    }

    /// The events of these types, oldest first.
    pub async fn events(&self, types: &str) -> Vec<Value> {
        self.read(&format!("/events?limit=1000&types={types}")).await["events"].as_array().unwrap().clone()
    }
}

/// A job of type `t` on queue `q`, with further options.
pub fn job(options: Value) -> Value {
    json!({"type": "t", "args": [], "options": with(json!({"queue": "q"}), &options)})
}

/// The ids of jobs.
pub fn ids(jobs: &[Value]) -> Vec<&str> {
    jobs.iter().map(|job| job["id"].as_str().unwrap()).collect()
}

/// Retries after so many milliseconds, always the same.
pub fn retry(attempts: u32, milliseconds: u32, more: Value) -> Value {
    let policy =
        json!({"max_attempts": attempts, "initial_interval_ms": milliseconds, "backoff_coefficient": 1.0, "jitter": false});
    with(policy, &more)
}

/// An object with further members.
fn with(mut object: Value, more: &Value) -> Value {
    object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    object
}

/// A failure that may be tried again.
pub fn failure(message: &str) -> Value {
    json!({"code": "handler_error", "message": message})
}
