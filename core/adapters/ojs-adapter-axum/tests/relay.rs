//! What the relay and the encryption of the adapter promise, on PostgreSQL and on MariaDB.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test")]
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::routing::post;
use mysql_async::prelude::Queryable;
use ojs::encryption::{Key, Keys};
use ojs::middleware::EnqueueNext;
use ojs::transport::{self, BoxFuture, Request, Response, Transport, TransportError, TransportErrorKind};
use ojs::{Client, JobRequest, UniquePolicy};
use ojs_adapter_axum::Ojs;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_postgres::NoTls;

/// Reached only by failures.
const PATIENCE: Duration = Duration::from_secs(60);
const SECRET: &str = "4111 1111 1111 1111";

/// A server in memory that can be away, and what was sent to it.
struct Wire {
    server: Arc<dyn Transport>,
    away: AtomicBool,
    sent: Mutex<Vec<(String, String)>>,
}

impl Wire {
    async fn new() -> Arc<Self> {
        let server = transport::connect("memory:", Default::default()).await.unwrap();
        Arc::new(Self { server, away: AtomicBool::new(false), sent: Mutex::default() })
    }

    fn client(self: &Arc<Self>) -> Client {
        Client::new(Arc::clone(self) as Arc<dyn Transport>)
    }

    async fn encrypting(self: &Arc<Self>) -> Client {
        let keys = Keys::new("k-1", Key::new([7; 32])).unwrap();
        Client::builder().transport(Arc::clone(self) as Arc<dyn Transport>).encryption(keys).connect().await.unwrap()
    }

    /// The bodies of requests that enqueue, with their paths.
    fn enqueued(&self) -> Vec<(String, String)> {
        self.sent.lock().unwrap().iter().filter(|(path, _)| path == "/jobs" || path == "/jobs/batch").cloned().collect()
    }
}

impl Transport for Wire {
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        if self.away.load(Ordering::SeqCst) {
            return Box::pin(async { Err(TransportError::new(TransportErrorKind::Connect, "away")) });
        }
        let body = String::from_utf8(request.body.clone().unwrap_or_default().to_vec()).unwrap();
        self.sent.lock().unwrap().push((request.path.to_string(), body));
        self.server.request(request)
    }
}

enum Database {
    Postgres(ojs_postgres_fixture::Database),
    Mariadb(ojs_mariadb_fixture::Database),
}

impl Database {
    fn all() -> [Self; 2] {
        [Self::Postgres(ojs_postgres_fixture::database()), Self::Mariadb(ojs_mariadb_fixture::database())]
    }

    fn url(&self) -> &str {
        match self {
            Self::Postgres(database) => database.url(),
            Self::Mariadb(database) => database.url(),
        }
    }

    /// Enqueues in one transaction, which commits without waking the relay.
    async fn commit(&self, ojs: &Ojs, requests: impl IntoIterator<Item = JobRequest>) -> Vec<String> {
        let mut ids = Vec::new();
        match self {
            Self::Postgres(_) => {
                let (mut client, connection) = tokio_postgres::connect(self.url(), NoTls).await.unwrap();
                tokio::spawn(connection);
                let transaction = client.transaction().await.unwrap();
                for request in requests {
                    ids.push(ojs.enqueue_after_commit(&transaction, request).await.unwrap());
                }
                transaction.commit().await.unwrap();
            }
            Self::Mariadb(_) => {
                let pool = mysql_async::Pool::new(self.url());
                let mut transaction = pool.start_transaction(Default::default()).await.unwrap();
                for request in requests {
                    ids.push(ojs.enqueue_after_commit(&mut transaction, request).await.unwrap());
                }
                transaction.commit().await.unwrap();
                pool.disconnect().await.unwrap();
            }
        }
        ids
    }

    /// Arguments and status of the rows, in their order.
    async fn rows(&self) -> Vec<(String, String)> {
        let postgres = "SELECT job_args::text, status FROM ojs_outbox ORDER BY id";
        match self {
            Self::Postgres(_) => {
                let (client, connection) = tokio_postgres::connect(self.url(), NoTls).await.unwrap();
                tokio::spawn(connection);
                let rows = client.query(postgres, &[]).await.unwrap();
                rows.iter().map(|row| (row.get(0), row.get(1))).collect()
            }
            Self::Mariadb(_) => {
                let pool = mysql_async::Pool::new(self.url());
                let mut connection = pool.get_conn().await.unwrap();
                connection.query("SELECT job_args, status FROM ojs_outbox ORDER BY id").await.unwrap()
            }
        }
    }

    async fn all_sent(&self, count: usize) {
        let rows = self.rows().await;
        assert!(rows.len() == count && rows.iter().all(|(_, status)| status == "sent"), "{rows:?}");
    }
}

