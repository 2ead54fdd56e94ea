//! The relay's loop. While a batch is on its way to the server, the one before it is marked as sent and the next one is read:
//!
//! ```text
//! server     | send 1          | send 2          | send 3
//! database   | read 2          | mark 1, read 3  | mark 2, read 4
//! ```
//!
//! A batch that is not full is all there was: then the next one is read as late as possible, so that its rows come along.
//! Batches are sent one after the other, so the order stays. What was sent and is not marked when the process dies is sent again, and
//! the server knows it by the ids of its jobs. Rows are marked before the loop rests, starts over from the beginning, or notes a refusal.
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::database::DatabaseError;
use super::deliver::{Delivery, Verdict, deliver};
use super::dialect::{Dialect, PLAIN};
use super::gate::Gate;
use super::pace::Pace;
use super::relay::{RelayOptions, Shared};
use super::row::Row;
use super::store::{Lease, Store};
use crate::backoff::Backoff;
use crate::client::Client;

/// Longest batch in bytes: a body that every server takes.
const BATCH_BYTES: usize = 1024 * 1024;
/// How soon the relay looks again while a transaction in the gate is being waited for: most end within a millisecond or two.
const GATE_PAUSE: Duration = Duration::from_millis(1);
/// And how soon while it takes its time.
const GATE_PAUSE_MAX: Duration = Duration::from_millis(20);
/// How often old rows are deleted.
const PRUNE_EVERY: Duration = Duration::from_secs(60);
/// Wake-ups within this time become one notification to other processes.
const GATHER: Duration = Duration::from_millis(5);

pub(super) struct Rounds {
    client: Client,
    store: Store,
    options: RelayOptions,
    owner: String,
    shared: Arc<Shared>,
    gate: Gate,
    gate_pause: Duration,
    pace: Pace,
    lease: Option<Lease>,
    claimed: Option<Instant>,
    /// Rows up to here were seen to; an empty look goes back to the start.
    after: i64,
    /// Rows that the server has and that are not marked yet.
    sent: Vec<i64>,
    /// The rows above `after`, read while the batch before them was sent.
    ahead: Vec<Row>,
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

impl Rounds {
    pub fn new(client: Client, store: Store, options: RelayOptions, owner: String, shared: Arc<Shared>) -> Self {
        Self {
            client,
            store,
            options,
            owner,
            shared,
            gate: Gate::default(),
            gate_pause: GATE_PAUSE,
            pace: Pace::default(),
            lease: None,
            claimed: None,
            after: 0,
            sent: Vec::new(),
            ahead: Vec::new(),
            outage: Backoff::new(Duration::from_millis(100), Duration::from_secs(5)),
            pruned: None,
        }
    }

    /// Goes on until told to stop, and gives the lease back.
    pub async fn run(mut self) {
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
                Err(error) => self.trouble(&self.advised(&error), None),
            };
            match next {
                Next::Again => {}
                // What is left belongs to another relay, or cannot be sent now.
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
            // A look takes no lock: an outbox that is empty is not written to, however often it is looked at.
            if self.is_unoccupied() && !self.store.is_due().await? {
                return self.rest().await;
            }
            self.claim().await?;
        }
        let Some(lease) = self.lease.clone() else {
            self.tell_others().await;
            return Ok(Next::Idle(third.min(self.options.poll_interval)));
        };
        self.shared.woken.store(false, Ordering::SeqCst);
        let rows = match std::mem::take(&mut self.ahead) {
            rows if rows.is_empty() => self.read(&lease, self.after).await?,
            rows => rows,
        };
        if rows.is_empty() {
            return self.start_over(&lease).await;
        }
        self.gate_pause = GATE_PAUSE;
        let delivery = self.send(&lease, &rows).await?;
        self.settle(&lease, &rows, delivery).await
    }

    /// Nothing is under way.
    fn is_unoccupied(&self) -> bool {
        self.ahead.is_empty() && self.sent.is_empty()
    }

    /// No row above `after` may be sent now.
    async fn start_over(&mut self, lease: &Lease) -> Result<Next, DatabaseError> {
        let started_over = self.after == 0;
        self.mark(lease).await?;
        // Rows whose next attempt is due, and rows inserted with a number of their own, are below.
        self.after = 0;
        if !started_over {
            return Ok(Next::Again);
        }
        if !self.gate.is_waiting() {
            return self.rest().await;
        }
        let pause = self.gate_pause;
        self.gate_pause = (pause * 2).min(GATE_PAUSE_MAX);
        Ok(Next::Idle(pause))
    }

    /// Nothing is due.
    async fn rest(&mut self) -> Result<Next, DatabaseError> {
        self.all_well();
        if self.store.database().dialect() != Dialect::Postgres
            && let Some(lease) = self.lease.clone()
        {
            // Rows of other processes do not wake this relay: the relay that sees them first sends them.
            self.store.release(&lease).await?;
            self.lose();
        }
        self.prune().await?;
        Ok(Next::Idle(self.options.poll_interval))
    }

    async fn claim(&mut self) -> Result<(), DatabaseError> {
        let lease = self.store.claim(&self.owner, self.options.lease).await?;
        let term = |lease: &Option<Lease>| lease.as_ref().map(|lease| lease.term);
        let (before, now) = (term(&self.lease), term(&lease));
        if before.is_some() && before != now {
            tracing::warn!(owner = %self.owner, "another relay has taken over the outbox");
            // What is not marked is sent again: the server knows these jobs by their ids.
            self.lose();
        }
        if now.is_some() && before != now {
            tracing::debug!(owner = %self.owner, term = now, "relaying the outbox");
        }
        self.claimed = Some(Instant::now());
        self.shared.status().leading = lease.is_some();
        self.lease = lease;
        Ok(())
    }

