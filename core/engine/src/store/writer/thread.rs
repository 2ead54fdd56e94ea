//! A thread that writes, and the transactions it makes.
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use ojs_model::Timestamp;
use tokio::sync::oneshot;

use super::{Answer, Inbox, Message, Shared, caught};
use crate::error::{Applied, Refusal, StoreError};
use crate::kernel::clock::Clock;
use crate::kernel::counters::Counters;
use crate::kernel::job_log;
use crate::kernel::maintenance::Sweeper;
use crate::kernel::scope::Scope;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Asked, Submitted};
use crate::kernel::wake::Wakeups;
use crate::metrics::Metrics;
use crate::store::tables::Tables;
use crate::store::wanted::Wanted;

/// Rows after which a group is closed: bounds the time of a commit, and with it the latency of all requests.
const MAX_GROUP_WEIGHT: usize = 2_000;
/// Commands after which a group is closed.
const MAX_GROUP: usize = 256;
/// How often time-driven work is looked for: bounds how late a retry or schedule fires (protocol section 2.3 asks for 200 ms).
const TICK: Duration = Duration::from_millis(100);
/// How often figures are written: a crash loses those of this time.
const FLUSH: Duration = Duration::from_secs(5);
/// How often requests that wait for the end of a job read it again: another process may have ended it.
const LOOK: Duration = Duration::from_millis(500);
/// How often changes of other processes are looked for while a fetch waits.
const PEEK: Duration = Duration::from_millis(20);

/// How long a thread without time-driven work waits before it looks around.
const IDLE: Duration = Duration::from_secs(3600);
/// How often a group is applied again after a conflict with another writer.
const MAX_TRIES: usize = 8;
/// Parts of one command that may be refused after they have written something: more than a command has.
const MAX_REFUSED: usize = 10_000;
/// Most slices of a sweep while an item that is left out stays due.
const MAX_SLICES: usize = 20;
/// How long maintenance waits after a panic.
const AFTER_PANIC: Duration = Duration::from_secs(1);

/// Commands that are committed together, each with the way back to its caller.
type Group = Vec<(Arc<dyn Submitted>, Answer)>;

/// The state of a thread that writes.
pub(super) struct WriterThread {
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
    /// Whether the commit of the open transaction has begun.
    committing: bool,
    /// Time of the latest look for what is due.
    swept_at: Timestamp,
}

impl WriterThread {
    pub(super) fn new(tables: Box<dyn Tables>, counters: Counters, sweeper: Option<Sweeper>, shared: Shared) -> Self {
        let now = Instant::now();
        Self {
            tables,
            clock: shared.clock,
            sweeper,
            counters,
            wakeups: shared.wakeups,
            next_tick: now,
            next_look: now,
            next_flush: now + FLUSH,
            metrics: shared.metrics,
            committing: false,
            swept_at: Timestamp::from_millis(0),
        }
    }

    pub(super) fn run(&mut self, inbox: &Inbox) {
        let mut group: Group = Vec::new();
        loop {
            let patience = self.patience();
            // The writer that holds the inbox takes all its messages; the others wait here.
            let held = inbox.lock().unwrap_or_else(PoisonError::into_inner);
            let first = match held.recv_timeout(patience) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let interrupt = first.and_then(|first| gather(first, &held, &mut group));
            drop(held);
            self.commit_group(&mut group);
            if let Some(interrupt) = interrupt
                && self.serve(interrupt).is_break()
            {
                return;
            }
            let ticked = self.guarded("maintenance", |this| {
                this.tick();
                Ok(())
            });
            if let Err(fault) = ticked {
                self.leave_out(&fault);
            }
        }
    }

