//! The relay: rows that are committed go to the server, in the order in which they were inserted.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ojs_model::JobId;
use serde::Serialize;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::database::DatabaseError;
use super::deliver::{Delivery, Verdict, deliver};
use super::dialect::Dialect;
use super::gate::Gate;
use super::row::Row;
use super::store::{Lease, Store};
use crate::backoff::Backoff;
use crate::client::Client;

/// Longest batch in bytes: a body that every server takes.
const BATCH_BYTES: usize = 1024 * 1024;
/// How soon the relay looks again while a transaction in the gate is being waited for.
const GATE_PAUSE: Duration = Duration::from_millis(5);
/// How often old rows are deleted.
const PRUNE_EVERY: Duration = Duration::from_secs(60);
/// Wake-ups within this time become one notification to other processes.
const GATHER: Duration = Duration::from_millis(5);

/// Settings of a [`Relay`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RelayOptions {
    /// How often it looks when nobody wakes it; 1 s.
    pub poll_interval: Duration,
    /// Most rows in one request; 100.
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
}

impl Default for RelayOptions {
    fn default() -> Self {
        Self {
            poll_interval: Duration::from_secs(1),
            batch_size: 100,
            lease: Duration::from_millis(1500),
            retention: Duration::from_secs(24 * 3600),
            parked_retention: Duration::from_secs(14 * 24 * 3600),
            max_attempts: 5,
            retry_after: Duration::from_secs(1),
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

struct Shared {
    wake: Notify,
    /// Others must be told: this relay does not lead.
    woken: AtomicBool,
    stopping: CancellationToken,
    /// The end of the grace period.
    end: CancellationToken,
    status: Mutex<RelayStatus>,
}

impl Shared {
    fn status(&self) -> MutexGuard<'_, RelayStatus> {
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
        let worker = Worker {
            client,
            store,
            options,
            owner: format!("{}-{}", std::process::id(), JobId::now_v7()),
            shared: Arc::clone(&shared),
            gate: Gate::default(),
            lease: None,
            claimed: None,
            after: 0,
            outage: Backoff::new(Duration::from_millis(100), Duration::from_secs(5)),
            pruned: None,
        };
        Self { shared, task: tokio::spawn(worker.run()) }
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
    pub async fn stop(self, grace: Duration) {
        self.shared.stopping.cancel();
        self.shared.wake.notify_one();
        let (mut task, end) = (self.task, self.shared.end.clone());
        if tokio::time::timeout(grace, &mut task).await.is_err() {
            end.cancel();
            // A task that panicked is gone as well.
            let _ = task.await;
        }
    }
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay").field("status", &self.status()).finish_non_exhaustive()
    }
}

struct Worker {
    client: Client,
    store: Store,
    options: RelayOptions,
    owner: String,
    shared: Arc<Shared>,
    gate: Gate,
    lease: Option<Lease>,
    claimed: Option<Instant>,
    /// Rows up to here were seen to; an empty look goes back to the start.
    after: i64,
    outage: Backoff,
    pruned: Option<Instant>,
}

/// What the loop does next.
enum Next {
    /// There may be more.
    Again,
    /// Wait for news, or this long.
    Idle(Duration),
    /// The server or the database is away: news does not help.
    Outage(Duration),
}

impl Worker {
    async fn run(mut self) {
        let end = self.shared.end.clone();
        end.run_until_cancelled(self.work()).await;
        if let Some(lease) = self.lease.take() {
            // If it fails, the lease runs out.
            let _ = tokio::time::timeout(Duration::from_secs(2), self.store.release(&lease)).await;
        }
        self.shared.status().leading = false;
    }

    async fn work(&mut self) {
        loop {
            let stopping = self.shared.stopping.is_cancelled();
            let next = match self.turn().await {
                Ok(next) => next,
                Err(error) => self.trouble(&error.to_string(), None),
            };
            match next {
                Next::Again => {}
                // What is left is somebody else's, or cannot be sent now.
                Next::Idle(_) | Next::Outage(_) if stopping => return,
                Next::Idle(pause) => {
                    tokio::select! {
                        () = self.shared.wake.notified() => {}
                        () = self.store.database().news(pause) => {}
                    }
                }
                Next::Outage(pause) => {
                    let stopping = self.shared.stopping.clone();
                    stopping.run_until_cancelled(tokio::time::sleep(pause)).await;
                }
            }
        }
    }

    async fn turn(&mut self) -> Result<Next, DatabaseError> {
        let third = self.options.lease / 3;
        if self.claimed.is_none_or(|at| at.elapsed() >= third) {
            // A look takes no lock: an outbox that is empty is not written to, whoever asks how often.
            if !self.store.is_due().await? {
                return self.rest().await;
            }
            self.claim().await?;
        }
        let Some(lease) = self.lease.clone() else {
            self.tell_others().await;
            return Ok(Next::Idle(third.min(self.options.poll_interval)));
        };
        self.shared.woken.store(false, Ordering::SeqCst);
        let mut rows = self.store.read(&lease, &mut self.gate, self.after, self.options.batch_size).await?;
        if rows.is_empty() {
            let started_over = self.after == 0;
            // Rows whose next attempt is due, and rows inserted with a number of their own, are below.
            self.after = 0;
            return match (started_over, self.gate.is_waiting()) {
                (false, _) => Ok(Next::Again),
                (true, true) => Ok(Next::Idle(GATE_PAUSE)),
                (true, false) => self.rest().await,
            };
        }
        trim(&mut rows);
        let delivery = self.send(&rows).await?;
        self.settle(&lease, &rows, delivery).await
    }

    /// Nothing is due.
    async fn rest(&mut self) -> Result<Next, DatabaseError> {
        self.outage.reset();
        self.shared.status().error = None;
        if self.store.database().dialect() == Dialect::Sqlite
            && let Some(lease) = self.lease.clone()
        {
            // Nobody could tell this relay of rows that another process has written: whoever sees them first sends them.
            self.store.release(&lease).await?;
            self.lose();
        }
        self.prune().await?;
        Ok(Next::Idle(self.options.poll_interval))
    }

    async fn claim(&mut self) -> Result<(), DatabaseError> {
        let lease = self.store.claim(&self.owner, self.options.lease).await?;
        self.claimed = Some(Instant::now());
        let before = self.lease.as_ref().map(|lease| lease.term);
        if let Some(lease) = lease.as_ref().filter(|lease| before != Some(lease.term)) {
            tracing::debug!(owner = %self.owner, term = lease.term, "relaying the outbox");
            self.after = 0;
            self.gate = Gate::default();
        } else if lease.is_none() && before.is_some() {
            tracing::warn!(owner = %self.owner, "another relay has taken over the outbox");
        }
        self.shared.status().leading = lease.is_some();
        self.lease = lease;
        Ok(())
    }

    /// Sends, and keeps the lease alive while the server takes its time.
    async fn send(&mut self, rows: &[Row]) -> Result<Delivery, DatabaseError> {
        let (client, store, owner, length) = (self.client.clone(), self.store.clone(), self.owner.clone(), self.options.lease);
        let sending = deliver(&client, rows);
        tokio::pin!(sending);
        loop {
            tokio::select! {
                delivery = &mut sending => return Ok(delivery),
                () = tokio::time::sleep(length / 3) => {
                    store.claim(&owner, length).await?;
                    self.claimed = Some(Instant::now());
                }
            }
        }
    }

    async fn settle(&mut self, lease: &Lease, rows: &[Row], delivery: Delivery) -> Result<Next, DatabaseError> {
        let sent: Vec<i64> = delivery.done.iter().filter(|(_, verdict)| *verdict == Verdict::Sent).map(|(id, _)| *id).collect();
        if !sent.is_empty() && !self.store.sent(lease, &sent, None).await? {
            // Somebody else has the lease, and sends these rows again: the server knows them by their ids.
            self.lose();
            return Ok(Next::Again);
        }
        self.shared.status().sent += sent.len() as u64;
        for (id, verdict) in &delivery.done {
            match verdict {
                Verdict::Sent => {}
                Verdict::Deduplicated(existing) => {
                    self.store.sent(lease, &[*id], Some(&format!("duplicate of job {existing}"))).await?;
                    self.shared.status().deduplicated += 1;
                }
                Verdict::Refused(error) => self.refuse(lease, rows, *id, error).await?,
            }
        }
        self.after = delivery.done.last().map_or(self.after, |(id, _)| *id);
        let Some((error, after)) = delivery.wait else {
            self.outage.reset();
            self.shared.status().error = None;
            return Ok(Next::Again);
        };
        let done = delivery.done.len();
        let left: Vec<i64> = rows.iter().skip(done).map(|row| row.id).collect();
        self.store.waiting(lease, &left, &error).await?;
        Ok(self.trouble(&error, after))
    }

    async fn refuse(&mut self, lease: &Lease, rows: &[Row], id: i64, error: &str) -> Result<(), DatabaseError> {
        let attempts = rows.iter().find(|row| row.id == id).map_or(0, |row| row.attempts);
        let attempts = u32::try_from(attempts).unwrap_or(u32::MAX).saturating_add(1);
        let park = attempts >= self.options.max_attempts;
        let pause = self.options.retry_after.saturating_mul(1 << (attempts - 1).min(16)).min(Duration::from_secs(300));
        self.store.refused(lease, id, error, pause, park).await?;
        let mut status = self.shared.status();
        status.refused += 1;
        status.parked += u64::from(park);
        drop(status);
        if park {
            tracing::error!(row = id, attempts, error, "the server refuses a job of the outbox; it is parked");
        } else {
            tracing::warn!(row = id, attempts, error, "the server refuses a job of the outbox");
        }
        Ok(())
    }

    fn lose(&mut self) {
        self.lease = None;
        self.claimed = None;
        self.after = 0;
        self.shared.status().leading = false;
    }

    fn trouble(&mut self, error: &str, after: Option<Duration>) -> Next {
        let mut status = self.shared.status();
        status.held_up += 1;
        if status.error.as_deref() != Some(error) {
            tracing::warn!(error, "the outbox waits");
            status.error = Some(error.to_owned());
        }
        drop(status);
        let pause = self.outage.next().max(after.unwrap_or_default());
        // The lease is kept meanwhile only if the pause is short; otherwise whoever comes first goes on.
        Next::Outage(pause)
    }

    /// One notification for all wake-ups within a moment.
    async fn tell_others(&mut self) {
        if self.shared.woken.swap(false, Ordering::SeqCst) {
            tokio::time::sleep(GATHER).await;
            self.store.database().tell().await;
        }
    }

    async fn prune(&mut self) -> Result<(), DatabaseError> {
        if self.pruned.is_some_and(|at| at.elapsed() < PRUNE_EVERY) {
            return Ok(());
        }
        let gone = self.store.prune(self.options.retention, self.options.parked_retention).await?;
        // There may be more: the next idle turn goes on.
        self.pruned = (gone == 0).then(Instant::now);
        Ok(())
    }
}

/// Leaves as many rows as make a body of reasonable size, at least one.
fn trim(rows: &mut Vec<Row>) {
    let mut bytes = 0;
    let mut keep = 0;
    for row in rows.iter() {
        bytes += row.request.as_ref().map_or(0, String::len);
        if keep > 0 && bytes > BATCH_BYTES {
            break;
        }
        keep += 1;
    }
    rows.truncate(keep);
}
