//! Writers that commit in groups (decision record 3): one for SQLite and memory, several for PostgreSQL.
//!
//! Requests put commands into a channel; the writer thread takes what has gathered there, applies it in one transaction, commits, then
//! answers all of them. While it waits for the disk the next group gathers: no timer, and throughput grows with load.
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use crate::apply::{Counters, Sweeper, Turn, answer};
use crate::clock::Clock;
use crate::command::{Command, Query, Reply};
use crate::job_log;
use crate::metrics::Metrics;
use crate::store::{Refusal, Store};
use crate::tables::{StoreError, Tables};
use crate::wake::Wakeups;
use ojs_model::Timestamp;

/// Rows after which a group is closed: bounds the time a commit takes, and with it everybody's latency.
const MAX_GROUP_WEIGHT: usize = 2_000;
/// Commands after which a group is closed.
const MAX_GROUP: usize = 256;
/// How often time-driven work is looked for: bounds how late a retry or schedule fires (protocol section 2.3 asks for 200 ms).
const TICK: Duration = Duration::from_millis(100);
/// How often figures are written: what a crash loses of them.
const FLUSH: Duration = Duration::from_secs(5);
/// How often those who wait for the end of a job look for themselves: another process may have ended it.
const LOOK: Duration = Duration::from_millis(500);
/// How often changes of other processes are looked for while a fetch waits.
const PEEK: Duration = Duration::from_millis(20);

/// How long a thread without time-driven work waits before it looks around.
const IDLE: Duration = Duration::from_secs(3600);
/// How often a group is applied again when other writers were faster.
const MAX_TRIES: usize = 8;

type Answer = oneshot::Sender<Result<Reply, Refusal>>;

enum Message {
    Execute(Command, Answer),
    Query(Query, Answer),
    Sweep(Answer),
    Close(oneshot::Sender<()>),
}

/// The connections of a store, each for a thread of its own.
pub struct Connections {
    /// They take commands, whoever is free.
    pub writers: Vec<Box<dyn Tables>>,
    /// Does what time makes due; `None` leaves that to the only writer.
    pub keeper: Option<Box<dyn Tables>>,
    /// They answer queries; none sends queries through the writer.
    pub readers: Vec<Box<dyn Tables>>,
    /// For manifest and health.
    pub name: &'static str,
}

/// What a ledger is made of.
pub struct WriterParts {
    /// The store's connections.
    pub connections: Connections,
    /// Source of time.
    pub clock: Arc<dyn Clock>,
    /// Time-driven work.
    pub sweeper: Sweeper,
    /// Told of new jobs.
    pub wakeups: Arc<Wakeups>,
    /// Told of what was committed.
    pub metrics: Arc<Metrics>,
}

/// A store made of tables and the threads that own them.
pub struct Ledger {
    writers: Crew,
    keeper: Option<Crew>,
    readers: Option<Crew>,
    name: &'static str,
}

/// Threads that take messages from one channel.
struct Crew {
    sender: Sender<Message>,
    size: usize,
}

type Inbox = Arc<Mutex<Receiver<Message>>>;
/// What a thread does with its inbox.
type Job = Box<dyn FnOnce(&Inbox) + Send>;

impl Crew {
    /// Starts a thread per job.
    fn hire(name: &str, jobs: Vec<Job>) -> Result<Self, StoreError> {
        let (sender, receiver) = channel();
        let inbox: Inbox = Arc::new(Mutex::new(receiver));
        let size = jobs.len();
        for job in jobs {
            let inbox = Arc::clone(&inbox);
            let thread = std::thread::Builder::new().name(name.to_owned());
            let started = thread.spawn(move || job(&inbox));
            started.map_err(|error| StoreError::Failed(format!("cannot start a thread: {error}")))?;
        }
        Ok(Self { sender, size })
    }
}