    /// Answers messages that are not commands; breaks when the thread should end.
    fn serve(&mut self, interrupt: Interrupt) -> ControlFlow<()> {
        match interrupt {
            Interrupt::Query(query, reply) => {
                // Memory store: a query sees every command sent before it.
                let answered = self.guarded("a query", |this| Ok(query.answer(this.tables.as_mut())));
                let answered = answered.unwrap_or_else(|fault| Err(fault.into()));
                let _ = reply.send(answered);
            }
            Interrupt::Sweep(reply) => {
                let swept = self.guarded("a sweep", |this| {
                    let swept = this.sweep_all();
                    this.flush();
                    swept
                });
                self.wakeups.time_moved();
                let _ = reply.send(swept.map_err(Refusal::from));
            }
            Interrupt::Probe(reply) => {
                let sound = self.guarded("a probe", |this| this.tables.settle());
                let _ = reply.send(sound.map_err(Refusal::from));
            }
            Interrupt::Close(done) => {
                if self.sweeper.is_some() {
                    let _ = self.guarded("closing", |this| {
                        this.flush();
                        this.resign();
                        Ok(())
                    });
                }
                tracing::debug!("store closed");
                // Dropping the tables closes the files; the answer comes after it.
                self.tables = Box::new(crate::store::memory::MemoryTables::default());
                let _ = done.send(());
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    /// Runs work that uses the tables. A panic in it is a bug, and is treated like a fault of the store: the open
    /// transaction is rolled back, the callers get the error, and the thread continues.
    pub(super) fn guarded<T>(
        &mut self,
        what: &str,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.committing = false;
        let panic = match caught(|| work(self)) {
            Ok(outcome) => return outcome,
            Err(panic) => panic,
        };
        tracing::error!(%panic, what, "a bug: the writer met a panic; it undoes what was open and goes on");
        self.metrics.panicked();
        self.metrics.store_failed();
        self.counters.forget();
        self.counters.forget_leases();
        // A sweep that panics again and again must not delay commands.
        self.next_tick = Instant::now() + AFTER_PANIC;
        self.tables.rollback();
        // The command has not reset its scope.
        self.tables.names().scope = Scope::All;
        let text = format!("a bug in the engine ({panic}); please report it with the log");
        Err(if self.committing { StoreError::Unknown(text) } else { StoreError::Failed(text) })
    }

    /// Hands maintenance over to another process, which would otherwise wait until the term of this one ends.
    fn resign(&mut self) {
        if let Err(fault) = self.transaction(false, &[], |transaction| transaction.tables.lead(false)) {
            tracing::debug!(error = %fault, "maintenance goes on elsewhere when the term has run out");
        }
    }

    /// How long to wait for a command.
    fn patience(&self) -> Duration {
        if self.sweeper.is_none() {
            return IDLE;
        }
        let tick = self.next_tick.saturating_duration_since(Instant::now());
        let due = caught(|| self.counters.due_in(self.clock.now())).ok().flatten();
        let tick = due.map_or(tick, |due| tick.min(due));
        if self.wakeups.has_waiters() { tick.min(PEEK) } else { tick }
    }

    fn commit_group(&mut self, group: &mut Group) {
        if group.is_empty() {
            return;
        }
        let started = Instant::now();
        let commands: Vec<&dyn Submitted> = group.iter().map(|(command, _)| command.as_ref()).collect();
        let applied = self.guarded("a group of commands", |this| this.apply_group(&commands));
        drop(commands);
        match applied {
            Ok(replies) => {
                self.metrics.committed(group.len(), started.elapsed());
                for ((_, answer), reply) in group.drain(..).zip(replies) {
                    // A receiver that is gone hung up; its command is done all the same.
                    let _ = answer.send(reply);
                }
            }
            Err(fault) if group.len() == 1 || self.is_hopeless(&fault) => self.give_up(group, &fault),
            Err(fault) => {
                // One command must not take the others with it: each gets a transaction of its own.
                tracing::warn!(error = %fault, commands = group.len(), "a group failed; trying its commands one by one");
                for alone in std::mem::take(group) {
                    self.commit_group(&mut vec![alone]);
                }
            }
        }
    }

    /// Answers commands at which the store has failed. The parts of a single command need not fail together.
    fn give_up(&mut self, group: &mut Group, fault: &StoreError) {
        let alone = match (fault, group.as_slice()) {
            (StoreError::Failed(_), [(command, _)]) => Some(Arc::clone(command)),
            _ => None,
        };
        let apart = alone.and_then(|command| command.apply_apart(self));
        match &apart {
            Some(_) => tracing::warn!(error = %fault, "a command failed as a whole; its parts were tried one by one"),
            None if matches!(fault, StoreError::Unstorable(_)) => {}
            None => tracing::error!(error = %fault, commands = group.len(), "the store failed"),
        }
        let outcome = apart.unwrap_or_else(|| Err(fault.clone().into()));
        for (_, answer) in group.drain(..) {
            let _ = answer.send(outcome.clone());
        }
    }

    /// Whether it is useless to apply a group's commands one by one: the database is away, or may have done them
    /// already.
    fn is_hopeless(&mut self, fault: &StoreError) -> bool {
        match fault {
            StoreError::Unknown(_) => true,
            StoreError::Unavailable(_) => self.tables.is_shared(),
            _ => false,
        }
    }

    /// Applies a group: all of it in one transaction.
    pub(super) fn apply_group(&mut self, commands: &[&dyn Submitted]) -> Result<Vec<Applied<()>>, StoreError> {
        let durable = commands.iter().any(|command| command.is_durable());
        self.attempts(durable, commands, MAX_TRIES, |transaction| transaction.apply_all(commands))
    }

    /// Makes a transaction. Repeats it after a conflict with another writer, and without the parts that were refused
    /// after they had written something: nothing of a failed try remains.
    fn attempts<T>(
        &mut self,
        durable: bool,
        commands: &[&dyn Submitted],
        most: usize,
        mut work: impl FnMut(&mut Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.counters.refused.clear();
        // With more refused parts it is faster to give each command a transaction of its own.
        let most_refused = if commands.len() > 1 { MAX_TRIES } else { MAX_REFUSED };
        let mut tries = 0;
        loop {
            let known = self.counters.refused.len();
            match self.transaction(durable, commands, &mut work) {
                Err(StoreError::Conflict(_)) if self.counters.refused.len() > known && known < most_refused => {}
                Err(StoreError::Conflict(what)) if tries < most => {
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
        commands: &[&dyn Submitted],
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.committing = false;
        let leases = self.counters.leases.clone();
        self.tables.begin(durable)?;
        let mut wanted = Wanted::default();
        if self.tables.is_shared() {
            commands.iter().for_each(|command| command.wants(&mut wanted));
        }
        if let Err(fault) = self.tables.prepare(&wanted) {
            self.tables.rollback();
            return Err(fault);
        }
        let now = self.tables.now(self.clock.as_ref());
        let mut transaction = Transaction::new(self.tables.as_mut(), &mut self.counters, now);
        let outcome = work(&mut transaction).and_then(|value| Ok((value, transaction.take_done(), transaction.finish()?)));
        match outcome {
            Ok((value, done, ready)) => {
                self.committing = true;
                if let Err(fault) = self.tables.commit() {
                    if self.counters.leases.end != leases.end {
                        self.counters.forget_leases();
                    }
                    return Err(self.undone(fault));
                }
                let deltas = self.metrics.handed_over(now, std::mem::take(&mut self.counters.handed_over));
                self.counters.kept.backlog.committed(deltas, now.as_millis());
                if std::mem::take(&mut self.counters.emptied) {
                    self.metrics.forget_unwritten();
                }
                job_log::write(&std::mem::take(&mut self.counters.emitted));
                for (queue, jobs) in ready {
                    self.wakeups.ready(&queue, jobs);
                }
                self.wakeups.endings.notify(&done);
                self.wakeups.committed();
                Ok(value)
            }
            Err(fault) => {
                // Nothing of it was handed out.
                self.counters.leases = leases;
                Err(self.undone(fault))
            }
        }
    }

    /// Undoes the transaction, and counts faults; conflicts, which another try settles, do not count.
    fn undone(&mut self, fault: StoreError) -> StoreError {
        self.tables.rollback();
        self.counters.forget();
        if !matches!(fault, StoreError::Conflict(_) | StoreError::Unstorable(_)) {
            self.metrics.store_failed();
        }
        fault
    }

    /// Writes the figures that have not been written yet.
    fn flush(&mut self) {
        self.next_flush = Instant::now() + FLUSH;
        let figures = self.metrics.take_unwritten(self.tables.now(self.clock.as_ref()));
        if figures.is_empty() {
            return;
        }
        let written = self.transaction(false, &[], |transaction| figures.write(transaction.tables));
        self.metrics.written(figures, written.err());
    }

    /// Time-driven work, and changes made by other processes.
    fn tick(&mut self) {
        if self.sweeper.is_none() {
            return;
        }
        // Without commands, too: a store that is not ready gets none. Why it cannot be used was logged when that began.
        let _ = self.tables.settle();
        let watched = self.wakeups.has_waiters() || self.wakeups.is_followed();
        if watched && self.tables.changed_elsewhere().unwrap_or(false) {
            self.wakeups.all();
            self.wakeups.committed();
        }
        let early = Instant::now() < self.next_tick;
        if early && !self.counters.take_due(self.clock.now()) && !self.wakeups.take_inserted() {
            return;
        }
        self.metrics.swept(self.next_tick.elapsed());
        self.next_tick = Instant::now() + TICK;
        if Instant::now() >= self.next_look && (self.wakeups.endings.is_watched() || self.wakeups.is_followed()) {
            // Another process may have ended jobs, and written events.
            self.next_look = Instant::now() + LOOK;
            self.wakeups.endings.notify_all();
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
        let (mut tries, mut slices) = (0, 0);
        loop {
            match self.sweep_slice() {
                // Items that are left out stay due.
                Ok(true) if self.counters.aside.is_empty() => {}
                Ok(true) if slices < MAX_SLICES => slices += 1,
                Ok(true) => return Ok(()),
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
        // The beginning of a transaction notices the changes of other nodes.
        self.tables.begin(false)?;
        let due = self.tables.prepare(&Wanted::default()).and_then(|()| {
            let due = sweeper.is_due(self.tables.as_mut(), now)?;
            self.tables.commit()?;
            Ok(due)
        });
        if due.is_err() {
            self.tables.rollback();
        }
        due
    }

    /// Leaves the item that a failed sweep was examining out of the next ones. Returns whether there was one.
    fn leave_out(&mut self, fault: &StoreError) -> bool {
        let StoreError::Failed(_) = fault else { return false };
        let subject = self.counters.aside.leave_out(self.swept_at.as_millis());
        if let Some(subject) = &subject {
            tracing::error!(%subject, error = %fault, "maintenance leaves something out for a minute");
        }
        subject.is_some()
    }

    /// One slice of maintenance, when anything is due; says whether there was.
    fn sweep_slice(&mut self) -> Result<bool, StoreError> {
        let Some(sweeper) = self.sweeper.clone() else { return Ok(false) };
        let now = self.tables.now(self.clock.as_ref());
        self.swept_at = now;
        if !self.is_due(&sweeper, now)? {
            return Ok(false);
        }
        let mut next = sweeper.clone();
        let swept = self.attempts(false, &[], 0, |transaction| {
            // Fenced: no other node maintains until this transaction has ended, and this node only while its term
            // lasts.
            if !transaction.tables.lead(true)? {
                return Ok(false);
            }
            next = sweeper.clone();
            match next.sweep(transaction) {
                Err(Refusal::Store(fault)) => Err(fault),
                Err(Refusal::Ojs(_) | Refusal::Blocked(_)) | Ok(()) => Ok(true),
            }
        });
        let swept = match swept {
            Err(fault) if self.leave_out(&fault) => return Ok(true),
            swept => swept?,
        };
        self.counters.aside.done(now.as_millis());
        // Only a committed sweep moves on.
        self.sweeper = Some(next);
        Ok(swept)
    }
}

/// The reasons that close a group besides its size.
enum Interrupt {
    Query(Arc<dyn Asked>, Answer),
    Sweep(Answer),
    Probe(Answer),
    Close(oneshot::Sender<()>),
}

/// Takes the waiting commands, within the limits of a group, up to the first message that is not a command.
fn gather(first: Message, inbox: &Receiver<Message>, group: &mut Group) -> Option<Interrupt> {
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
            Message::Query(query, reply, _) => return Some(Interrupt::Query(query, reply)),
            Message::Sweep(reply) => return Some(Interrupt::Sweep(reply)),
            Message::Probe(reply) => return Some(Interrupt::Probe(reply)),
            Message::Close(done) => return Some(Interrupt::Close(done)),
        }
        next = inbox.try_recv().ok();
    }
    None
}
