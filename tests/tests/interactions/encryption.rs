//! Encryption beside unique jobs and the outbox: the SDK's client over a socket, with a record of what it has sent.
use std::sync::Arc;
use std::time::Duration;

use ojs::encryption::{Codec, Encrypted, Key, Keys};
use ojs::outbox::{Dialect, Relay, RelayOptions, SqliteOutbox, Store, Style, Table};
use ojs::transport::Transport;
use ojs::worker::WorkerOptions;
use ojs::{Client, JobRequest, UniquePolicy, Worker};
use ojs_tests::until;
use serde_json::Value;
use tokio::sync::mpsc;

use super::recorded::Recorded;
use super::world::World;

crate::on_every_store!(ei_001_unique_keys_are_made_before_the_encryption, ei_013_an_outbox_holds_ciphertext);

const SECRET: &str = "4111 1111 1111 1111";

fn encrypted(wire: &Arc<Recorded>) -> Client {
    let keys = Keys::new("k1", Key::new([1; 32])).unwrap();
    Client::new(Arc::new(Encrypted::new(Arc::clone(wire), Codec::new(keys))))
}

async fn ei_001_unique_keys_are_made_before_the_encryption(w: &World) {
    // Two clients with connections of their own, as in two processes.
    let wires = [Recorded::to(&w.url()).await, Recorded::to(&w.url()).await];
    let clients = [encrypted(&wires[0]), encrypted(&wires[1])];
    let enqueue = async |client: &Client, value: &str| {
        client.enqueue("ei.a", [value]).queue("q").unique(UniquePolicy::by(["type", "args"])).await
    };
    let first = enqueue(&clients[0], "ada@example.com").await.unwrap();
    let refused = enqueue(&clients[1], "ada@example.com").await.unwrap_err();
    assert!(refused.is_duplicate(), "{refused}");
    assert_eq!(refused.ojs().unwrap().details.as_ref().unwrap()["existing_job_id"], first.id.as_str());
    enqueue(&clients[0], "bob@example.com").await.unwrap();
    let bodies: Vec<Value> =
        wires.iter().flat_map(|wire| wire.bodies()).map(|body| serde_json::from_str(&body).unwrap()).collect();
    let [first, other, second] = &bodies[..] else { panic!("three requests: {bodies:?}") };
    let key = |body: &Value| body["meta"]["ojs.unique_key"].as_str().unwrap().to_owned();
    assert_eq!(key(first), key(second), "the same plain arguments have the same key");
    assert_ne!(key(first), key(other));
    assert_ne!(first["args"], second["args"], "and different ciphertexts");
    assert!(!bodies.iter().any(|body| body.to_string().contains("@example.com")), "{bodies:?}");
}

async fn ei_013_an_outbox_holds_ciphertext(w: &World) {
    let wire = Recorded::to(&w.url()).await;
    let client = encrypted(&wire);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("app.db");
    let store = Store::new(Table::default(), SqliteOutbox::open(&path).unwrap());
    store.migrate().await.unwrap();
    let request = JobRequest::new("card.charge", [SECRET]).queue("q").priority(7);
    let staged = client.stage(request, Dialect::Sqlite, &Table::default()).await.unwrap().unwrap();
    let (sql, values) = staged.statement(Style::Question);
    let mut app = rusqlite::Connection::open(&path).unwrap();
    let transaction = app.transaction().unwrap();
    transaction.execute(&sql, rusqlite::params_from_iter(values)).unwrap();
    transaction.commit().unwrap();
    let row = "SELECT job_args, job_options FROM ojs_outbox";
    let (args, options): (String, String) = app.query_row(row, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert!(options.contains(r#""queue":"q""#) && options.contains(r#""priority":7"#), "readable: {options}");
    for file in std::fs::read_dir(directory.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()), "plain text in the database");
    }
    // The relay has no key.
    let relay = Relay::start(Client::new(Arc::clone(&wire) as Arc<dyn Transport>), store, RelayOptions::default());
    relay.wake();
    until("the row is relayed", || async { (relay.status().sent == 1).then_some(()) }).await;
    relay.stop(Duration::from_secs(60)).await;
    assert!(wire.bodies().iter().any(|body| body.contains(&args)), "byte for byte what the row has");
    let worker = Worker::new(Arc::clone(client.transport()), WorkerOptions::new(["q"]));
    let (seen, mut log) = mpsc::unbounded_channel();
    worker
        .register("card.charge", move |ctx| {
            let seen = seen.clone();
            async move { Ok(seen.send(ctx.args::<(String,)>()?.0)?) }
        })
        .unwrap();
    let handle = worker.start();
    assert_eq!(log.recv().await.as_deref(), Some(SECRET), "decrypted once");
    handle.shutdown(None).await;
}
