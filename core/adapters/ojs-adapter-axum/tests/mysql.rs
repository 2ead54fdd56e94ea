//! The same on a real MariaDB, with connections of `mysql_async`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test")]
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Request, StatusCode};
use axum::routing::post;
use mysql_async::prelude::Queryable;
use mysql_async::{Opts, OptsBuilder, Pool, PoolConstraints, PoolOpts, Transaction, TxOpts};
use ojs::request_context::RequestContext;
use ojs::{Client, JobRequest};
use ojs_adapter_axum::{AdapterError, Ojs};
use ojs_mariadb_fixture::Database;
use tower::ServiceExt;

/// An application's database, its pool of a single connection, its server, and the adapter between them.
struct Shop {
    pool: Pool,
    ojs: Ojs,
    _database: Database,
}

impl Shop {
    async fn open() -> Self {
        let database = ojs_mariadb_fixture::database();
        let one = PoolOpts::new().with_constraints(PoolConstraints::new(1, 1).unwrap());
        let pool = Pool::new(OptsBuilder::from_opts(Opts::from_url(database.url()).unwrap()).pool_opts(one));
        let ojs = Ojs::new(Client::connect("memory:").await.unwrap()).unwrap();
        ojs.start_relay(database.url(), true).await.unwrap();
        let users = "CREATE TABLE users (id INTEGER PRIMARY KEY AUTO_INCREMENT, email TEXT)";
        pool.get_conn().await.unwrap().query_drop(users).await.unwrap();
        Self { pool, ojs, _database: database }
    }

