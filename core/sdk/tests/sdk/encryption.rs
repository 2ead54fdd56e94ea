//! Encrypted arguments from the producer to the handler, against a real engine (interactions EI-001, EI-012, EI-013).
#![cfg(all(feature = "embedded", feature = "outbox-sqlite"))]
use std::sync::Arc;
use std::time::Duration;

use crate::recorded::Recorded;
use ojs::encryption::{Codec, Encrypted, Key, Keys};
use ojs::outbox::{Dialect, Relay, RelayOptions, SqliteOutbox, Store, Style, Table};
use ojs::transport::Transport;
use ojs::worker::WorkerOptions;
use ojs::{Client, JobRequest, RetryPolicy, UniquePolicy, Worker};
use tokio::sync::mpsc;

const SECRET: &str = "4111 1111 1111 1111";

fn keys(id: &str, byte: u8) -> Keys {
    Keys::new(id, Key::new([byte; 32])).unwrap()
}

fn over(wire: &Arc<Recorded>, keys: Keys) -> Client {
    Client::new(Arc::new(Encrypted::new(Arc::clone(wire), Codec::new(keys))))
}

/// A worker that says what its handler saw; with `fail` the first attempt fails.
fn worker(client: &Client, fail: bool) -> (ojs::worker::WorkerHandle, mpsc::UnboundedReceiver<(u32, String, String)>) {
    let (seen, log) = mpsc::unbounded_channel();
    let worker = Worker::new(Arc::clone(client.transport()), WorkerOptions::default());
    worker
        .register("card.charge", move |ctx| {
            let seen = seen.clone();
            async move {
                let (card,): (String,) = ctx.args()?;
                let meta = serde_json::to_string(&ctx.job().meta)?;
                seen.send((ctx.attempt(), card, meta))?;
                if fail && ctx.attempt() == 1 {
                    return Err(ojs::HandlerError::from(std::io::Error::other("not yet")));
                }
                Ok(())
            }
        })
        .unwrap();
    (worker.start(), log)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ei_012_the_handler_sees_what_the_wire_does_not() {
    let wire = Recorded::to("memory:").await;
    let client = over(&wire, keys("k-1", 1));
    let retry = RetryPolicy::new().max_attempts(2).initial_interval(Duration::from_millis(1));
    let job = client.enqueue("card.charge", [SECRET]).meta("tenant_id", "acme").retry(retry).await.unwrap();
    let stored = serde_json::to_string(&client.get_job(&job.id).await.unwrap().args).unwrap();
    assert!(stored.contains("ojs_encoded") && !stored.contains(SECRET), "{stored}");

    let (handle, mut log) = worker(&client, true);
    // A retry passes the same ciphertext on: nothing is encrypted again.
    for attempt in [1, 2] {
        let (number, card, meta) = log.recv().await.unwrap();
        assert_eq!((number, card.as_str(), meta.as_str()), (attempt, SECRET, r#"{"tenant_id":"acme"}"#));
    }
    handle.shutdown(None).await;
    assert_eq!(serde_json::to_string(&client.get_job(&job.id).await.unwrap().args).unwrap(), stored);
    assert!(wire.bodies().iter().all(|body| !body.contains(SECRET)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ei_001_unique_jobs_are_compared_in_the_clear() {
    let wire = Recorded::to("memory:").await;
    let clients = [over(&wire, keys("k-1", 1)), over(&wire, keys("k-1", 1))];
    let enqueue = |client: usize, value: &str| {
        let request = clients[client].enqueue("ei.a", [value]).unique(UniquePolicy::by(["type", "args"]));
        async move { request.await }
    };
    let first = enqueue(0, "u1").await.unwrap();
    let refused = enqueue(1, "u1").await.unwrap_err();
    assert!(refused.is_duplicate(), "{refused}");
    assert_eq!(refused.ojs().unwrap().details.as_ref().unwrap()["existing_job_id"], first.id.as_str());
    enqueue(0, "u2").await.unwrap();

    let bodies = wire.bodies();
    let bodies: Vec<serde_json::Value> = bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect();
    let key = |at: usize| bodies[at]["meta"]["ojs.unique_key"].as_str().unwrap().to_owned();
    assert_eq!(key(0), key(1));
    assert_ne!(key(0), key(2));
    assert_ne!(bodies[0]["args"][0]["data"], bodies[1]["args"][0]["data"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_rotate_and_one_that_is_missing_is_waited_for() {
    let wire = Recorded::to("memory:").await;
    let old = over(&wire, keys("k-1", 1));
    // More attempts than the worker without the key can use up before this thread has seen the first.
    let retry = || RetryPolicy::new().max_attempts(100_000).initial_interval(Duration::from_millis(1)).backoff_coefficient(1.0);
    let job = old.enqueue("card.charge", [SECRET]).retry(retry()).await.unwrap();

    // A worker that does not know the key gives the job back, retryable.
    let (blind, mut none) = worker(&over(&wire, keys("k-2", 2)), false);
    let failed = loop {
        let job = old.get_job(&job.id).await.unwrap();
        if let Some(error) = job.error.clone() {
            break error;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(failed.code, "x_codec_unknown_key");
    blind.shutdown(None).await;
    assert!(none.try_recv().is_err(), "the handler did not run");

    // With the old key behind the new one it is read.
    let both = keys("k-2", 2).with("k-1", Key::new([1; 32])).unwrap();
    let (handle, mut log) = worker(&over(&wire, both), false);
    assert_eq!(log.recv().await.unwrap().1, SECRET);
    handle.shutdown(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ei_013_the_outbox_holds_ciphertext_and_the_relay_no_key() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("app.db");
    let wire = Recorded::to("memory:").await;
    let client = over(&wire, keys("k-1", 1));
    let store = Store::new(Table::default(), SqliteOutbox::open(&path).unwrap());
    store.migrate().await.unwrap();

    let mut app = rusqlite::Connection::open(&path).unwrap();
    let transaction = app.transaction().unwrap();
    let request = JobRequest::new("card.charge", [SECRET]).queue("cards").priority(7);
    let staged = client.stage(request, Dialect::Sqlite, &Table::default()).await.unwrap().unwrap();
    let (sql, values) = staged.statement(Style::Question);
    transaction.execute(&sql, rusqlite::params_from_iter(values)).unwrap();
    transaction.commit().unwrap();
    let (args, options): (String, String) =
        app.query_row("SELECT job_args, job_options FROM ojs_outbox", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert!(options.contains(r#""queue":"cards""#) && options.contains(r#""priority":7"#), "{options}");
    for file in std::fs::read_dir(directory.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()), "plain text in the database");
    }

    // The relay's client has no key.
    let relay = Relay::start(Client::new(Arc::clone(&wire) as Arc<dyn Transport>), store, RelayOptions::default());
    relay.wake();
    while relay.status().sent < 1 {
        tokio::task::yield_now().await;
    }
    relay.stop(Duration::from_secs(60)).await;
    let relayed = wire.bodies().iter().any(|body| body.contains(&args));
    assert!(relayed, "the row's arguments went over the wire byte by byte");

    let worker = Worker::new(Arc::clone(client.transport()), WorkerOptions::new(["cards"]));
    let (seen, mut log) = mpsc::unbounded_channel();
    worker
        .register("card.charge", move |ctx| {
            let seen = seen.clone();
            async move { Ok(seen.send(ctx.args::<(String,)>()?.0)?) }
        })
        .unwrap();
    let handle = worker.start();
    assert_eq!(log.recv().await.as_deref(), Some(SECRET));
    handle.shutdown(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jt_24_encrypted_jobs_of_a_train_run_in_order_and_their_train_is_readable() {
    let wire = Recorded::to("memory:").await;
    let client = over(&wire, keys("k-1", 1));
    let mut last = None;
    for number in 0..5 {
        // Without the train, the later a job is the earlier it would run.
        let job = client.enqueue("card.charge", [format!("{SECRET} {number}")]).train("dest_1").priority(number).await.unwrap();
        let stored = client.get_job(&job.id).await.unwrap();
        let meta: serde_json::Value = stored.meta.parse().unwrap();
        assert_eq!(meta["train_id"], "dest_1", "the server needs it");
        let args = serde_json::to_string(&stored.args).unwrap();
        assert!(args.contains("ojs_encoded") && !args.contains(SECRET), "{args}");
        last = Some(job);
    }
    assert_eq!(last.unwrap().train.unwrap().ahead, 4);
    let (handle, mut log) = worker(&client, false);
    for number in 0..5 {
        let (_, card, _) = log.recv().await.unwrap();
        assert_eq!(card, format!("{SECRET} {number}"));
    }
    handle.shutdown(None).await;
}
