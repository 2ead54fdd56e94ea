//! What relays tell a server of themselves.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use ojs::outbox::{Relay, RelayOptions};
use ojs::transport::{BoxFuture, Request, Response, Transport, TransportError, TransportErrorKind};
use ojs::{Client, ListRelays};
use serde_json::Value;

use super::app::{App, PATIENCE, drained, quick, until};

/// An engine that stands for a server across a network.
struct Server {
    engine: Arc<dyn Transport>,
    /// It knows nothing of relays.
    is_older: AtomicBool,
    away: AtomicBool,
    /// It takes reports, and its answers are lost on the way.
    loses_answers: AtomicBool,
    manifests: AtomicUsize,
    beats: AtomicUsize,
}

impl Transport for Server {
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        if self.away.load(Ordering::SeqCst) {
            return Box::pin(async { Err(TransportError::new(TransportErrorKind::Connect, "no server listens")) });
        }
        self.manifests.fetch_add(usize::from(request.path == "/ojs/manifest"), Ordering::SeqCst);
        self.beats.fetch_add(usize::from(request.path == "/relays/beat"), Ordering::SeqCst);
        if request.path == "/ojs/manifest" && self.is_older.load(Ordering::SeqCst) {
            return Box::pin(async {
                Ok(Response::new(200, r#"{"extensions":{"experimental":[{"name":"x-worker-exchange"}]}}"#))
            });
        }
        let is_report = request.path == "/relays/beat" && self.loses_answers.load(Ordering::SeqCst);
        let answer = self.engine.request(request);
        if is_report {
            return Box::pin(async {
                answer.await?;
                Err(TransportError::new(TransportErrorKind::Connect, "the answer was lost"))
            });
        }
        answer
    }

    fn is_remote(&self) -> bool {
        true
    }
}

async fn server() -> (Arc<Server>, Client) {
    let engine = Arc::clone(Client::connect("memory:").await.unwrap().transport());
    let zero = AtomicUsize::default;
    let [is_older, away, loses_answers] = [const { AtomicBool::new(false) }; 3];
    let server = Arc::new(Server { engine, is_older, away, loses_answers, manifests: zero(), beats: zero() });
    let client = Client::new(Arc::clone(&server) as Arc<dyn Transport>);
    (server, client)
}

fn options() -> RelayOptions {
    let mut options = quick();
    options.report_every = Duration::from_millis(20);
    options.name = Some("shop-1".to_owned());
    options
}

async fn listed(client: &Client) -> Vec<Value> {
    client.list_relays(&ListRelays::default()).await.unwrap()
}

async fn insert(app: &App, rows: &str) {
    app.run(&format!("INSERT INTO ojs_outbox (job_type, job_args, job_options) VALUES {rows}")).await;
}

pub async fn a_relay_reports_what_it_does_and_takes_leave(app: App) {
    let (_, client) = server().await;
    app.store().migrate().await.unwrap();
    insert(&app, "('a', '[1]', '{}'), ('a', '[2]', '[]'), ('a', '[3]', '{}')").await;
    let relay = Relay::start(client.clone(), app.store(), options());
    until("it has told that a row is parked", || async {
        listed(&client).await.first().is_some_and(|row| row["parked"] == 1 && row["sent"] == 2 && row["waiting"] == 0)
    })
    .await;
    let row = listed(&client).await.remove(0);
    let kind = format!("{:?}", app.dialect()).to_lowercase().replace("postgres", "postgresql");
    assert_eq!((&row["name"], &row["database"], &row["outbox"]), (&"shop-1".into(), &kind.into(), &"ojs_outbox".into()));
    assert_eq!((&row["state"], &row["error"]), (&"running".into(), &Value::Null));
    relay.stop(PATIENCE).await;
    assert_eq!(listed(&client).await, Vec::<Value>::new());
}

/// The server knows a relay whose report has arrived, also when the relay has no answer to it.
pub async fn a_relay_whose_reports_have_no_answer_takes_leave(app: App) {
    let (server, client) = server().await;
    app.store().migrate().await.unwrap();
    server.loses_answers.store(true, Ordering::SeqCst);
    let relay = Relay::start(client.clone(), app.store(), options());
    until("it is known", || async { !listed(&client).await.is_empty() }).await;
    relay.stop(PATIENCE).await;
    assert_eq!(listed(&client).await, Vec::<Value>::new());
}

/// However many rows wait, a report reads a bounded number of them.
pub async fn rows_are_counted_up_to_a_bound(app: App) {
    let (server, client) = server().await;
    app.store().migrate().await.unwrap();
    insert(&app, "('a', '[1]', '{}')").await;
    let double =
        "INSERT INTO ojs_outbox (job_type, job_args, job_options) SELECT job_type, job_args, job_options FROM ojs_outbox";
    for _ in 0..14 {
        app.run(double).await;
    }
    // Another relay has the lease, so the rows stay.
    let mut holds = options();
    holds.lease = Duration::from_secs(3600);
    server.away.store(true, Ordering::SeqCst);
    let holder = Relay::start(client.clone(), app.store(), holds);
    until("it leads", || async { holder.status().leading && holder.status().held_up > 0 }).await;
    let (_, other) = self::server().await;
    let relay = Relay::start(other.clone(), app.store(), options());
    until("it has counted", || async { listed(&other).await.first().is_some_and(|row| row["waiting"] == 10_000) }).await;
    let row = listed(&other).await.remove(0);
    assert_eq!((&row["waiting_relation"], &row["leading"]), (&"gte".into(), &false.into()));
    assert!(row["oldest_waiting_ms"].as_u64().is_some_and(|age| age < 600_000), "{row}");
    holder.stop(Duration::ZERO).await;
    relay.stop(Duration::ZERO).await;
}

pub async fn a_server_that_lists_no_relays_is_not_told(app: App) {
    let (server, client) = server().await;
    server.is_older.store(true, Ordering::SeqCst);
    app.store().migrate().await.unwrap();
    insert(&app, "('a', '[1]', '{}')").await;
    let relay = Relay::start(client.clone(), app.store(), options());
    drained(&app).await;
    until("it has read the manifest", || async { server.manifests.load(Ordering::SeqCst) == 1 }).await;
    insert(&app, "('a', '[2]', '{}')").await;
    drained(&app).await;
    relay.stop(PATIENCE).await;
    assert_eq!((server.manifests.load(Ordering::SeqCst), server.beats.load(Ordering::SeqCst)), (1, 0));
    assert_eq!(client.queue_stats("default").await.unwrap().available, 2);
}

/// A server that is away holds up no report for good, and a relay that stops meanwhile does not wait for it.
pub async fn reports_go_on_when_the_server_is_back(app: App) {
    let (server, client) = server().await;
    app.store().migrate().await.unwrap();
    server.away.store(true, Ordering::SeqCst);
    let relay = Relay::start(client.clone(), app.store(), options());
    insert(&app, "('a', '[1]', '{}')").await;
    until("it has noticed", || async { relay.status().held_up > 0 }).await;
    server.away.store(false, Ordering::SeqCst);
    until("it reports", || async { listed(&client).await.first().is_some_and(|row| row["sent"] == 1) }).await;
    server.away.store(true, Ordering::SeqCst);
    relay.stop(PATIENCE).await;
    server.away.store(false, Ordering::SeqCst);
    assert_eq!(listed(&client).await.len(), 1, "nobody has said that it is gone");
}