    async fn begin(&self) -> Transaction<'static> {
        self.pool.start_transaction(TxOpts::default()).await.unwrap()
    }

    async fn stage(&self, transaction: &mut Transaction<'_>, job_type: &str) -> String {
        self.ojs.enqueue_after_commit(transaction, JobRequest::new(job_type, [1])).await.unwrap()
    }

    /// Stops the relay, which flushes: what is sent by then is all there will be.
    async fn sent(&self) -> Vec<String> {
        assert_eq!(self.ojs.relay_status().await.unwrap().error, None);
        self.ojs.stop(Duration::from_secs(60)).await;
        let mut connection = self.pool.get_conn().await.unwrap();
        connection.query("SELECT CONCAT(job_type, ' ', status) FROM ojs_outbox ORDER BY id").await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fa_001_a_job_is_sent_when_its_transaction_commits() {
    let shop = Shop::open().await;
    let mut transaction = shop.begin().await;
    let request = JobRequest::new("email.welcome", ["50 % ? :x ä 😀"]).queue("mail").meta("k", "ü");
    let id = shop.ojs.enqueue_after_commit(&mut transaction, request).await.unwrap();
    assert!(shop.ojs.client().get_job(&id).await.unwrap_err().is_not_found());
    shop.ojs.commit(transaction).await.unwrap();
    assert_eq!(shop.sent().await, ["email.welcome sent"]);
    let job = shop.ojs.client().get_job(&id).await.unwrap();
    assert_eq!((job.queue.as_str(), job.args.to_value()), ("mail", serde_json::json!(["50 % ? :x ä 😀"])));
    assert_eq!(job.meta.to_value(), serde_json::json!({"k": "ü"}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fa_002_no_job_is_sent_when_it_rolls_back() {
    let shop = Shop::open().await;
    let mut transaction = shop.begin().await;
    shop.stage(&mut transaction, "a").await;
    transaction.rollback().await.unwrap();
    // Dropped in the middle, as by a handler that returns early: the connection rolls back before its next use.
    let mut transaction = shop.begin().await;
    shop.stage(&mut transaction, "b").await;
    drop(transaction);
    assert!(shop.sent().await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_48_savepoints_take_their_jobs_along() {
    let shop = Shop::open().await;
    let mut transaction = shop.begin().await;
    shop.stage(&mut transaction, "outer").await;
    transaction.query_drop("SAVEPOINT kept").await.unwrap();
    shop.stage(&mut transaction, "kept").await;
    transaction.query_drop("RELEASE SAVEPOINT kept").await.unwrap();
    transaction.query_drop("SAVEPOINT dropped").await.unwrap();
    shop.stage(&mut transaction, "dropped").await;
    transaction.query_drop("ROLLBACK TO SAVEPOINT dropped").await.unwrap();
    shop.ojs.wake().await;
    assert_eq!(shop.ojs.relay_status().await.unwrap().sent, 0, "a savepoint is no commit");
    shop.ojs.commit(transaction).await.unwrap();
    assert_eq!(shop.sent().await, ["outer sent", "kept sent"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_databases_have_an_outbox_each() {
    let (one, two) = (Shop::open().await, Shop::open().await);
    let (mut outer, mut inner) = (one.begin().await, two.begin().await);
    one.stage(&mut outer, "one").await;
    two.stage(&mut inner, "two").await;
    one.ojs.commit(outer).await.unwrap();
    inner.rollback().await.unwrap();
    // Outside of a transaction a job is sent at once, whatever another one does.
    let mut outer = one.begin().await;
    one.stage(&mut outer, "lost").await;
    let job = one.ojs.enqueue(JobRequest::new("now", [1])).await.unwrap();
    outer.rollback().await.unwrap();
    assert_eq!(one.ojs.client().get_job(&job.id).await.unwrap().job_type, "now");
    assert_eq!(one.sent().await, ["one sent"]);
    assert!(two.sent().await.is_empty());
}

/// A row that is written without a transaction is committed at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_autocommit_mode_a_row_is_sent_at_once() {
    let shop = Shop::open().await;
    let row = "INSERT INTO ojs_outbox (job_type, job_args) VALUES ('plain', '[1]')";
    shop.pool.get_conn().await.unwrap().query_drop(row).await.unwrap();
    shop.ojs.wake().await;
    assert_eq!(shop.sent().await, ["plain sent"]);
}

/// A handler that is gone in the middle, because its client is, or because it panicked, leaves its transaction behind: the pool gives
/// its connection on with nothing of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_given_back_in_mid_transaction_takes_its_jobs_along() {
    let shop = Shop::open().await;
    for panics in [false, true] {
        let (ojs, pool, (staged, ready)) = (shop.ojs.clone(), shop.pool.clone(), tokio::sync::oneshot::channel());
        let handler = tokio::spawn(async move {
            let mut transaction = pool.start_transaction(TxOpts::default()).await.unwrap();
            ojs.enqueue_after_commit(&mut transaction, JobRequest::new("lost", [1])).await.unwrap();
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
    let mut transaction = shop.begin().await;
    shop.stage(&mut transaction, "kept").await;
    shop.ojs.commit(transaction).await.unwrap();
    assert_eq!(shop.sent().await, ["kept sent"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_50_what_cannot_be_written_says_so() {
    let shop = Shop::open().await;
    let mut only_reads = TxOpts::default();
    only_reads.with_readonly(true);
    let mut reading = shop.pool.start_transaction(only_reads).await.unwrap();
    let error = shop.ojs.enqueue_after_commit(&mut reading, JobRequest::new("a", [1])).await.unwrap_err();
    // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
    assert!(matches!(&error, AdapterError::Mysql(mysql_async::Error::Server(cause)) if cause.code == 1792), "{error}");
    drop(reading);
    // What no server would take is refused before anything is written: the transaction goes on.
    let mut transaction = shop.begin().await;
    let error = shop.ojs.enqueue_after_commit(&mut transaction, JobRequest::new("", [1])).await.unwrap_err();
    assert!(matches!(error, AdapterError::Ojs(ojs::Error::Validation { .. })), "{error}");
    shop.stage(&mut transaction, "b").await;
    shop.ojs.commit(transaction).await.unwrap();
    assert_eq!(shop.sent().await, ["b sent"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_is_missing_says_what_to_do() {
    let shop = Shop::open().await;
    shop.pool.get_conn().await.unwrap().query_drop("DROP TABLE ojs_outbox").await.unwrap();
    let mut transaction = shop.begin().await;
    let error = shop.ojs.enqueue_after_commit(&mut transaction, JobRequest::new("a", [1])).await.unwrap_err();
    assert!(matches!(&error, AdapterError::NoTable(table) if table == "ojs_outbox"), "{error:?}");
    assert!(error.to_string().contains("ojs relay migrate"), "{error}");
    transaction.rollback().await.unwrap();
}

/// An application's own tests roll back: what was enqueued is seen by then, in its own transaction alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_49_a_test_that_rolls_back_sees_its_rows() {
    let shop = Shop::open().await;
    let mut transaction = shop.begin().await;
    let id = shop.stage(&mut transaction, "a").await;
    let staged: Vec<(String, String)> = transaction.query("SELECT job_id, job_type FROM ojs_outbox").await.unwrap();
    assert_eq!(staged, [(id, "a".to_owned())]);
    transaction.rollback().await.unwrap();
    assert!(shop.sent().await.is_empty());
}

/// Signs a user up, and fails behind it when asked to.
async fn signup(ojs: Ojs, State(pool): State<Pool>, Path(fate): Path<String>, email: String) -> StatusCode {
    let mut transaction = pool.start_transaction(TxOpts::default()).await.unwrap();
    transaction.exec_drop("INSERT INTO users (email) VALUES (?)", (email,)).await.unwrap();
    let user = transaction.last_insert_id();
    assert!(RequestContext::update(|context| context.with_user_id("7")));
    ojs.enqueue_after_commit(&mut transaction, JobRequest::new("email.welcome", [user])).await.unwrap();
    match fate.as_str() {
        "fails" => return StatusCode::INTERNAL_SERVER_ERROR,
        "panics" => panic!("behind the job"),
        _ => ojs.commit(transaction).await.unwrap(),
    }
    StatusCode::CREATED
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fa_r001_a_handler_that_fails_leaves_nothing_and_one_that_works_its_request() {
    let shop = Shop::open().await;
    let app = Router::new().route("/signup/{fate}", post(signup)).layer(shop.ojs.layer()).with_state(shop.pool.clone());
    for (fate, status) in [("fails", Some(500)), ("panics", None), ("works", Some(201))] {
        let request = Request::post(format!("/signup/{fate}")).header("X-OJS-Tenant", "acme").body(Body::from("ada@example.com"));
        let answer = tokio::spawn(app.clone().oneshot(request.unwrap())).await;
        assert_eq!(answer.ok().map(|answer| answer.unwrap().status().as_u16()), status, "{fate}");
    }
    assert_eq!(shop.sent().await, ["email.welcome sent"]);
    let mut connection = shop.pool.get_conn().await.unwrap();
    let rows: Vec<(String, u64)> = connection.query("SELECT job_id, (SELECT COUNT(*) FROM users) FROM ojs_outbox").await.unwrap();
    assert_eq!(rows[0].1, 1, "users");
    let job = shop.ojs.client().get_job(&rows[0].0).await.unwrap();
    assert_eq!(job.meta.to_value(), serde_json::json!({"ojs.context.user_id": "7", "tenant_id": "acme"}));
}
