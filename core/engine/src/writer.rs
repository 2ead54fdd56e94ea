//! One writer that commits in groups (decision record 3).
//!
//! Requests put commands into a channel; the writer thread takes what has gathered there, applies it in one transaction, commits, then
//! answers all of them. While it waits for the disk the next group gathers: no timer, and throughput grows with load.
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use crate::apply::{Counters, Sweeper, Turn, answer};
use crate::clock::Clock;
use crate::command::{Command, Query, Reply};
use crate::metrics::Metrics;
use crate::store::{Refusal, Store};
use crate::tables::{StoreError, Tables};
use crate::wake::Wakeups;

/// Rows after which a group is closed: bounds the time a commit takes, and with it everybody's latency.
const MAX_GROUP_WEIGHT: usize = 2_000;
/// Commands after which a group is closed.
const MAX_GROUP: usize = 256;
/// How often time-driven work is looked for: bounds how late a retry or schedule fires (protocol section 2.3 asks for 200 ms).
const TICK: Duration = Duration::from_millis(100);
/// How often figures are written: what a crash loses of them.
const FLUSH: Duration = Duration::from_secs(5);
/// How often changes of other processes are looked for while a fetch waits.
const PEEK: Duration = Duration::from_millis(20);

type Answer = oneshot::Sender<Result<Reply, Refusal>>;

enum Message {
    Execute(Command, Answer),
    Query(Query, Answer),
    Sweep(Answer),
    Close(oneshot::Sender<()>),
}

/// What the writer thread is made of.
pub struct WriterParts {
    /// The store's tables.
    pub tables: Box<dyn Tables>,
    /// A second connection for queries; `None` sends queries through the writer.
    pub reader: Option<Box<dyn Tables>>,
    /// Source of time.
    pub clock: Arc<dyn Clock>,
    /// Time-driven work.
    pub sweeper: Sweeper,
    /// Told of new jobs.
    pub wakeups: Arc<Wakeups>,
    /// For manifest and health.
    pub name: &'static str,
    /// Told of what was committed.
    pub metrics: Arc<Metrics>,
}

/// A store made of tables and a writer thread.
pub struct Ledger {
    writer: Sender<Message>,
    reader: Sender<Message>,
    name: &'static str,
}

impl Ledger {
    /// Starts the threads.
    ///
    /// # Errors
    /// When the store cannot reserve lease tokens, or the operating system refuses a thread.
    pub fn start(mut parts: WriterParts) -> Result<Self, StoreError> {
        let refused = |error: std::io::Error| StoreError::Failed(format!("cannot start a thread: {error}"));
        let mut counters = Counters::default();
        // Durably, before the first claim: tokens stay unique even when a power cut swallows unsynced claims.
        parts.tables.begin(true)?;
        counters.reserve(parts.tables.as_mut())?;
        parts.tables.commit()?;
        let (writer, inbox) = channel();
        let reader = match parts.reader {
            Some(tables) => {
                let (reader, inbox) = channel();
                std::thread::Builder::new()
                    .name("ojs-reader".into())
                    .spawn(move || read_loop(tables, &inbox))
                    .map_err(refused)?;
                reader
            }
            None => writer.clone(),
        };
        let mut thread = WriterThread {
            tables: parts.tables,
            clock: parts.clock,
            sweeper: parts.sweeper,
            counters,
            wakeups: parts.wakeups,
            next_tick: Instant::now(),
            next_flush: Instant::now() + FLUSH,
            metrics: parts.metrics,
        };
        std::thread::Builder::new().name("ojs-writer".into()).spawn(move || thread.run(&inbox)).map_err(refused)?;
        Ok(Self { writer, reader, name: parts.name })
    }

    fn send<'a>(&self, to: &Sender<Message>, message: impl FnOnce(Answer) -> Message) -> BoxFuture<'a, Result<Reply, Refusal>> {
        let (answer, reply) = oneshot::channel();
        let sent = to.send(message(answer)).is_ok();
        Box::pin(async move {
            if !sent {
                return Err(StoreError::Closed.into());
            }
            reply.await.unwrap_or(Err(StoreError::Closed.into()))
        })
    }
}