impl Ledger {
    /// Starts the threads.
    ///
    /// # Errors
    /// When the store cannot reserve lease tokens, or the operating system refuses a thread.
    pub fn start(mut parts: WriterParts) -> Result<Self, StoreError> {
        let counters = Counters::default();
        let has_keeper = parts.connections.keeper.is_some();
        let member = |mut tables: Box<dyn Tables>, sweeps: bool| -> Result<Job, StoreError> {
            let mut counters = counters.clone();
            // Durably, before the first claim: tokens stay unique even when a power cut swallows unsynced claims.
            tables.begin(true)?;
            counters.reserve(tables.as_mut())?;
            tables.commit()?;
            let mut thread = WriterThread {
                tables,
                clock: Arc::clone(&parts.clock),
                sweeper: sweeps.then(|| parts.sweeper.clone()),
                counters,
                wakeups: Arc::clone(&parts.wakeups),
                next_tick: Instant::now(),
                next_look: Instant::now(),
                next_flush: Instant::now() + FLUSH,
                metrics: Arc::clone(&parts.metrics),
            };
            Ok(Box::new(move |inbox| thread.run(inbox)))
        };
        let mut writers = Vec::new();
        for tables in std::mem::take(&mut parts.connections.writers) {
            writers.push(member(tables, !has_keeper)?);
        }
        let keeper = match parts.connections.keeper.take() {
            Some(tables) => Some(Crew::hire("ojs-keeper", vec![member(tables, true)?])?),
            None => None,
        };
        let mut readers: Vec<Job> = Vec::new();
        for tables in std::mem::take(&mut parts.connections.readers) {
            readers.push(Box::new(move |inbox| read_loop(tables, inbox)));
        }
        let readers = if readers.is_empty() { None } else { Some(Crew::hire("ojs-reader", readers)?) };
        Ok(Self { writers: Crew::hire("ojs-writer", writers)?, keeper, readers, name: parts.connections.name })
    }

    fn send<'a>(&self, to: &Crew, message: impl FnOnce(Answer) -> Message) -> BoxFuture<'a, Result<Reply, Refusal>> {
        let (answer, reply) = oneshot::channel();
        let sent = to.sender.send(message(answer)).is_ok();
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
        self.send(&self.writers, |answer| Message::Execute(command, answer))
    }

    fn query(&self, query: Query) -> BoxFuture<'_, Result<Reply, Refusal>> {
        self.send(self.readers.as_ref().unwrap_or(&self.writers), |answer| Message::Query(query, answer))
    }

    fn sweep(&self) -> BoxFuture<'_, Result<Reply, Refusal>> {
        self.send(self.keeper.as_ref().unwrap_or(&self.writers), Message::Sweep)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // The readers first: SQLite folds its log into the file when the last connection closes, if that one may write.
            for crew in [self.readers.as_ref(), self.keeper.as_ref(), Some(&self.writers)].into_iter().flatten() {
                let mut waits = Vec::new();
                for _ in 0..crew.size {
                    let (done, closed) = oneshot::channel();
                    // Each takes one, and takes nothing after it.
                    if crew.sender.send(Message::Close(done)).is_ok() {
                        waits.push(closed);
                    }
                }
                for closed in waits {
                    // An error means that the thread has ended already.
                    let _ = closed.await;
                }
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
    /// Time-driven work, when it is this thread's.
    sweeper: Option<Sweeper>,
    counters: Counters,
    wakeups: Arc<Wakeups>,
    next_tick: Instant,
    next_look: Instant,
    next_flush: Instant,
    metrics: Arc<Metrics>,
}

impl WriterThread {
    fn run(&mut self, inbox: &Inbox) {
        let mut group: Vec<(Command, Answer)> = Vec::new();
        loop {
            let patience = self.patience();
            // Whoever holds the inbox takes all there is; the others wait for it here.
            let held = inbox.lock().unwrap_or_else(PoisonError::into_inner);
            let first = match held.recv_timeout(patience) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let interrupt = first.and_then(|first| gather(first, &held, &mut group));
            drop(held);
            self.commit_group(&mut group);
            match interrupt {
                Some(Interrupt::Query(query, reply)) => {
                    // Memory store: a query sees every command sent before it.
                    let _ = reply.send(answer(self.tables.as_mut(), &query));
                }
                Some(Interrupt::Sweep(reply)) => {
                    let swept = self.sweep_all().map(|()| Reply::Done).map_err(Refusal::from);
                    self.flush();
                    let _ = reply.send(swept);
                }
                Some(Interrupt::Close(done)) => {
                    if self.sweeper.is_some() {
                        self.flush();
                        self.resign();
                    }
                    tracing::debug!("store closed");
                    // Dropping the tables closes the files; the answer comes after it.
                    self.tables = Box::new(crate::memory::MemoryTables::default());
                    let _ = done.send(());
                    return;
                }
                None => {}
            }
            self.tick();
        }
    }

