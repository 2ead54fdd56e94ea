//! Wake-ups between nodes: one `NOTIFY` for all queues that got jobs within a few milliseconds, never inside a transaction that writes.
//!
//! Notifications only reduce latency. Without them (connection lost, pooler in between) waiting fetches poll.
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_postgres::{Client, Notification};

use super::target::Target;
use crate::error::{Result, StoreError};
use crate::kernel::wake::{ReadyQueue, Wakeups};

/// What an application says after it has inserted jobs by plain SQL: `NOTIFY ojs_ready, '+'`.
const INSERTED: &str = "+";
/// What a node says that cannot say which queues got jobs.
const EVERYTHING: &str = "*";
/// Queues that got jobs within this time go into one notification: at most 200 of them a second, however many jobs.
const GATHER: Duration = Duration::from_millis(5);
/// How often the connection is tried: a load balancer that forgets it says nothing.
const PROBE_EVERY: Duration = Duration::from_secs(10);
/// Longest wait for the answer.
const PROBE_PATIENCE: Duration = Duration::from_secs(5);
/// Pause after the first attempt to connect that failed; it doubles with each.
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);
/// Longest pause.
const MAX_RECONNECT_PAUSE: Duration = Duration::from_secs(4);
/// PostgreSQL refuses payloads of 8,000 bytes.
const MAX_PAYLOAD: usize = 7_500;

/// Whether notifications arrive at present.
#[derive(Debug, Default)]
pub struct Listening(AtomicBool);

impl Listening {
    /// True when a change elsewhere will be heard of.
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Starts the thread. It ends when the wake-ups are dropped with the engine, or `stop` is.
pub fn start(target: Arc<Target>, wakeups: Arc<Wakeups>, stop: tokio_util::sync::CancellationToken) -> Result<Arc<Listening>> {
    let listening = Arc::new(Listening::default());
    let (sender, outgoing) = unbounded_channel();
    wakeups.notify_others(sender);
    let state = Arc::clone(&listening);
    let failed = |error: std::io::Error| StoreError::Failed(format!("cannot start a thread: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let work = move || runtime.block_on(stop.run_until_cancelled_owned(run(target, wakeups, outgoing, state)));
    crate::threads::spawn("ojs-listener", work).map_err(failed)?;
    Ok(listening)
}

async fn run(target: Arc<Target>, wakeups: Arc<Wakeups>, mut outgoing: UnboundedReceiver<ReadyQueue>, listening: Arc<Listening>) {
    let mut pause = RECONNECT_PAUSE;
    // Other nodes may have missed what happened here while there was no connection.
    let mut owed = false;
    loop {
        let (notes, mut incoming) = unbounded_channel();
        match connect(&target, notes).await {
            Ok(Some((client, pid))) => {
                pause = RECONNECT_PAUSE;
                listening.0.store(true, Ordering::SeqCst);
                // What happened while there was no connection.
                wakeups.all();
                let told = if owed { notify(&client, EVERYTHING).await } else { Ok(()) };
                let fault = match told {
                    Ok(()) => serve(&client, pid, &wakeups, &mut incoming, &mut outgoing).await,
                    Err(fault) => fault,
                };
                listening.0.store(false, Ordering::SeqCst);
                tracing::warn!(%fault, "notifications are lost; waiting fetches poll until the connection is back");
            }
            Ok(None) => {
                tracing::warn!(
                    store = %target.name,
                    "a pooler in transaction mode cannot deliver wake-ups between nodes: jobs of other nodes are found by polling. Give a direct connection with direct=postgres://… to avoid that"
                );
                // Nothing to send to either: the channel is emptied so that it does not grow.
                while outgoing.recv().await.is_some() {}
                return;
            }
            // A wrong URL shows here. That a connection is gone has been said.
            Err(fault) if !owed => {
                tracing::warn!(%fault, "no connection for notifications; waiting fetches poll until there is one")
            }
            Err(fault) => tracing::debug!(%fault, "no connection for notifications"),
        }
        owed = true;
        while outgoing.try_recv().is_ok() {}
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_RECONNECT_PAUSE);
    }
}

async fn connect(target: &Target, notes: UnboundedSender<Notification>) -> Result<Option<(Client, i32)>> {
    let (client, direct) = target.connect_for_notes(notes).await?;
    if !direct {
        return Ok(None);
    }
    client.batch_execute("LISTEN ojs_ready").await?;
    let row = client.query_one("SELECT pg_backend_pid()", &[]).await?;
    Ok(Some((client, row.try_get(0)?)))
}

/// Passes wake-ups both ways until something fails; returns what.
async fn serve(
    client: &Client,
    pid: i32,
    wakeups: &Wakeups,
    incoming: &mut UnboundedReceiver<Notification>,
    outgoing: &mut UnboundedReceiver<ReadyQueue>,
) -> StoreError {
    let lost = || StoreError::Unavailable("the connection for notifications ended".into());
    let mut probe = tokio::time::interval(PROBE_EVERY);
    loop {
        tokio::select! {
            note = incoming.recv() => match note {
                Some(note) if note.process_id() == pid => {}
                Some(note) => {
                    wake(wakeups, note.payload());
                    wakeups.committed();
                }
                None => return lost(),
            },
            first = outgoing.recv() => {
                let Some(first) = first else { return StoreError::Closed };
                tokio::time::sleep(GATHER).await;
                if let Err(fault) = notify_gathered(client, first, outgoing).await {
                    return fault;
                }
            },
            _ = probe.tick() => match tokio::time::timeout(PROBE_PATIENCE, client.batch_execute("")).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return error.into(),
                Err(_) => return lost(),
            },
        }
    }
}

async fn notify_gathered(client: &Client, first: ReadyQueue, outgoing: &mut UnboundedReceiver<ReadyQueue>) -> Result<()> {
    let mut jobs: HashMap<Arc<str>, usize> = HashMap::new();
    let mut next = Some(first);
    while let Some((queue, count)) = next {
        let sum = jobs.entry(queue).or_default();
        *sum = sum.saturating_add(count);
        next = outgoing.try_recv().ok();
    }
    let mut payload = String::new();
    for (queue, count) in jobs {
        payload.push_str(&format!("{queue}={count},"));
    }
    // So many queues: everybody looks.
    notify(client, if payload.len() > MAX_PAYLOAD { EVERYTHING } else { &payload }).await
}

async fn notify(client: &Client, payload: &str) -> Result<()> {
    let sent = async { client.execute("SELECT pg_notify('ojs_ready', $1)", &[&payload]).await };
    match tokio::time::timeout(PROBE_PATIENCE, sent).await {
        Ok(sent) => Ok(sent.map(drop)?),
        Err(_) => Err(StoreError::Unavailable("PostgreSQL does not take notifications".into())),
    }
}

fn wake(wakeups: &Wakeups, payload: &str) {
    match payload {
        EVERYTHING => return wakeups.all(),
        INSERTED => return wakeups.rows_inserted(),
        _ => {}
    }
    for part in payload.split(',') {
        if let Some((queue, count)) = part.split_once('=') {
            wakeups.heard(queue, count.parse().unwrap_or(1));
        }
    }
}
