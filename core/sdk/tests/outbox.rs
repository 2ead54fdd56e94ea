//! The outbox on real databases, against a real engine: deferral, rollback, order, at-least-once, poison rows.
#![cfg(all(feature = "embedded", feature = "outbox-sqlite", feature = "outbox-postgres", feature = "outbox-mysql"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ojs::JobRequest;
use ojs::outbox::{Dialect, PostgresOutbox, Relay, Store, Style, Table, Value};

#[path = "outbox/app.rs"]
mod app;
#[path = "support/log.rs"]
mod log;
#[path = "outbox/mariadb.rs"]
mod mariadb;
#[path = "outbox/migrations.rs"]
mod migrations;
#[path = "outbox/reports.rs"]
mod reports;
#[path = "outbox/unmigrated.rs"]
mod unmigrated;

use reports::{
    a_relay_reports_what_it_does_and_takes_leave, a_relay_whose_reports_have_no_answer_takes_leave,
    a_server_that_lists_no_relays_is_not_told, reports_go_on_when_the_server_is_back, rows_are_counted_up_to_a_bound,
};

use app::{App, PATIENCE, Session, connect_mysql, drained, faulty_server, quick, until};

/// On databases with several writers.
mod several_writers {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn scenarios_42_43_44_on_postgres() {
        super::scenarios_42_43_44_a_later_commit_with_an_earlier_number_is_neither_lost_nor_overtaken(super::App::Postgres(
            ojs_postgres_fixture::database(),
        ))
        .await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn scenarios_42_43_44_on_mysql() {
        super::scenarios_42_43_44_a_later_commit_with_an_earlier_number_is_neither_lost_nor_overtaken(super::App::Mysql(
            ojs_mariadb_fixture::database(),
        ))
        .await;
    }
}

macro_rules! on_all {
    ($($name:ident),+ $(,)?) => {
        mod sqlite { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $name() {
            super::$name(super::App::Sqlite(tempfile::tempdir().unwrap())).await;
        })+ }
        mod postgres { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $name() {
            super::$name(super::App::Postgres(ojs_postgres_fixture::database())).await;
        })+ }
        mod mysql { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $name() {
            super::$name(super::App::Mysql(ojs_mariadb_fixture::database())).await;
        })+ }
    };
}

on_all!(
    fa_001_a_job_is_sent_when_its_transaction_has_committed,
    fa_002_a_rollback_takes_its_jobs_along,
    fa_003_a_lost_answer_makes_no_second_job,
    one_slow_answer_holds_up_none_after_it,
    fa_003_a_server_that_is_away_uses_no_attempt,
    fa_003_two_relays_send_every_row_once_in_order,
    fa_r002_many_rows_are_one_request,
    rows_with_the_seeds_columns_alone_are_relayed,
    scenario_46_a_poison_row_is_parked_and_blocks_no_other,
    batches_that_overlap_stay_in_order,
    another_table,
    old_rows_are_deleted,
    stopping_sends_what_is_committed,
    a_relay_reports_what_it_does_and_takes_leave,
    a_relay_whose_reports_have_no_answer_takes_leave,
    rows_are_counted_up_to_a_bound,
    a_server_that_lists_no_relays_is_not_told,
    reports_go_on_when_the_server_is_back,
);

