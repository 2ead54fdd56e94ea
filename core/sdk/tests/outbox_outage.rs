//! A server that is away for an hour, on a clock that is wound forward.
#![cfg(all(feature = "embedded", feature = "outbox-sqlite"))]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ojs::Client;
use ojs::outbox::{Lag, Relay, RelayOptions, SqliteOutbox, Store, Table};
use ojs::transport::{self, Request, Transport, TransportError, TransportErrorKind};
use tokio::time::Instant;

const ROWS: u64 = 1000;
const HOUR: Duration = Duration::from_secs(3600);

/// A network with or without a server at its end, and how often somebody tried to send jobs.
#[derive(Default)]
struct Network {
    server: OnceLock<Arc<dyn Transport>>,
    tries: AtomicU64,
}

fn client(network: &Arc<Network>) -> Client {
    let network = Arc::clone(network);
    Client::new(transport::from_fn(move |request: Request| {
        let network = Arc::clone(&network);
        async move {
            network.tries.fetch_add(u64::from(request.path.starts_with("/jobs")), Ordering::SeqCst);
            match network.server.get().cloned() {
                // The engine has a thread of its own, and the clock jumps while everybody here waits: it stands while this thread works.
                Some(server) => {
                    let here = tokio::runtime::Handle::current();
                    tokio::task::spawn_blocking(move || here.block_on(server.request(request))).await.unwrap()
                }
                None => Err(TransportError::new(TransportErrorKind::Connect, "no server listens")),
            }
        }
    }))
}

fn outbox(path: &std::path::Path) -> Store {
    Store::new(Table::default(), SqliteOutbox::open(path).unwrap())
}

/// No attempt is used up and no row given up, however long it takes; the pauses grow to five seconds and no further; afterwards all
/// rows go out in full batches, as fast as the server takes them.
#[tokio::test(start_paused = true)]
async fn scenario_47_a_server_that_is_away_for_an_hour() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("app.db");
    let network = Arc::<Network>::default();
    let client = client(&network);
    let store = outbox(&path);
    store.migrate().await.unwrap();
    let app = rusqlite::Connection::open(&path).unwrap();
    let insert = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
         INSERT INTO ojs_outbox (job_type, job_args) SELECT 'a', '[' || i || ']' FROM n"
    );
    app.execute_batch(&format!("PRAGMA journal_mode = WAL; {insert}")).unwrap();

    let mut options = RelayOptions::default();
    options.max_attempts = 1;
    let relay = Relay::start(client.clone(), outbox(&path), options.clone());
    tokio::time::sleep(HOUR).await;
    let lag = store.lag().await.unwrap();
    assert_eq!((lag.pending, lag.parked), (ROWS, 0));
    let used: i64 = app.query_row("SELECT max(attempts) FROM ojs_outbox", [], |row| row.get(0)).unwrap();
    assert_eq!(used, 0);
    // Opened before the tries are counted: the clock may jump meanwhile.
    let engine = Client::connect("memory:").await.unwrap();
    // A pause is at most 5 s; a relay that does not slow down would have tried thousands of times.
    let tries = network.tries.swap(0, Ordering::SeqCst);
    assert!((720..2000).contains(&tries), "{tries} tries in an hour");

    assert!(network.server.set(Arc::clone(engine.transport())).is_ok());
    let back = Instant::now();
    while store.lag().await.unwrap() != Lag::default() {
        assert!(back.elapsed() < Duration::from_secs(6), "it goes on with the end of its pause");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let status = relay.stop(HOUR).await;
    assert_eq!(network.tries.load(Ordering::SeqCst), ROWS / options.batch_size as u64, "full batches");
    assert_eq!((status.sent, status.parked, status.refused), (ROWS, 0, 0));
    assert_eq!(client.queue_stats("default").await.unwrap().available, ROWS);
}

/// A job that has ended is known by its id for as long as the server keeps it; a relay deletes what it has sent much earlier.
#[test]
fn scenario_45_ids_are_remembered_for_longer_than_rows() {
    let (jobs, rows) = (ojs_engine::Retention::default(), RelayOptions::default());
    for kept in [jobs.finished, jobs.discarded, jobs.dead_letters] {
        assert!(kept >= rows.retention.saturating_mul(7), "{kept:?}");
    }
}
