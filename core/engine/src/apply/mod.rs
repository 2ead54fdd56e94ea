//! The rules of the job engine, written once over [`Tables`]: what each command does to rows.
//!
//! A [`Turn`] is one transaction. It collects events, count changes and wake-ups while commands run, and writes the first
//! two before the commit.
mod admin;
mod admission;
mod adopt;
mod aside;
mod bulk;
mod claim;
mod cron;
mod dead_letters;
mod enqueue;
mod lease;
mod lifecycle;
mod limits;
mod outcome;
mod queues;
mod results;
mod tell;
mod timeouts;
mod types;
mod upkeep;
mod workflow;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use foldhash::{HashMap, HashMapExt};
use ojs_model::state::Trigger;
use ojs_model::{JobId, JobState, OjsError, Timestamp};

use crate::command::{Command, Query, Reply};
use crate::event::{self, Journal};
use crate::job::{JobRow, JobView, flag};
use crate::job_log;
use crate::queue_config::TEMPLATE;
use crate::stats::Named;
use crate::store::Refusal;
use crate::tables::{Counts, QueuePhase, StoreError, Tables};

use aside::Aside;

pub(crate) use admission::{depth, room_signal};
pub(crate) use bulk::other_request;
pub(crate) use outcome::quiet_signal;
pub(crate) use queues::phase_word;
pub use results::expiry as result_expiry;
pub use upkeep::{Sweeper, next_prune};

/// A result that tells refusals from store faults.
pub type Applied<T> = Result<T, Refusal>;

/// Hands out lease tokens and tickets: numbers that only grow.
#[derive(Debug, Default, Clone)]
pub struct Counters {
    leases: std::ops::Range<i64>,
    /// Shared by the writers of a process: who comes later stands later in line.
    last_ticket: Arc<AtomicI64>,
    /// How far claims that name job types have come.
    passes: Arc<Mutex<types::Passes>>,
    /// Facts of the turn that has just finished: the writer takes them when the commit has succeeded.
    pub facts: Vec<Named>,
    /// How often that turn found a key full.
    pub exceeded: u64,
    /// The events of that turn, if they are to be logged.
    pub told: Vec<event::Event>,
    /// What maintenance leaves out.
    pub aside: Aside,
}

/// Tickets begin with the time: room for a million entries a millisecond.
pub const TICKETS_PER_MILLI: i64 = 1 << 20;

impl Counters {
    /// Takes a new range of lease tokens.
    pub fn reserve(&mut self, tables: &mut dyn Tables) -> Result<(), StoreError> {
        self.leases = tables.reserve_leases()?;
        Ok(())
    }

    /// Forgets what a turn that did not end has left here.
    pub fn forget(&mut self) {
        self.facts.clear();
        self.told.clear();
        self.exceeded = 0;
    }

    /// The next lease token of a job whose latest was `before`. Several writers have several ranges: the job's tokens grow all the same.
    /// Whether the claim is fenced can be read from its token.
    fn lease(&mut self, tables: &mut dyn Tables, before: i64, fenced: bool) -> Result<i64, StoreError> {
        let mut lease = lease::at_or_after(self.leases.start, fenced);
        if lease >= self.leases.end {
            self.reserve(tables)?;
            lease = lease::at_or_after(self.leases.start, fenced);
            if lease >= self.leases.end {
                return Err(StoreError::Failed("the store gave an empty range of lease tokens".into()));
            }
        }
        self.leases.start = lease.saturating_add(1);
        Ok(lease::at_or_after(lease.max(before.saturating_add(1)), fenced))
    }

    /// A place in the line of available jobs: time of entry, then order of arrival.
    fn ticket(&mut self, now: Timestamp) -> i64 {
        let next = |last: i64| (now.as_millis() * TICKETS_PER_MILLI).max(last + 1);
        let last = self.last_ticket.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |last| Some(next(last)));
        next(last.unwrap_or_else(|last| last))
    }
}

/// One transaction's worth of commands.
pub struct Turn<'a> {
    /// Rows.
    pub tables: &'a mut dyn Tables,
    /// One time for the whole transaction.
    pub now: Timestamp,
    counters: &'a mut Counters,
    journal: Journal,
    counts: HashMap<i64, Counts>,
    /// Jobs that became available, by queue number.
    ready: HashMap<i64, usize>,
    /// Steps of workflows that ended in this command.
    ended: VecDeque<JobRow>,
    /// Keys as this turn found them.
    gates: HashMap<i64, limits::Gate>,
    /// Keys that have room again, and the job that made it.
    released: Vec<(i64, Option<JobId>)>,
    /// Signals of queues that have room again.
    signals: Vec<Arc<str>>,
    /// When a claim that a rate held back may find more.
    retry_at: Option<i64>,
    /// Jobs that ended.
    done: Vec<JobId>,
    /// Trace ids of jobs that have one, by number of the job.
    traces: HashMap<i64, String>,
}

