//! The relay: rows that are committed go to the server, in the order in which they were inserted.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ojs_model::JobId;
use serde::Serialize;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::report::Reporter;
use super::rounds::Rounds;
use super::store::Store;
use crate::client::Client;

/// Settings of a [`Relay`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RelayOptions {
    /// How often it looks when it is not woken; 1 s.
    pub poll_interval: Duration,
    /// Most rows in one request; 1,000. A batch holds what waits, so this counts only while the relay is behind; the adapter
    /// configuration that the specification prints has 100.
    pub batch_size: usize,
    /// How long a relay that says nothing keeps others from relaying; 1.5 s. Time is the database's.
    pub lease: Duration,
    /// How long rows are kept after they were sent; 24 h.
    pub retention: Duration,
    /// How long rows are kept that the server has refused for good; 14 days.
    pub parked_retention: Duration,
    /// How often a row is sent that the server refuses, before it is parked; 5. A server that is away uses no attempt.
    pub max_attempts: u32,
    /// Pause after the first refusal of a row, doubling up to five minutes; 1 s.
    pub retry_after: Duration,
    /// What operators call this relay; the name of the machine without it.
    pub name: Option<String>,
    /// How often it reports to a server that lists relays; 5 s.
    pub report_every: Duration,
}

impl Default for RelayOptions {
    fn default() -> Self {
        Self {
            poll_interval: Duration::from_secs(1),
            batch_size: 1000,
            lease: Duration::from_millis(1500),
            retention: Duration::from_secs(24 * 3600),
            parked_retention: Duration::from_secs(14 * 24 * 3600),
            max_attempts: 5,
            retry_after: Duration::from_secs(1),
            name: None,
            report_every: Duration::from_secs(5),
        }
    }
}

/// What a relay has done so far.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct RelayStatus {
    /// Whether this relay is the one that sends. None is while there is nothing to send.
    pub leading: bool,
    /// Rows that the server has, duplicates included.
    pub sent: u64,
    /// Rows for which another job stands, by a unique policy.
    pub deduplicated: u64,
    /// Refusals of single rows.
    pub refused: u64,
    /// Rows given up.
    pub parked: u64,
    /// Requests that found no server, or a busy one.
    pub held_up: u64,
    /// The latest trouble, `None` since the latest success.
    pub error: Option<String>,
}

/// Sends what is in an outbox. Any number may run, in any number of processes: one of them sends, the others wait for it to stop.
pub struct Relay {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

/// Goes on until both have ended.
async fn both(rounds: Rounds, reporter: Reporter) {
    tokio::join!(rounds.run(), reporter.run());
}

/// What the handle and the loop share.
pub(super) struct Shared {
    pub wake: Notify,
    /// Others must be notified: this relay does not lead.
    pub woken: AtomicBool,
    pub stopping: CancellationToken,
    /// The end of the grace period.
    pub end: CancellationToken,
    status: Mutex<RelayStatus>,
}

impl Shared {
    pub fn status(&self) -> MutexGuard<'_, RelayStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Relay {
    /// Starts relaying on the runtime of the caller.
    #[must_use]
    pub fn start(client: Client, store: Store, options: RelayOptions) -> Self {
        let shared = Arc::new(Shared {
            wake: Notify::new(),
            woken: AtomicBool::new(false),
            stopping: CancellationToken::new(),
            end: CancellationToken::new(),
            status: Mutex::default(),
        });
        let id = format!("{}-{}", std::process::id(), JobId::now_v7());
        let (name, every) = (options.name.clone(), options.report_every);
        let reporter = Reporter::new(client.clone(), store.clone(), Arc::clone(&shared), id.clone(), name, every);
        let rounds = Rounds::new(client, store, options, id, Arc::clone(&shared));
        Self { shared, task: tokio::spawn(both(rounds, reporter)) }
    }

    /// Says that a transaction has committed: the relay looks at once. Cheap, never waits, may be called from any thread.
    pub fn wake(&self) {
        self.shared.woken.store(true, Ordering::SeqCst);
        self.shared.wake.notify_one();
    }

    /// What it has done so far.
    #[must_use]
    pub fn status(&self) -> RelayStatus {
        self.shared.status().clone()
    }

    /// Sends what is committed, for at most `grace`, and leaves the rest to another relay, or to the next start. Nothing is lost.
    /// Returns what the relay did in its life. A server to which it reports is told, which may take two seconds more.
    pub async fn stop(self, grace: Duration) -> RelayStatus {
        self.shared.stopping.cancel();
        self.shared.wake.notify_one();
        let (mut task, end) = (self.task, self.shared.end.clone());
        if tokio::time::timeout(grace, &mut task).await.is_err() {
            end.cancel();
            // A task that panicked is gone as well.
            let _ = task.await;
        }
        self.shared.status().clone()
    }
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay").field("status", &self.status()).finish_non_exhaustive()
    }
}