impl Store for Ledger {
    fn execute(&self, command: Command) -> BoxFuture<'_, Result<Reply, Refusal>> {
        self.send(&self.writer, |answer| Message::Execute(command, answer))
    }

    fn query(&self, query: Query) -> BoxFuture<'_, Result<Reply, Refusal>> {
        self.send(&self.reader, |answer| Message::Query(query, answer))
    }

    fn sweep(&self) -> BoxFuture<'_, Result<Reply, Refusal>> {
        self.send(&self.writer, Message::Sweep)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        let (mut gone, mut waits) = (Vec::new(), Vec::new());
        for thread in [&self.reader, &self.writer] {
            let (done, closed) = oneshot::channel();
            gone.push(thread.send(Message::Close(done)));
            waits.push(closed);
        }
        Box::pin(async move {
            for closed in waits {
                // An error means that the thread has ended already.
                let _ = closed.await;
            }
        })
    }

    fn name(&self) -> &'static str {
        self.name
    }
}

struct WriterThread {
    tables: Box<dyn Tables>,
    clock: Arc<dyn Clock>,
    sweeper: Sweeper,
    counters: Counters,
    wakeups: Arc<Wakeups>,
    next_tick: Instant,
    next_flush: Instant,
    metrics: Arc<Metrics>,
}

impl WriterThread {
    fn run(&mut self, inbox: &Receiver<Message>) {
        let mut group: Vec<(Command, Answer)> = Vec::new();
        loop {
            let first = match inbox.recv_timeout(self.patience()) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let closing = first.and_then(|first| self.gather(first, inbox, &mut group));
            if !group.is_empty() {
                self.commit_group(&mut group);
            }
            if let Some(done) = closing {
                self.flush();
                tracing::debug!("store closed");
                // Dropping the tables closes the files; the answer comes after it.
                self.tables = Box::new(crate::memory::MemoryTables::default());
                let _ = done.send(());
                return;
            }
            self.tick();
        }
    }

    /// How long to wait for a command.
    fn patience(&self) -> Duration {
        let tick = self.next_tick.saturating_duration_since(Instant::now());
        if self.wakeups.has_waiters() { tick.min(PEEK) } else { tick }
    }