impl<'a> Turn<'a> {
    /// Starts a turn on an open transaction.
    pub fn new(tables: &'a mut dyn Tables, counters: &'a mut Counters, now: Timestamp) -> Self {
        Self {
            tables,
            now,
            counters,
            journal: Journal::default(),
            counts: HashMap::new(),
            ready: HashMap::new(),
            ended: VecDeque::new(),
            gates: HashMap::new(),
            released: Vec::new(),
            signals: Vec::new(),
            retry_at: None,
            done: Vec::new(),
            traces: HashMap::new(),
        }
    }

    /// Carries out one command, and moves on the workflows whose steps it ended.
    pub fn apply(&mut self, command: &Command) -> Applied<Reply> {
        let reply = self.carry_out(command)?;
        self.advance_workflows()?;
        Ok(reply)
    }

    fn carry_out(&mut self, command: &Command) -> Applied<Reply> {
        match command {
            Command::Enqueue(jobs) => self.enqueue(jobs),
            Command::Exchange { outcomes, claim } => self.exchange(outcomes, claim.as_ref()),
            Command::Heartbeat(beat) => self.heartbeat(beat),
            Command::Cancel(id) => self.cancel(*id),
            Command::Activate(id) => self.activate(*id),
            Command::SetPriority(id, priority) => self.set_priority(*id, *priority),
            Command::Replay(id) => self.replay(*id, None),
            Command::ReplayChanged(id, change) => self.replay(*id, Some(change)),
            Command::ReplayDead(filter) => self.replay_dead(filter),
            Command::Bury(id) => self.bury(*id),
            Command::BuryDead(filter) => self.bury_dead(filter),
            Command::SetPaused { queue, paused } => self.set_paused(queue, *paused),
            Command::SetDraining { queue, draining } => self.set_draining(queue, *draining),
            Command::CreateQueue { queue, settings } => self.create_queue(queue, settings),
            Command::Configure { queue, settings } => self.configure(queue, settings),
            Command::EmptyQueue { queue, target } => self.empty_queue(queue, target.as_deref()),
            Command::DeleteQueue(queue) => self.delete_queue(queue),
            Command::OverrideLimit { tenant, key, limits, until } => self.override_limit(tenant, key, *limits, *until),
            Command::TellFull { queue, job_type } => self.tell_full_after_wait(queue, job_type),
            Command::CreateWorkflow(new) => self.create_workflow(new),
            Command::CancelWorkflow(id) => self.cancel_workflow(*id),
            Command::PutCron(row) => self.put_cron(row),
            Command::SwitchCron { name, enabled } => self.switch_cron(name, *enabled),
            Command::DeleteCron(name) => self.delete_cron(name),
            Command::Direct { worker, directive } => self.direct(worker, *directive),
            Command::Admin(command) => self.administer(command),
            Command::Bulk(command) => self.bulk(command),
            Command::Reset => {
                self.tables.reset()?;
                self.journal = Journal::default();
                self.counts.clear();
                Ok(Reply::Done)
            }
        }
    }

    /// Jobs that ended in this turn: whoever waits for their results is told after the commit.
    pub fn take_done(&mut self) -> Vec<JobId> {
        std::mem::take(&mut self.done)
    }

    /// Writes events and counts; the caller commits next. Returns names of queues with new jobs, and how many; signals of room among them.
    pub fn finish(mut self) -> Result<Vec<(Arc<str>, usize)>, StoreError> {
        self.open_limits()?;
        self.tell_relief()?;
        for (queue, delta) in &self.counts {
            self.tables.add_counts(*queue, delta)?;
        }
        if job_log::is_on() {
            self.counters.told = self.journal.events(self.tables)?;
        }
        self.journal.write(self.now, self.tables)?;
        let tally = std::mem::take(&mut self.journal.tally);
        self.counters.exceeded = tally.exceeded;
        self.counters.facts = tally.named(self.tables)?;
        let mut ready = Vec::with_capacity(self.ready.len());
        for (queue, jobs) in self.ready {
            ready.push((self.tables.queue_by_num(queue)?.name, jobs));
        }
        ready.extend(self.signals.into_iter().map(|signal| (signal, usize::MAX)));
        Ok(ready)
    }

    /// Lets every fetch that waits look again.
    fn call_all_waiters(&mut self) -> Result<(), StoreError> {
        for queue in self.tables.queues()? {
            // Half: jobs that become available in the same transaction are added.
            self.ready.insert(queue.num, usize::MAX / 2);
        }
        Ok(())
    }

    /// Moves a job to another state, as the transition table allows, and keeps counts and wake-ups in step.
    fn shift(&mut self, before: &JobRow, mut after: JobRow, trigger: Trigger, to: JobState) -> Result<JobRow, StoreError> {
        if !before.state.allows(trigger, to) {
            return Err(StoreError::Failed(format!("illegal transition {} to {to} of job {}", before.state, before.id)));
        }
        after.state = to;
        after.parked &= to == JobState::Available;
        self.note_key(before, to);
        self.journal.moved(self.now, Some(before.state), &after);
        self.tables.update(before, &after)?;
        self.count(before.queue, before.state, -1);
        self.count(after.queue, to, 1);
        if to.is_terminal() {
            self.done.push(after.id);
            if after.workflow != 0 {
                self.ended.push_back(after.clone());
            }
        }
        if to == JobState::Available {
            *self.ready.entry(after.queue).or_default() += 1;
        }
        Ok(after)
    }