async fn until(what: &str, mut probe: impl AsyncFnMut() -> bool) {
    tokio::time::timeout(PATIENCE, async {
        while !probe().await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await
    .unwrap_or_else(|_| panic!("{what}: not within {PATIENCE:?}"));
}

async fn sent(ojs: &Ojs, count: u64) {
    until("the rows are sent", async || ojs.relay_status().await.unwrap().sent == count).await;
}

fn jobs(count: usize) -> impl Iterator<Item = JobRequest> {
    (0..count).map(|number| JobRequest::new("a", [number]))
}

/// The tables, and no relay.
async fn made(database: &Database, client: Client) -> Ojs {
    let ojs = Ojs::new(client).unwrap();
    ojs.start_relay(database.url(), true).await.unwrap();
    ojs.stop(PATIENCE).await;
    ojs
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fa_003_a_server_that_is_away_loses_nothing() {
    for database in Database::all() {
        let wire = Wire::new().await;
        wire.away.store(true, Ordering::SeqCst);
        let earlier = Ojs::new(wire.client()).unwrap();
        earlier.start_relay(database.url(), true).await.unwrap();
        let ids = database.commit(&earlier, jobs(3)).await;
        earlier.wake().await;
        until("the relay is held up", async || earlier.relay_status().await.unwrap().held_up > 0).await;
        // The process ends; the next one finds the rows.
        earlier.stop(Duration::ZERO).await;
        wire.away.store(false, Ordering::SeqCst);
        let next = Ojs::new(wire.client()).unwrap();
        next.start_relay(database.url(), false).await.unwrap();
        sent(&next, 3).await;
        next.stop(PATIENCE).await;
        database.all_sent(3).await;
        for (number, id) in ids.iter().enumerate() {
            let job = next.client().get_job(id).await.unwrap();
            assert_eq!(job.args.to_value(), serde_json::json!([number]));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fa_r002_rows_that_wait_are_one_request_in_their_order() {
    for database in Database::all() {
        let wire = Wire::new().await;
        let ojs = made(&database, wire.client()).await;
        let ids = database.commit(&ojs, jobs(25)).await;
        ojs.start_relay(database.url(), false).await.unwrap();
        sent(&ojs, 25).await;
        ojs.stop(PATIENCE).await;
        let requests = wire.enqueued();
        assert_eq!(requests.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["/jobs/batch"]);
        let places: Vec<_> = ids.iter().map(|id| requests[0].1.find(id.as_str()).unwrap()).collect();
        assert!(places.is_sorted(), "{places:?}");
    }
}

/// As the README has it: the relay starts before the server, and what requests have committed is sent when the server has ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fa_r003_the_relay_starts_and_ends_with_the_server() {
    for database in Database::all() {
        let wire = Wire::new().await;
        let ojs = made(&database, wire.client()).await;
        database.commit(&ojs, [JobRequest::new("left.by.an.earlier.process", [1])]).await;
        ojs.start_relay(database.url(), false).await.unwrap();
        sent(&ojs, 1).await;

        let database = Arc::new(database);
        let inside = Arc::clone(&database);
        let handler = move |ojs: Ojs| async move {
            inside.commit(&ojs, [JobRequest::new("in.the.last.request", [2])]).await;
        };
        let app = Router::new().route("/", post(handler)).layer(ojs.layer());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut connection = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let serving = axum::serve(listener, app).with_graceful_shutdown(async { ended.await.unwrap_or(()) });
        let serving = tokio::spawn(serving.into_future());
        let request = b"POST / HTTP/1.1\r\nhost: shop\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        connection.write_all(request).await.unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        end.send(()).unwrap();
        serving.await.unwrap().unwrap();
        // The relay was not woken by the commit.
        ojs.stop(PATIENCE).await;
        assert!(ojs.relay_status().await.is_none(), "it runs");
        database.all_sent(2).await;
        assert!(wire.enqueued().iter().any(|(_, body)| body.contains("in.the.last.request")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ei_012_ei_013_the_chain_has_run_and_the_row_is_encrypted_when_it_is_written() {
    for database in Database::all() {
        let wire = Wire::new().await;
        let ojs = made(&database, wire.encrypting().await).await;
        let audited = Arc::new(Mutex::new(Vec::new()));
        let audit = Arc::clone(&audited);
        let middleware = move |request: JobRequest, next: EnqueueNext| {
            audit.lock().unwrap().push(request.args.to_value());
            next.run(request)
        };
        ojs.client().use_middleware("audit", middleware).unwrap();
        database.commit(&ojs, [JobRequest::new("card.charge", [SECRET]).queue("cards").priority(7)]).await;
        assert_eq!(*audited.lock().unwrap(), [serde_json::json!([SECRET])], "what a middleware sees");
        let (row, _) = database.rows().await.remove(0);
        assert!(!row.contains(SECRET), "in the table: {row}");
        // The relay of a process without keys sends it as it is.
        let keyless = Ojs::new(wire.client()).unwrap();
        keyless.start_relay(database.url(), false).await.unwrap();
        sent(&keyless, 1).await;
        keyless.stop(PATIENCE).await;
        let body = wire.enqueued().remove(0).1;
        assert!(body.contains(r#""queue":"cards""#) && body.contains(r#""priority":7"#), "{body}");
        let args = serde_json::from_str::<serde_json::Value>(&row).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&body).unwrap()["args"], args, "encrypted once");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ei_001_unique_keys_are_those_of_the_plain_arguments() {
    for database in Database::all() {
        let wire = Wire::new().await;
        let ojs = made(&database, wire.encrypting().await).await;
        let unique = UniquePolicy::by(["type", "args"]);
        let cards = [SECRET, SECRET, "another"].map(|card| JobRequest::new("card.charge", [card]).unique(unique.clone()));
        let ids = database.commit(&ojs, cards).await;
        ojs.start_relay(database.url(), false).await.unwrap();
        until("the second is a duplicate", async || {
            let status = ojs.relay_status().await.unwrap();
            (status.sent, status.deduplicated) == (2, 1)
        })
        .await;
        ojs.stop(PATIENCE).await;
        database.all_sent(3).await;
        for (id, stored) in ids.iter().zip([true, false, true]) {
            assert_eq!(ojs.client().get_job(id).await.is_ok(), stored, "{id}");
        }
        assert!(wire.enqueued().iter().all(|(_, body)| !body.contains(SECRET)));
    }
}