    /// Hands maintenance over: without it the others wait until this process's term has run out.
    fn resign(&mut self) {
        if let Err(fault) = self.transaction(false, &[], |turn| turn.tables.resign()) {
            tracing::debug!(error = %fault, "maintenance goes on elsewhere when the term has run out");
        }
    }

    /// How long to wait for a command.
    fn patience(&self) -> Duration {
        if self.sweeper.is_none() {
            return IDLE;
        }
        let tick = self.next_tick.saturating_duration_since(Instant::now());
        if self.wakeups.has_waiters() { tick.min(PEEK) } else { tick }
    }

    fn commit_group(&mut self, group: &mut Vec<(Command, Answer)>) {
        if group.is_empty() {
            return;
        }
        let started = Instant::now();
        let applied = self.apply_group(group);
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
            Err(fault) if group.len() == 1 || self.is_hopeless(&fault) => {
                if !matches!(fault, StoreError::Unstorable(_)) {
                    tracing::error!(error = %fault, commands = group.len(), "the store failed");
                }
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

    /// Whether a group's commands would fare no better one by one: the database is away, or may have done them already.
    fn is_hopeless(&self, fault: &StoreError) -> bool {
        match fault {
            StoreError::Unknown(_) => true,
            StoreError::Unavailable(_) => self.tables.is_shared(),
            _ => false,
        }
    }

    /// Applies a group, again while other writers are faster: nothing of a failed try remains.
    fn apply_group(&mut self, group: &[(Command, Answer)]) -> Result<Vec<Result<Reply, Refusal>>, StoreError> {
        let commands: Vec<&Command> = group.iter().map(|(command, _)| command).collect();
        let durable = commands.iter().any(|command| command.is_durable());
        let mut tries = 0;
        loop {
            let applied = self.transaction(durable, &commands, |turn| {
                let mut replies = Vec::with_capacity(commands.len());
                for command in &commands {
                    replies.push(match turn.apply(command) {
                        Err(Refusal::Store(fault)) => return Err(fault),
                        reply => reply,
                    });
                }
                Ok(replies)
            });
            match applied {
                Err(StoreError::Conflict(what)) if tries < MAX_TRIES => {
                    tracing::debug!(%what, tries, "a group is applied again");
                    tries += 1;
                }
                applied => return applied,
            }
        }
    }

    fn transaction<T>(
        &mut self,
        durable: bool,
        commands: &[&Command],
        work: impl FnOnce(&mut Turn<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.tables.begin(durable)?;
        if let Err(fault) = self.tables.prepare(commands) {
            self.tables.rollback();
            return Err(fault);
        }
        let now = self.tables.now(self.clock.as_ref());
        let mut turn = Turn::new(self.tables.as_mut(), &mut self.counters, now);
        let outcome = work(&mut turn).and_then(|value| Ok((value, turn.take_done(), turn.finish()?)));
        match outcome {
            Ok((value, done, ready)) => {
                if let Err(fault) = self.tables.commit() {
                    return Err(self.undone(fault));
                }
                self.metrics.happened(now, std::mem::take(&mut self.counters.facts));
                self.metrics.exceeded(std::mem::take(&mut self.counters.exceeded));
                job_log::write(&std::mem::take(&mut self.counters.told));
                for (queue, jobs) in ready {
                    self.wakeups.ready(&queue, jobs);
                }
                self.wakeups.endings.tell(&done);
                self.wakeups.committed();
                Ok(value)
            }
            Err(fault) => Err(self.undone(fault)),
        }
    }

    /// Undoes the transaction; faults count, what another try or request settles does not.
    fn undone(&mut self, fault: StoreError) -> StoreError {
        self.tables.rollback();
        if !matches!(fault, StoreError::Conflict(_) | StoreError::Unstorable(_)) {
            self.metrics.store_failed();
        }
        fault
    }

    /// Writes the figures of the last moments.
    fn flush(&mut self) {
        self.next_flush = Instant::now() + FLUSH;
        let rows = self.metrics.take_minutes(self.tables.now(self.clock.as_ref()));
        if rows.is_empty() {
            return;
        }
        if let Err(fault) = self.transaction(false, &[], |turn| turn.tables.put_stats(&rows)) {
            tracing::warn!(error = %fault, "figures were not written; they are tried again");
            self.metrics.put_minutes_back(&rows);
        }
    }

    /// Time-driven work, and changes made by other processes.
    fn tick(&mut self) {
        if self.sweeper.is_none() {
            return;
        }
        let watched = self.wakeups.has_waiters() || self.wakeups.is_followed();
        if watched && self.tables.changed_elsewhere().unwrap_or(false) {
            self.wakeups.all();
            self.wakeups.committed();
        }
        if Instant::now() < self.next_tick && !self.wakeups.take_inserted() {
            return;
        }
        self.metrics.swept(self.next_tick.elapsed());
        self.next_tick = Instant::now() + TICK;
        if Instant::now() >= self.next_look && (self.wakeups.endings.is_watched() || self.wakeups.is_followed()) {
            // Another process may have ended jobs, and written events.
            self.next_look = Instant::now() + LOOK;
            self.wakeups.endings.tell_all();
            self.wakeups.committed();
        }
        match self.sweep_slice() {
            Ok(_) => {}
            Err(StoreError::Conflict(what)) => tracing::debug!(%what, "maintenance is tried again"),
            Err(fault) => tracing::error!(error = %fault, "maintenance failed; it is tried again"),
        }
        if Instant::now() >= self.next_flush {
            self.flush();
        }
    }

    /// Sweeps until nothing is due.
    fn sweep_all(&mut self) -> Result<(), StoreError> {
        let mut tries = 0;
        loop {
            match self.sweep_slice() {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(StoreError::Conflict(_)) if tries < MAX_TRIES => tries += 1,
                Err(fault) => return Err(fault),
            }
        }
    }

    fn is_due(&mut self, sweeper: &Sweeper, now: Timestamp) -> Result<bool, StoreError> {
        if !self.tables.is_shared() {
            return sweeper.is_due(self.tables.as_mut(), now);
        }
        // What other nodes have changed is seen at the beginning of a transaction.
        self.tables.begin(false)?;
        let due = self.tables.prepare(&[]).and_then(|()| {
            let due = sweeper.is_due(self.tables.as_mut(), now)?;
            self.tables.commit()?;
            Ok(due)
        });
        if due.is_err() {
            self.tables.rollback();
        }
        due
    }

    /// One slice of maintenance, when anything is due; says whether there was.
    fn sweep_slice(&mut self) -> Result<bool, StoreError> {
        let Some(mut sweeper) = self.sweeper.clone() else { return Ok(false) };
        let now = self.tables.now(self.clock.as_ref());
        if !self.is_due(&sweeper, now)? {
            return Ok(false);
        }
        let swept = self.transaction(false, &[], |turn| {
            // Fenced: nobody else maintains until this transaction has ended, and we only while our term lasts.
            if !turn.tables.lead()? {
                return Ok(false);
            }
            match sweeper.sweep(turn) {
                Err(Refusal::Store(fault)) => Err(fault),
                Err(Refusal::Ojs(_)) | Ok(()) => Ok(true),
            }
        })?;
        // Only a committed sweep moves on.
        self.sweeper = Some(sweeper);
        Ok(swept)
    }
}

/// What ends the gathering of a group besides its size.
enum Interrupt {
    Query(Query, Answer),
    Sweep(Answer),
    Close(oneshot::Sender<()>),
}

/// Takes what has gathered, within the limits of a group, up to the first message that is no command.
fn gather(first: Message, inbox: &Receiver<Message>, group: &mut Vec<(Command, Answer)>) -> Option<Interrupt> {
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
            Message::Query(query, reply) => return Some(Interrupt::Query(query, reply)),
            Message::Sweep(reply) => return Some(Interrupt::Sweep(reply)),
            Message::Close(done) => return Some(Interrupt::Close(done)),
        }
        next = inbox.try_recv().ok();
    }
    None
}

fn read_loop(mut tables: Box<dyn Tables>, inbox: &Inbox) {
    loop {
        let taken = inbox.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(message) = taken else { return };
        match message {
            Message::Query(query, reply) => {
                // One snapshot for all the reads of a query.
                let opened = tables.begin(false).and_then(|()| tables.prepare(&[]));
                let answered = opened.map_err(Refusal::from).and_then(|()| {
                    let answered = answer(tables.as_mut(), &query);
                    tables.commit()?;
                    answered
                });
                if matches!(answered, Err(Refusal::Store(_))) {
                    tables.rollback();
                }
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