async fn fa_001_a_job_is_sent_when_its_transaction_has_committed(app: App) {
    let (_, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    let relay = Relay::start(client.clone(), app.store(), quick());
    let (sql, id) = app.staged(&client, JobRequest::new("email.welcome", [1]).queue("mail").meta("k", "it's")).await;
    assert!(client.get_job(&id).await.unwrap_err().is_not_found());
    app.run(&format!("BEGIN; {sql}; COMMIT")).await;
    drained(&app).await;
    let job = client.get_job(&id).await.unwrap();
    assert_eq!(job.queue, "mail");
    assert!(job.meta.as_str().contains("it's"), "{:?}", job.meta);
    assert_eq!(app.ask("SELECT status FROM ojs_outbox WHERE sent_at IS NOT NULL AND error IS NULL").await, ["sent"]);
    relay.stop(PATIENCE).await;
}

async fn fa_002_a_rollback_takes_its_jobs_along(app: App) {
    let (server, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    let relay = Relay::start(client.clone(), app.store(), quick());
    let mut sql = Vec::new();
    for number in 0..4 {
        sql.push(app.staged(&client, JobRequest::new("a", [number])).await.0);
    }
    app.run(&format!("BEGIN; {}; ROLLBACK", sql[0])).await;
    // Scenario 48: a savepoint that is rolled back, and one that is released.
    app.run(&format!(
        "BEGIN; {}; SAVEPOINT one; {}; ROLLBACK TO one; SAVEPOINT two; {}; RELEASE SAVEPOINT two; COMMIT",
        sql[1], sql[2], sql[3]
    ))
    .await;
    drained(&app).await;
    relay.stop(PATIENCE).await;
    assert_eq!(*server.order.lock().unwrap(), [1, 3]);
}

async fn fa_003_a_lost_answer_makes_no_second_job(app: App) {
    let (server, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    for number in 0..7 {
        let (sql, _) = app.staged(&client, JobRequest::new("a", [number])).await;
        app.run(&sql).await;
    }
    server.lose.store(1, Ordering::SeqCst);
    let relay = Relay::start(client.clone(), app.store(), quick());
    drained(&app).await;
    let status = relay.stop(PATIENCE).await;
    assert_eq!((status.sent, status.deduplicated, status.refused, status.held_up), (7, 0, 0, 1));
    assert_eq!(*server.order.lock().unwrap(), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(client.queue_stats("default").await.unwrap().available, 7);
}

/// A batch that is not full waits for company as long as answers usually take; not for one that is already there.
async fn one_slow_answer_holds_up_none_after_it(app: App) {
    const STALL: Duration = Duration::from_secs(5);
    let (server, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    let relay = Relay::start(client.clone(), app.store(), quick());
    let two = async || {
        let sql =
            [app.staged(&client, JobRequest::new("a", [1])).await.0, app.staged(&client, JobRequest::new("a", [2])).await.0];
        app.run(&format!("BEGIN; {}; COMMIT", sql.join("; "))).await;
        relay.wake();
        drained(&app).await;
    };
    // A machine may stand still for as long; a relay that waits does so every time.
    for tries_left in (0..4).rev() {
        *server.stall.lock().unwrap() = Some(STALL);
        two().await;
        let started = Instant::now();
        for _ in 0..3 {
            two().await;
        }
        let took = started.elapsed();
        if took < STALL {
            break;
        }
        assert!(tries_left > 0, "three batches took {took:?}");
    }
    relay.stop(PATIENCE).await;
}

async fn fa_003_a_server_that_is_away_uses_no_attempt(app: App) {
    let (server, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    server.away.store(true, Ordering::SeqCst);
    let relay = Relay::start(client.clone(), app.store(), quick());
    for number in 0..5 {
        let (sql, _) = app.staged(&client, JobRequest::new("a", [number])).await;
        app.run(&sql).await;
    }
    until("several tries", || async { relay.status().held_up > 3 }).await;
    let seen = "SELECT CONCAT(status, attempts, CASE WHEN parked_at IS NULL THEN '' ELSE 'parked' END) FROM ojs_outbox WHERE error LIKE '%no server listens%' ORDER BY id LIMIT 1";
    until("the error is in the row", || async { app.ask(seen).await == ["failed0"] }).await;
    server.away.store(false, Ordering::SeqCst);
    drained(&app).await;
    assert_eq!(app.ask("SELECT CAST(max(attempts) AS text) FROM ojs_outbox").await, ["0"]);
    relay.stop(PATIENCE).await;
    assert_eq!(*server.order.lock().unwrap(), [0, 1, 2, 3, 4]);
}

async fn fa_003_two_relays_send_every_row_once_in_order(app: App) {
    let (server, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    // Once is promised while the lease lasts: it outlasts a moment in which the machine stands still.
    let mut options = quick();
    options.lease = Duration::from_secs(30);
    let relays = [0; 2].map(|_| Relay::start(client.clone(), app.store(), options.clone()));
    for number in 0..200 {
        let (sql, _) = app.staged(&client, JobRequest::new("a", [number])).await;
        app.run(&sql).await;
        relays[number % 2].wake();
    }
    drained(&app).await;
    // A lease is free a moment before its last holder says so.
    until("one leads at most", || async { relays.iter().filter(|relay| relay.status().leading).count() <= 1 }).await;
    for relay in relays {
        relay.stop(PATIENCE).await;
    }
    assert_eq!(*server.order.lock().unwrap(), (0..200).collect::<Vec<_>>());
}

async fn fa_r002_many_rows_are_one_request(app: App) {
    let (server, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    let mut sql = String::from("BEGIN;");
    for number in 0..100 {
        sql.push_str(&app.staged(&client, JobRequest::new("a", [number])).await.0);
        sql.push(';');
    }
    app.run(&format!("{sql} COMMIT")).await;
    let relay = Relay::start(client.clone(), app.store(), quick());
    drained(&app).await;
    relay.stop(PATIENCE).await;
    assert_eq!(*server.requests.lock().unwrap(), [("/jobs/batch".to_owned(), 100)]);
    assert_eq!(*server.order.lock().unwrap(), (0..100).collect::<Vec<_>>());
}

/// The table of the seed, as printed; the migration adds what it lacks.
const SEED: &str = "CREATE TABLE ojs_outbox (
    id          BIGSERIAL PRIMARY KEY,
    job_type    TEXT NOT NULL,
    job_args    JSONB NOT NULL,
    job_options JSONB NOT NULL DEFAULT '{}',
    status      TEXT NOT NULL DEFAULT 'pending',
    created_at  TIMESTAMPTZ NOT NULL DEFAULT now(),
    sent_at     TIMESTAMPTZ,
    error       TEXT
);

CREATE INDEX idx_ojs_outbox_pending ON ojs_outbox (status, created_at)
    WHERE status = 'pending';";

/// The same in MySQL's words: it has no JSONB, no time with a zone, no partial index.
fn seed_of(app: &App) -> String {
    match app {
        App::Mysql(_) => SEED
            .replace("BIGSERIAL PRIMARY KEY", "BIGINT AUTO_INCREMENT PRIMARY KEY")
            .replace("JSONB NOT NULL DEFAULT '{}'", "JSON NOT NULL DEFAULT ('{}')")
            .replace("JSONB", "JSON")
            .replace("TIMESTAMPTZ", "TIMESTAMP NULL")
            .replace("status      TEXT", "status      VARCHAR(16)")
            .replace("WHERE status = 'pending'", ""),
        _ => SEED.to_owned(),
    }
}

async fn rows_with_the_seeds_columns_alone_are_relayed(app: App) {
    let (server, client) = faulty_server().await;
    let insert = "INSERT INTO ojs_outbox (job_type, job_args, job_options) VALUES ('a', '[1]', '{\"queue\": \"email\"}')";
    let made_before = !matches!(app, App::Sqlite(_));
    if made_before {
        app.run(&seed_of(&app)).await;
        // Written before the migration.
        app.run(&insert.replace("[1]", "[0]")).await;
    }
    app.store().migrate().await.unwrap();
    app.store().migrate().await.unwrap();
    app.run(insert).await;
    app.run("INSERT INTO ojs_outbox (job_type, job_args) VALUES ('a', '[2]')").await;
    // The id that the relay makes is the same when the answer is lost.
    server.lose.store(1, Ordering::SeqCst);
    let relay = Relay::start(client.clone(), app.store(), quick());
    drained(&app).await;
    relay.stop(PATIENCE).await;
    let first = if made_before { 2 } else { 1 };
    assert_eq!(client.queue_stats("email").await.unwrap().available, first);
    assert_eq!(client.queue_stats("default").await.unwrap().available, 1);
    let order = server.order.lock().unwrap().clone();
    assert!(order.ends_with(&[1, 2]) && order.len() as u64 == first + 1, "{order:?}");
}

async fn scenario_46_a_poison_row_is_parked_and_blocks_no_other(app: App) {
    let (server, client) = faulty_server().await;
    let store = app.store();
    store.migrate().await.unwrap();
    for (number, options) in [(1, "{}"), (2, r#"{"priority":5000}"#), (3, "[]"), (4, "{}"), (5, "{}")] {
        app.run(&format!("INSERT INTO ojs_outbox (job_type, job_args, job_options) VALUES ('a', '[{number}]', '{options}')"))
            .await;
    }
    let relay = Relay::start(client.clone(), app.store(), quick());
    until("both are parked", || async { store.lag().await.unwrap().parked == 2 }).await;
    assert_eq!(store.lag().await.unwrap().pending, 0);
    let parked = store.parked(10).await.unwrap();
    assert_eq!(parked.iter().map(|row| (row.id, row.attempts)).collect::<Vec<_>>(), [(2, 2), (3, 2)]);
    assert!(parked[0].error.contains("priority") && parked[1].error.contains("job_options"), "{parked:?}");
    until("it has counted them", || async { (relay.status().parked, relay.status().refused) == (2, 4) }).await;
    // Put right, and sent again; the other is given up.
    app.run("UPDATE ojs_outbox SET job_options = '{\"priority\": 5}' WHERE id = 2").await;
    assert_eq!((store.replay(Some(2)).await.unwrap(), store.drop_parked(Some(3)).await.unwrap()), (1, 1));
    drained(&app).await;
    relay.stop(PATIENCE).await;
    assert_eq!(*server.order.lock().unwrap(), [1, 4, 5, 2]);
}

/// The next batch is read while one is sent: what is refused, or lost on the way, in the middle of them changes nothing.
async fn batches_that_overlap_stay_in_order(app: App) {
    let (server, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    for number in 0..40 {
        let options = if number == 17 { r#"{"priority":5000}"# } else { "{}" };
        app.run(&format!("INSERT INTO ojs_outbox (job_type, job_args, job_options) VALUES ('a', '[{number}]', '{options}')"))
            .await;
    }
    server.lose.store(1, Ordering::SeqCst);
    let mut options = quick();
    options.batch_size = 5;
    let relay = Relay::start(client.clone(), app.store(), options);
    until("row 18 is parked, the others are sent", || async {
        let lag = app.store().lag().await.unwrap();
        (lag.pending, lag.parked) == (0, 1)
    })
    .await;
    assert_eq!(relay.stop(PATIENCE).await.sent, 39);
    let expected: Vec<i64> = (0..40).filter(|number| *number != 17).collect();
    assert_eq!(*server.order.lock().unwrap(), expected);
    assert_eq!(client.queue_stats("default").await.unwrap().available, 39);
}

async fn another_table(app: App) {
    let (server, client) = faulty_server().await;
    let table = Table::new("shop_outbox").unwrap();
    let store = || app.store_of(table.clone());
    store().migrate().await.unwrap();
    app.run("INSERT INTO shop_outbox (job_type, job_args) VALUES ('a', '[1]')").await;
    let relay = Relay::start(client.clone(), store(), quick());
    until("it is sent", || async { relay.status().sent == 1 }).await;
    relay.stop(PATIENCE).await;
    assert_eq!(*server.order.lock().unwrap(), [1]);
}

async fn old_rows_are_deleted(app: App) {
    let (_, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    // MySQL's times have no zone.
    let old = if matches!(app, App::Mysql(_)) { "2020-01-01 00:00:00" } else { "2020-01-01T00:00:00.000Z" };
    for (number, status) in [(1, "sent"), (2, "pending")] {
        app.run(&format!(
            "INSERT INTO ojs_outbox (job_type, job_args, status, sent_at) VALUES ('a', '[{number}]', '{status}', '{old}')"
        ))
        .await;
    }
    app.run(&format!("INSERT INTO ojs_outbox (job_type, job_args, status, parked_at) VALUES ('a', '[3]', 'failed', '{old}')"))
        .await;
    let relay = Relay::start(client.clone(), app.store(), quick());
    let left = "SELECT CAST(job_args AS text) FROM ojs_outbox ORDER BY id";
    until("the old ones are gone", || async { app.ask(left).await == ["[2]"] }).await;
    drained(&app).await;
    relay.stop(PATIENCE).await;
}

async fn stopping_sends_what_is_committed(app: App) {
    let (server, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    let mut options = quick();
    options.poll_interval = Duration::from_secs(3600);
    options.lease = Duration::from_secs(3600);
    let relay = Relay::start(client.clone(), app.store(), options.clone());
    for number in 0..5 {
        let (sql, _) = app.staged(&client, JobRequest::new("a", [number])).await;
        app.run(&sql).await;
    }
    relay.stop(PATIENCE).await;
    assert_eq!(*server.order.lock().unwrap(), [0, 1, 2, 3, 4]);
    // The lease was given back: the next one need not wait for its end. A busy database may get to that a moment later.
    app.run("INSERT INTO ojs_outbox (job_type, job_args) VALUES ('a', '[5]')").await;
    until("the next one sends", || async {
        Relay::start(client.clone(), app.store(), options.clone()).stop(PATIENCE).await;
        server.order.lock().unwrap().len() == 6
    })
    .await;
}

/// Scenarios 42, 43: numbers are given out before commit, so a lower one may become visible later; scenario 44: a long transaction
/// elsewhere holds nothing up.
async fn scenarios_42_43_44_a_later_commit_with_an_earlier_number_is_neither_lost_nor_overtaken(app: App) {
    let (server, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    app.run("CREATE TABLE other (x int)").await;
    let mut elsewhere = Session::of(&app).await;
    elsewhere.run("BEGIN; INSERT INTO other VALUES (1)").await;
    let relay = Relay::start(client.clone(), app.store(), quick());
    let insert = |number: i64| format!("INSERT INTO ojs_outbox (job_type, job_args) VALUES ('a', '[{number}]')");
    app.run(&insert(1)).await;
    until("a transaction elsewhere holds nothing up", || async { relay.status().sent == 1 }).await;
    let mut slow = Session::of(&app).await;
    slow.run(&format!("BEGIN; {}", insert(2))).await;
    app.run(&insert(3)).await;
    // The relay has looked several times and sent nothing.
    let looks = Instant::now() + Duration::from_millis(200);
    until("some time has passed", || async { Instant::now() > looks }).await;
    assert_eq!(relay.status().sent, 1);
    slow.run("COMMIT").await;
    drained(&app).await;
    relay.stop(PATIENCE).await;
    assert_eq!(*server.order.lock().unwrap(), [1, 2, 3]);
}

/// EI-012, EI-013: the whole chain has run, in its order, before the row is written; the row is what will be sent.
#[tokio::test]
async fn ei_012_ei_013_the_chain_runs_before_the_row_is_written() {
    let (_, client) = faulty_server().await;
    let seen: Arc<std::sync::Mutex<Vec<&'static str>>> = Arc::default();
    let spy = |name: &'static str| {
        let seen = Arc::clone(&seen);
        move |mut request: JobRequest, next: ojs::middleware::EnqueueNext| {
            seen.lock().unwrap().push(name);
            if name == "encrypt" {
                request.set_args(["sealed"]).unwrap();
            }
            next.run(request)
        }
    };
    for name in ["trace_inject", "auth", "validate", "unique", "rate_limit", "encrypt"] {
        client.use_middleware(name, spy(name)).unwrap();
    }
    client.middleware().insert_after("validate", "custom", spy("custom")).unwrap();
    let error = client.middleware().remove("unique").and_then(|()| client.use_middleware("unique", spy("unique"))).unwrap_err();
    assert!(error.to_string().contains("'unique' must stand before 'rate_limit'"), "{error}");
    client.middleware().insert_before("rate_limit", "unique", spy("unique")).unwrap();
    let staged =
        client.stage(JobRequest::new("a", ["4111"]).queue("mail"), Dialect::Sqlite, &Table::default()).await.unwrap().unwrap();
    assert_eq!(*seen.lock().unwrap(), ["trace_inject", "auth", "validate", "custom", "unique", "rate_limit", "encrypt"]);
    let (_, values) = staged.statement(Style::Question);
    assert_eq!(values[1..3], [Value::from("[\"sealed\"]"), Value::from("{\"queue\":\"mail\"}")]);
}

#[tokio::test]
async fn a_sequence_that_gives_out_stocks_is_refused() {
    let app = App::Postgres(ojs_postgres_fixture::database());
    app.store().migrate().await.unwrap();
    app.run("ALTER SEQUENCE ojs_outbox_id_seq CACHE 10; INSERT INTO ojs_outbox (job_type, job_args) VALUES ('a', '[1]')").await;
    let (_, client) = faulty_server().await;
    let relay = Relay::start(client, app.store(), quick());
    until("it says so", || async { relay.status().error.is_some_and(|error| error.contains("CACHE 10")) }).await;
    relay.stop(PATIENCE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_start_together_make_the_tables_once() {
    let database = ojs_postgres_fixture::database();
    let all = (0..8).map(|_| {
        let store = Store::new(Table::default(), PostgresOutbox::new(database.url()).unwrap());
        tokio::spawn(async move { store.migrate().await })
    });
    for one in all.collect::<Vec<_>>() {
        one.await.unwrap().unwrap();
    }
}