    /// Takes what has gathered, within the limits of a group. Queries on the way are answered after the group.
    fn gather(
        &mut self,
        first: Message,
        inbox: &Receiver<Message>,
        group: &mut Vec<(Command, Answer)>,
    ) -> Option<oneshot::Sender<()>> {
        let mut weight = 0;
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                Message::Execute(command, reply) => {
                    weight += command.weight();
                    group.push((command, reply));
                    if group.len() >= MAX_GROUP || weight >= MAX_GROUP_WEIGHT {
                        return None;
                    }
                }
                Message::Query(query, reply) => {
                    // Memory store: a query sees every command sent before it.
                    self.commit_group(group);
                    let _ = reply.send(answer(self.tables.as_mut(), &query));
                }
                Message::Sweep(reply) => {
                    self.commit_group(group);
                    let swept = self.sweep_all().map(|()| Reply::Done).map_err(Refusal::from);
                    self.flush();
                    let _ = reply.send(swept);
                }
                Message::Close(done) => return Some(done),
            }
            next = inbox.try_recv().ok();
        }
        None
    }

    fn commit_group(&mut self, group: &mut Vec<(Command, Answer)>) {
        if group.is_empty() {
            return;
        }
        let durable = group.iter().any(|(command, _)| command.is_durable());
        let started = Instant::now();
        let applied = self.transaction(durable, |turn| {
            let mut replies = Vec::with_capacity(group.len());
            for (command, _) in group.iter() {
                replies.push(match turn.apply(command) {
                    Err(Refusal::Store(fault)) => return Err(fault),
                    reply => reply,
                });
            }
            Ok(replies)
        });
        match applied {
            Ok(replies) => {
                self.metrics.committed(group.len(), started.elapsed());
                if group.iter().any(|(command, _)| matches!(command, Command::Reset)) {
                    self.metrics.forget_minutes();
                }
                for ((_, answer), reply) in group.drain(..).zip(replies) {
                    // A receiver that is gone hung up; its command is done all the same.
                    let _ = answer.send(reply);
                }
            }
            Err(fault) if group.len() == 1 => {
                tracing::error!(error = %fault, "a command failed in the store");
                for (_, answer) in group.drain(..) {
                    let _ = answer.send(Err(fault.clone().into()));
                }
            }
            Err(fault) => {
                // One command must not take the others with it: each gets a transaction of its own.
                tracing::warn!(error = %fault, commands = group.len(), "a group failed; trying its commands one by one");
                for alone in std::mem::take(group) {
                    self.commit_group(&mut vec![alone]);
                }
            }
        }
    }

    fn transaction<T>(
        &mut self,
        durable: bool,
        work: impl FnOnce(&mut Turn<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.tables.begin(durable)?;
        let now = self.clock.now();
        let mut turn = Turn::new(self.tables.as_mut(), &mut self.counters, now);
        let outcome = work(&mut turn).and_then(|value| Ok((value, turn.take_done(), turn.finish()?)));
        match outcome {
            Ok((value, done, ready)) => {
                if let Err(fault) = self.tables.commit() {
                    self.tables.rollback();
                    self.metrics.store_failed();
                    return Err(fault);
                }
                self.metrics.happened(now, std::mem::take(&mut self.counters.facts));
                for (queue, jobs) in ready {
                    self.wakeups.ready(&queue, jobs);
                }
                self.wakeups.endings.tell(&done);
                self.wakeups.committed();
                Ok(value)
            }
            Err(fault) => {
                self.tables.rollback();
                self.metrics.store_failed();
                Err(fault)
            }
        }
    }

    /// Writes the figures of the last moments.
    fn flush(&mut self) {
        self.next_flush = Instant::now() + FLUSH;
        let rows = self.metrics.take_minutes(self.clock.now());
        if rows.is_empty() {
            return;
        }
        if let Err(fault) = self.transaction(false, |turn| turn.tables.put_stats(&rows)) {
            tracing::warn!(error = %fault, "figures were not written; they are tried again");
            self.metrics.put_minutes_back(&rows);
        }
    }

    /// Time-driven work, and changes made by other processes.
    fn tick(&mut self) {
        let watched = self.wakeups.has_waiters() || self.wakeups.is_followed();
        if watched && self.tables.changed_elsewhere().unwrap_or(false) {
            self.wakeups.all();
            self.wakeups.committed();
        }
        if Instant::now() < self.next_tick {
            return;
        }
        self.metrics.swept(self.next_tick.elapsed());
        self.next_tick = Instant::now() + TICK;
        if let Err(fault) = self.sweep_slice() {
            tracing::error!(error = %fault, "maintenance failed; it is tried again");
        }
        if Instant::now() >= self.next_flush {
            self.flush();
        }
    }

    /// Sweeps until nothing is due.
    fn sweep_all(&mut self) -> Result<(), StoreError> {
        while self.sweep_slice()? {}
        Ok(())
    }

    /// One slice of maintenance, when anything is due; says whether there was.
    fn sweep_slice(&mut self) -> Result<bool, StoreError> {
        let now = self.clock.now();
        if !self.sweeper.is_due(self.tables.as_mut(), now)? {
            return Ok(false);
        }
        let mut sweeper = self.sweeper.clone();
        self.transaction(false, |turn| match sweeper.sweep(turn) {
            Err(Refusal::Store(fault)) => Err(fault),
            Err(Refusal::Ojs(_)) | Ok(()) => Ok(()),
        })?;
        // Only a committed sweep moves on.
        self.sweeper = sweeper;
        Ok(true)
    }
}

fn read_loop(mut tables: Box<dyn Tables>, inbox: &Receiver<Message>) {
    while let Ok(message) = inbox.recv() {
        match message {
            Message::Query(query, reply) => {
                // One snapshot for all the reads of a query.
                let answered = tables.begin(false).map_err(Refusal::from).and_then(|()| {
                    let answered = answer(tables.as_mut(), &query);
                    tables.commit()?;
                    answered
                });
                let _ = reply.send(answered);
            }
            Message::Execute(_, reply) | Message::Sweep(reply) => {
                let _ = reply.send(Err(StoreError::Closed.into()));
            }
            Message::Close(done) => {
                drop(tables);
                let _ = done.send(());
                return;
            }
        }
    }
}