    /// Puts a job back in line: ticket, time, event.
    fn make_available(&mut self, before: &JobRow, mut after: JobRow, trigger: Trigger) -> Result<JobRow, StoreError> {
        after.pos = self.counters.ticket(self.now);
        after.enqueued_at = self.now.as_millis();
        after.worker = 0;
        self.set_end_of_waiting(&mut after)?;
        self.join_line(&mut after)?;
        let row = self.shift(before, after, trigger, JobState::Available)?;
        self.tell("job.enqueued", &row, "")?;
        Ok(row)
    }

    fn count(&mut self, queue: i64, state: JobState, delta: i64) {
        if let Some(cell) = self.counts.entry(queue).or_default().get_mut(state as usize) {
            *cell += delta;
        }
    }

    /// The row of a job, or 404.
    fn require(&mut self, id: JobId) -> Applied<JobRow> {
        let row = self.tables.row(id)?;
        row.ok_or_else(|| OjsError::not_found("job", &id.to_string()).into())
    }

    fn view(&mut self, row: JobRow) -> Result<JobView, StoreError> {
        view(self.tables, row)
    }
}

/// A job with everything needed to print it.
pub fn view(tables: &mut dyn Tables, row: JobRow) -> Result<JobView, StoreError> {
    let body = tables.body(row.seq)?;
    view_with(tables, row, body)
}

fn view_with(tables: &mut dyn Tables, row: JobRow, body: crate::job::Body) -> Result<JobView, StoreError> {
    let history = if row.has(flag::ERRORS) || row.has(flag::RESULT) { tables.history(row.seq)? } else { Default::default() };
    let queue = tables.queue_by_num(row.queue)?.name;
    let worker = if row.worker == 0 { None } else { tables.worker_name(row.worker)? };
    Ok(JobView { row, body, history, queue, worker })
}

/// Answers a query.
pub fn answer(tables: &mut dyn Tables, query: &Query) -> Applied<Reply> {
    match query {
        Query::Job(id) => match tables.row(*id)? {
            Some(row) => Ok(Reply::Job(Box::new(view(tables, row)?))),
            None => Err(OjsError::not_found("job", &id.to_string()).into()),
        },
        Query::Workflow(id) => match tables.workflow(*id)? {
            Some(row) => Ok(Reply::Workflow(Box::new(workflow::view(tables, row)?))),
            None => Err(OjsError::not_found("workflow", &id.to_string()).into()),
        },
        Query::Crons => Ok(Reply::Crons(tables.crons()?)),
        Query::Cron(name) => match tables.cron(name)? {
            Some(row) => Ok(Reply::Cron(Box::new(row), true)),
            None => Err(OjsError::not_found("cron", name).into()),
        },
        Query::Results(ids) => Ok(Reply::Results(tables.outcomes(ids)?)),
        Query::Queues => {
            let mut queues = tables.queues()?;
            queues.retain(|queue| queue.phase != QueuePhase::Deleted && &*queue.name != TEMPLATE);
            Ok(Reply::Queues(queues))
        }
        Query::Limits { key, limit, offset, at } => {
            let (rows, total) = tables.limits(key.as_deref(), *limit, *offset)?;
            let views = rows.into_iter().map(|row| limits::view(tables, row, *at)).collect::<Result<_, _>>()?;
            Ok(Reply::Limits(views, total))
        }
        Query::Queue(name) => {
            let unused = || crate::tables::QueueRow::fresh(0, name, 0);
            let queue = tables.find_queue(name)?.unwrap_or_else(unused);
            let counts = tables.counts(queue.num)?;
            Ok(Reply::Queue(queue, counts))
        }
        Query::Dead(filter) => {
            let (rows, total) = tables.dead(filter)?;
            let jobs = rows.into_iter().map(|row| view(tables, row)).collect::<Result<_, _>>()?;
            Ok(Reply::Page(jobs, total))
        }
        Query::DeadStats => Ok(Reply::DeadStats(Box::new(tables.dead_stats()?))),
        Query::DeadLetter(id) => match tables.row(*id)?.filter(|row| row.has(flag::DEAD)) {
            Some(row) => Ok(Reply::Job(Box::new(view(tables, row)?))),
            None => Err(OjsError::not_found("dead letter", &id.to_string()).into()),
        },
        Query::Events(filter) => {
            let (events, cursor, has_more) = event::read(tables, filter)?;
            Ok(Reply::Events { events, cursor, has_more })
        }
        Query::Admin(query) => admin::answer(tables, query),
        Query::Bulk(query) => bulk::answer(tables, query),
        Query::Log(at) => Ok(Reply::Log(crate::log::span(tables, *at)?)),
        Query::Ping => {
            tables.queues()?;
            Ok(Reply::Done)
        }
    }
}
