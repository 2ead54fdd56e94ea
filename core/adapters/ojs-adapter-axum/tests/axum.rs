//! The adapter in a real application, on a real PostgreSQL.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test")]
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Request, StatusCode};
use axum::routing::post;
use ojs::request_context::{RequestContext, restore};
use ojs::transport::{self, TransportError, TransportErrorKind};
use ojs::worker::WorkerOptions;
use ojs::{Client, JobRequest, Worker};
use ojs_adapter_axum::{AdapterError, Ojs};
use ojs_postgres_fixture::Database;
use tokio::sync::{Mutex, mpsc};
use tokio_postgres::{NoTls, Transaction};
use tower::ServiceExt;

/// An application's database, its server, and the adapter between them.
struct Shop {
    url: String,
    ojs: Ojs,
    _database: Database,
}

impl Shop {
    async fn open() -> Self {
        let database = ojs_postgres_fixture::database();
        let ojs = Ojs::new(Client::connect("memory:").await.unwrap()).unwrap();
        let shop = Self { url: database.url().to_owned(), ojs, _database: database };
        shop.ojs.start_relay(&shop.url, true).await.unwrap();
        shop.connect().await.batch_execute("CREATE TABLE users (id serial, email text)").await.unwrap();
        shop
    }

    async fn connect(&self) -> tokio_postgres::Client {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Stops the relay, which flushes: what is sent by then is all there will be.
    async fn sent(&self) -> Vec<String> {
        let before = self.ojs.relay_status().await.unwrap();
        assert_eq!(before.error, None);
        self.ojs.stop(Duration::from_secs(60)).await;
        let client = self.connect().await;
        let rows = client.query("SELECT job_type, status FROM ojs_outbox ORDER BY id", &[]).await.unwrap();
        rows.iter().map(|row| format!("{} {}", row.get::<_, &str>(0), row.get::<_, &str>(1))).collect()
    }
}

async fn stage(ojs: &Ojs, transaction: &Transaction<'_>, job_type: &str) -> String {
    ojs.enqueue_after_commit(transaction, JobRequest::new(job_type, [1])).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fa_001_a_job_is_sent_when_its_transaction_commits() {
    let shop = Shop::open().await;
    let mut client = shop.connect().await;
    let transaction = client.transaction().await.unwrap();
    let id = stage(&shop.ojs, &transaction, "email.welcome").await;
    assert!(shop.ojs.client().get_job(&id).await.unwrap_err().is_not_found());
    shop.ojs.commit(transaction).await.unwrap();
    assert_eq!(shop.sent().await, ["email.welcome sent"]);
    assert_eq!(shop.ojs.client().get_job(&id).await.unwrap().job_type, "email.welcome");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fa_002_no_job_is_sent_when_it_rolls_back() {
    let shop = Shop::open().await;
    let mut client = shop.connect().await;
    let transaction = client.transaction().await.unwrap();
    stage(&shop.ojs, &transaction, "a").await;
    transaction.rollback().await.unwrap();
    // Dropped in the middle, as by a handler that returns early: the connection rolls back before its next use.
    let transaction = client.transaction().await.unwrap();
    stage(&shop.ojs, &transaction, "b").await;
    drop(transaction);
    assert!(shop.sent().await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_48_savepoints_take_their_jobs_along() {
    let shop = Shop::open().await;
    let mut client = shop.connect().await;
    let mut outer = client.transaction().await.unwrap();
    stage(&shop.ojs, &outer, "outer").await;
    let kept = outer.transaction().await.unwrap();
    stage(&shop.ojs, &kept, "kept").await;
    kept.commit().await.unwrap();
    let dropped = outer.transaction().await.unwrap();
    stage(&shop.ojs, &dropped, "dropped").await;
    dropped.rollback().await.unwrap();
    shop.ojs.wake().await;
    assert_eq!(shop.ojs.relay_status().await.unwrap().sent, 0, "a savepoint is no commit");
    shop.ojs.commit(outer).await.unwrap();
    assert_eq!(shop.sent().await, ["outer sent", "kept sent"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_databases_have_an_outbox_each() {
    let (one, two) = (Shop::open().await, Shop::open().await);
    let (mut first, mut second) = (one.connect().await, two.connect().await);
    let (outer, inner) = (first.transaction().await.unwrap(), second.transaction().await.unwrap());
    stage(&one.ojs, &outer, "one").await;
    stage(&two.ojs, &inner, "two").await;
    one.ojs.commit(outer).await.unwrap();
    inner.rollback().await.unwrap();
    // The second is without a transaction by now: a job is sent at once, whatever the first does.
    let outer = first.transaction().await.unwrap();
    stage(&one.ojs, &outer, "lost").await;
    let job = two.ojs.enqueue(JobRequest::new("now", [1])).await.unwrap();
    outer.rollback().await.unwrap();
    assert_eq!(two.ojs.client().get_job(&job.id).await.unwrap().job_type, "now");
    assert_eq!(one.sent().await, ["one sent"]);
    assert!(two.sent().await.is_empty());
}

/// Code that shares connections passes them on as they are. A handler that is gone in the middle, because its client
/// is, or because it panicked, leaves its transaction behind: the next one on that connection begins with nothing of
/// it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_given_back_in_mid_transaction_takes_its_jobs_along() {
    let shop = Shop::open().await;
    let pool = Arc::new(Mutex::new(shop.connect().await));
    for panics in [false, true] {
        let (ojs, pool, (staged, ready)) = (shop.ojs.clone(), Arc::clone(&pool), tokio::sync::oneshot::channel());
        let handler = tokio::spawn(async move {
            let mut connection = pool.lock().await;
            let transaction = connection.transaction().await.unwrap();
            stage(&ojs, &transaction, "lost").await;
            staged.send(()).unwrap();
            assert!(!panics, "in the middle");
            std::future::pending::<()>().await;
        });
        ready.await.unwrap();
        if !panics {
            handler.abort();
        }
        assert!(handler.await.is_err());
    }
    let mut connection = pool.lock().await;
    let transaction = connection.transaction().await.unwrap();
    stage(&shop.ojs, &transaction, "kept").await;
    shop.ojs.commit(transaction).await.unwrap();
    drop(connection);
    assert_eq!(shop.sent().await, ["kept sent"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_50_what_cannot_be_written_says_so() {
    let shop = Shop::open().await;
    let mut client = shop.connect().await;
    let reading = client.build_transaction().read_only(true).start().await.unwrap();
    let error = shop.ojs.enqueue_after_commit(&reading, JobRequest::new("a", [1])).await.unwrap_err();
    assert!(
        matches!(&error, AdapterError::Postgres(cause) if cause.code() == Some(&tokio_postgres::error::SqlState::READ_ONLY_SQL_TRANSACTION)),
        "{error}"
    );
    drop(reading);
    // What no server would take is refused before anything is written: the transaction goes on.
    let transaction = client.transaction().await.unwrap();
    let error = shop.ojs.enqueue_after_commit(&transaction, JobRequest::new("", [1])).await.unwrap_err();
    assert!(matches!(error, AdapterError::Ojs(ojs::Error::Validation { .. })), "{error}");
    stage(&shop.ojs, &transaction, "b").await;
    shop.ojs.commit(transaction).await.unwrap();
    assert_eq!(shop.sent().await, ["b sent"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_is_missing_says_what_to_do() {
    let shop = Shop::open().await;
    let mut client = shop.connect().await;
    client.batch_execute("DROP TABLE ojs_outbox").await.unwrap();
    let transaction = client.transaction().await.unwrap();
    let error = shop.ojs.enqueue_after_commit(&transaction, JobRequest::new("a", [1])).await.unwrap_err();
    assert!(matches!(error, AdapterError::NoTable(_)), "{error:?}");
    let sentence = "there is no table ojs_outbox: run 'ojs.start_relay(url, true)' once, or 'ojs relay migrate'";
    assert_eq!(error.to_string(), sentence);
    transaction.rollback().await.unwrap();
    // What it says helps.
    shop.ojs.stop(Duration::ZERO).await;
    shop.ojs.start_relay(&shop.url, true).await.unwrap();
    let transaction = client.transaction().await.unwrap();
    stage(&shop.ojs, &transaction, "b").await;
    shop.ojs.commit(transaction).await.unwrap();
    assert_eq!(shop.sent().await, ["b sent"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_in_the_same_database_gets_the_row_itself() {
    let database = ojs_postgres_fixture::database();
    let client = Client::connect(database.url()).await.unwrap();
    let ojs = Ojs::new(client.clone()).unwrap();
    let (mut app, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    for commit in [false, true] {
        let transaction = app.transaction().await.unwrap();
        let request = JobRequest::new("email.welcome", [7]).queue("mail").meta("k", 1);
        let id = ojs.enqueue_after_commit(&transaction, request).await.unwrap();
        if commit {
            ojs.commit(transaction).await.unwrap();
            let worker = Worker::new(Arc::clone(client.transport()), WorkerOptions::new(["mail"]));
            let (seen, mut log) = mpsc::unbounded_channel();
            worker
                .register("email.welcome", move |ctx| {
                    let seen = seen.clone();
                    async move { Ok(seen.send(ctx.id().to_owned())?) }
                })
                .unwrap();
            let handle = worker.start();
            assert_eq!(log.recv().await, Some(id));
            handle.shutdown(None).await;
        } else {
            transaction.rollback().await.unwrap();
        }
    }
    let rows = app.query("SELECT 1 FROM ojs_jobs", &[]).await.unwrap();
    assert_eq!(rows.len(), 1, "no row of what was rolled back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_away_is_not_asked_by_every_transaction() {
    let shop = Shop::open().await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let away = transport::from_fn(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Err(TransportError::new(TransportErrorKind::Connect, "away")) }
    });
    let ojs = Ojs::new(Client::new(away)).unwrap();
    let mut client = shop.connect().await;
    // What makes the server worth asking.
    client.batch_execute("CREATE TABLE ojs_jobs (id uuid)").await.unwrap();
    for job_type in ["a", "b", "c"] {
        let transaction = client.transaction().await.unwrap();
        stage(&ojs, &transaction, job_type).await;
        shop.ojs.commit(transaction).await.unwrap();
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(shop.sent().await, ["a sent", "b sent", "c sent"], "through the outbox");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_of_the_database_leaves_the_transaction_usable() {
    let shop = Shop::open().await;
    let mut client = shop.connect().await;
    let name = client.query_one("SELECT quote_ident('asks_' || current_database())", &[]).await.unwrap();
    let role: &str = name.get(0);
    // A table of a server, and a role that may insert there but may not ask which database it is in.
    let limited = format!(
        "CREATE TABLE ojs_jobs (id uuid); REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC; CREATE ROLE {role};
         GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {role};
         SET ROLE {role}"
    );
    client.batch_execute(&limited).await.unwrap();
    let transaction = client.transaction().await.unwrap();
    stage(&shop.ojs, &transaction, "a").await;
    shop.ojs.commit(transaction).await.unwrap();
    assert_eq!(shop.sent().await, ["a sent"], "through the outbox");
    client.batch_execute(&format!("RESET ROLE; DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}

type Connection = Arc<Mutex<tokio_postgres::Client>>;

/// Signs a user up, and fails behind it when asked to.
async fn signup(ojs: Ojs, State(database): State<Connection>, Path(fate): Path<String>, email: String) -> StatusCode {
    let mut database = database.lock().await;
    let transaction = database.transaction().await.unwrap();
    let user = transaction.query_one("INSERT INTO users (email) VALUES ($1) RETURNING id", &[&email]).await.unwrap();
    assert!(RequestContext::update(|context| context.with_user_id("7")));
    ojs.enqueue_after_commit(&transaction, JobRequest::new("email.welcome", [user.get::<_, i32>(0)])).await.unwrap();
    if fate == "fails" {
        return StatusCode::INTERNAL_SERVER_ERROR;
    }
    ojs.commit(transaction).await.unwrap();
    StatusCode::CREATED
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fa_r001_jobs_carry_the_request_and_handlers_hand_it_on() {
    let shop = Shop::open().await;
    let connection = Arc::new(Mutex::new(shop.connect().await));
    let app = Router::new().route("/signup/{fate}", post(signup)).layer(shop.ojs.layer()).with_state(connection);
    for (fate, status) in [("fails", StatusCode::INTERNAL_SERVER_ERROR), ("works", StatusCode::CREATED)] {
        let request = Request::post(format!("/signup/{fate}"))
            .header("X-Request-ID", "r-1")
            .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
            .header("X-OJS-Tenant", "acme")
            .header("Accept-Language", "de-DE,de;q=0.8")
            .body(Body::from("ada@example.com"))
            .unwrap();
        assert_eq!(app.clone().oneshot(request).await.unwrap().status(), status);
    }

    let client = shop.ojs.client().clone();
    let worker = Worker::for_client(&client);
    worker.middleware().add("request_context", restore).unwrap();
    let (seen, mut log) = mpsc::unbounded_channel();
    let (inner, told) = (client.clone(), seen.clone());
    worker
        .register("email.welcome", move |ctx| {
            let (client, told) = (inner.clone(), told.clone());
            async move {
                told.send(ctx.job().meta.to_value())?;
                client.enqueue("email.follow_up", ()).await?;
                Ok(())
            }
        })
        .unwrap();
    worker
        .register("email.follow_up", move |ctx| {
            let seen = seen.clone();
            async move { Ok(seen.send(ctx.job().meta.to_value())?) }
        })
        .unwrap();
    let handle = worker.start();
    let expected = serde_json::json!({
        "ojs.context.user_id": "7", "ojs.context.request_id": "r-1", "tenant_id": "acme", "ojs.context.locale": "de-DE",
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    });
    assert_eq!(log.recv().await, Some(expected.clone()));
    assert_eq!(log.recv().await, Some(expected), "the handler's own job");
    handle.shutdown(None).await;
    assert_eq!(shop.sent().await, ["email.welcome sent"], "the request that failed has none");
}

#[tokio::test]
async fn a_route_without_the_layer_says_what_is_missing() {
    let app = Router::new().route("/", post(|_: Ojs| async {}));
    let answer = app.oneshot(Request::post("/").body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
    let body = http_body_util::BodyExt::collect(answer.into_body()).await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&body).contains("Ojs::layer()"));
}