    async fn read(&mut self, lease: &Lease, after: i64) -> Result<Vec<Row>, DatabaseError> {
        let started = Instant::now();
        let mut rows = self.store.read(lease, &mut self.gate, after, self.options.batch_size).await?;
        self.pace.read(started.elapsed());
        trim(&mut rows);
        Ok(rows)
    }

    /// Marks what the server has.
    async fn mark(&mut self, lease: &Lease) -> Result<(), DatabaseError> {
        if self.sent.is_empty() {
            return Ok(());
        }
        if self.store.sent(lease, &self.sent, None).await? {
            self.shared.status().sent += self.sent.len() as u64;
            self.sent.clear();
        } else {
            // Another relay has the lease, and sends these rows again: the server knows them by their ids.
            self.lose();
        }
        Ok(())
    }

    /// Sends a batch, marks the one before it meanwhile, and reads the next.
    async fn send(&mut self, lease: &Lease, rows: &[Row]) -> Result<Delivery, DatabaseError> {
        let (client, store, owner, length) = (self.client.clone(), self.store.clone(), self.owner.clone(), self.options.lease);
        let (started, many, answered) = (Instant::now(), rows.len(), Notify::new());
        let last = rows.last().map_or(self.after, |row| row.id);
        let sending = async {
            let sending = deliver(&client, rows);
            tokio::pin!(sending);
            loop {
                tokio::select! {
                    delivery = &mut sending => {
                        answered.notify_one();
                        return (delivery, started.elapsed());
                    }
                    // The server takes its time: the lease is kept alive. A relay that has lost it notices when the
                    // rows are marked.
                    () = tokio::time::sleep(length / 3) => {
                        if let Err(error) = store.claim(&owner, length).await {
                            tracing::debug!(%error, "the lease of the outbox could not be renewed");
                        }
                    }
                }
            }
        };
        let preparing = async {
            self.mark(lease).await?;
            // A row that comes alone is not followed by one: what would be read in vain is read when there is news.
            if self.lease.is_none() || many < 2 {
                return Ok(Vec::new());
            }
            if many < self.options.batch_size {
                // What is committed meanwhile is sent along. An answer that comes sooner than the ones before is not
                // kept waiting.
                let _ = tokio::time::timeout(self.pace.spare(started.elapsed()), answered.notified()).await;
            }
            self.read(lease, last).await
        };
        let ((delivery, took), ahead) = tokio::join!(sending, preparing);
        self.pace.sent(took);
        match ahead {
            Ok(ahead) => self.ahead = ahead,
            // The server has the rows all the same; they are marked when the database is back.
            Err(error) => {
                self.note(&delivery);
                return Err(error);
            }
        }
        Ok(delivery)
    }

    /// Takes down what the server has, to be marked.
    fn note(&mut self, delivery: &Delivery) {
        let sent = delivery.done.iter().take_while(|(_, verdict)| *verdict == Verdict::Sent);
        self.sent.extend(sent.clone().map(|(id, _)| *id));
        self.after = sent.last().map_or(self.after, |(id, _)| *id);
    }

    async fn settle(&mut self, lease: &Lease, rows: &[Row], delivery: Delivery) -> Result<Next, DatabaseError> {
        if self.lease.is_none() {
            return Ok(Next::Again);
        }
        if delivery.wait.is_none() && delivery.done.iter().all(|(_, verdict)| *verdict == Verdict::Sent) {
            self.note(&delivery);
            self.all_well();
            return Ok(Next::Again);
        }
        // Something is to be noted: all of it, and then the rows above are read anew.
        self.ahead.clear();
        self.sent.extend(delivery.done.iter().filter(|(_, verdict)| *verdict == Verdict::Sent).map(|(id, _)| *id));
        self.mark(lease).await?;
        if self.lease.is_none() {
            return Ok(Next::Again);
        }
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
            self.all_well();
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

    /// Begins anew with the next lease.
    fn lose(&mut self) {
        self.lease = None;
        self.claimed = None;
        self.gate = Gate::default();
        self.after = 0;
        self.sent.clear();
        self.ahead.clear();
        self.shared.status().leading = false;
    }

    /// Server and database do what they are asked.
    fn all_well(&mut self) {
        self.outage.reset();
        self.shared.status().error = None;
    }

    fn trouble(&mut self, error: &str, after: Option<Duration>) -> Next {
        let mut status = self.shared.status();
        status.held_up += 1;
        if status.error.as_deref() != Some(error) {
            tracing::warn!(error, "the outbox is held up: its jobs stay in the table and are sent later");
            status.error = Some(error.to_owned());
        }
        drop(status);
        let pause = self.outage.next().max(after.unwrap_or_default());
        // The lease is kept meanwhile only if the pause is short; otherwise the first relay to take it goes on.
        Next::Outage(pause)
    }

    /// What the database said, and the command that mends it.
    fn advised(&self, error: &DatabaseError) -> String {
        if !error.is_unmigrated() {
            return error.to_string();
        }
        let option = match self.store.table_name() {
            PLAIN => String::new(),
            other => format!(" --table {other}"),
        };
        format!("{error}; 'ojs relay migrate --database URL{option}' makes the table of the outbox, or adds what it lacks")
    }

    /// One notification for all wake-ups within a moment.
    async fn tell_others(&mut self) {
        if self.shared.woken.swap(false, Ordering::SeqCst) {
            tokio::time::sleep(GATHER).await;
            self.store.database().notify().await;
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
