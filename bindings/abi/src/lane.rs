//! A lane: the mailbox from which one kind of host thread, or one event loop, pulls jobs.
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};

use ojs::dispatch::CancelReason;

use crate::doorbell::Doorbell;
use crate::pace::Pace;
use crate::sync::{lock, wait};
use crate::token::JobToken;

/// A batch whose next job has not begun for this long is given to another lane thread.
pub(crate) const STUCK: Duration = Duration::from_millis(5);

/// How the host takes jobs from a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneKind {
    /// Threads that run one handler at a time and block in `pull`. They announce each job with `step`, so that jobs
    /// behind a slow one can be given to another thread.
    Threads,
    /// An event loop that starts every job that it pulls, and is notified of cancellations.
    EventLoop,
}

/// How long `pull` may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    Never,
    /// At most this long.
    AtMost(Duration),
    /// Until there is a job, an unblock or the end.
    Forever,
}

impl Wait {
    pub(crate) fn deadline(self) -> Option<Instant> {
        match self {
            Self::Never => Some(Instant::now()),
            Self::AtMost(limit) => Instant::now().checked_add(limit),
            Self::Forever => None,
        }
    }
}

/// The result of one look into the mailbox.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    Jobs(Vec<JobToken>),
    Empty,
    Unblocked,
    TimedOut,
    Closed,
}

/// The result of one look for cancellations.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Cancels(Vec<(JobToken, CancelReason)>),
    Empty,
    Unblocked,
    TimedOut,
    Closed,
}

#[derive(Debug, Default)]
struct Mailbox {
    queue: VecDeque<JobToken>,
    cancels: Vec<(JobToken, CancelReason)>,
    /// Threads inside `pull` that found nothing.
    idle: usize,
    /// Counts unblocks; a waiter leaves when it has changed.
    unblocks: u64,
    /// The bell was rung and the host has not looked yet.
    rung: bool,
    closed: bool,
}

/// The mailbox of one lane. Jobs themselves are in the token table.
#[derive(Debug)]
pub(crate) struct Lane {
    pub kind: LaneKind,
    pub pace: Pace,
    mailbox: Mutex<Mailbox>,
    filled: Condvar,
    /// Wakes threads that wait for cancellations; separate, so that a job wakes only a thread in `pull`.
    told: Condvar,
    doorbell: OnceLock<Box<dyn Doorbell>>,
}

impl Lane {
    pub fn new(kind: LaneKind) -> Self {
        Self {
            kind,
            pace: Pace::default(),
            mailbox: Mutex::default(),
            filled: Condvar::new(),
            told: Condvar::new(),
            doorbell: OnceLock::new(),
        }
    }

    /// The first doorbell stays.
    pub fn set_doorbell(&self, doorbell: Box<dyn Doorbell>) {
        let _ = self.doorbell.set(doorbell);
        self.alert(|mailbox| !mailbox.queue.is_empty() || mailbox.closed);
    }

    pub fn push(&self, tokens: Vec<JobToken>) {
        let mut wake = 0;
        self.alert(|mailbox| {
            mailbox.queue.extend(tokens);
            let batch = self.pace.batch(mailbox.queue.len(), mailbox.idle, usize::MAX);
            wake = mailbox.queue.len().div_ceil(batch).min(mailbox.idle);
            true
        });
        for _ in 0..wake {
            self.filled.notify_one();
        }
    }

    /// Notifies an event loop that a running job should stop. Threads ask by themselves.
    pub fn push_cancel(&self, token: JobToken, why: CancelReason) {
        if self.kind == LaneKind::EventLoop {
            self.alert(|mailbox| {
                mailbox.cancels.push((token, why));
                true
            });
            self.told.notify_one();
        }
    }

    pub fn take_cancels(&self) -> Vec<(JobToken, CancelReason)> {
        std::mem::take(&mut lock(&self.mailbox).cancels)
    }

    /// Ends the wait of every thread, once.
    pub fn unblock(&self) {
        self.alert(|mailbox| {
            mailbox.unblocks += 1;
            true
        });
        self.filled.notify_all();
        self.told.notify_all();
    }

    /// Closes the lane: no job comes any more. Queued jobs stay in the table, whose owner releases them.
    pub fn close(&self) {
        self.alert(|mailbox| {
            mailbox.closed = true;
            mailbox.queue.clear();
            true
        });
        self.filled.notify_all();
        self.told.notify_all();
    }

    /// Makes the bell silent before an event loop looks; what comes from now on rings again.
    pub fn rearm(&self) {
        if let Some(doorbell) = self.doorbell.get() {
            doorbell.quiet();
            lock(&self.mailbox).rung = false;
        }
    }

    pub fn unblocks(&self) -> u64 {
        lock(&self.mailbox).unblocks
    }

    /// Looks once; when there is nothing and `until` allows it, waits to be woken and says so by `Empty`.
    pub fn look(&self, max: usize, until: Option<Instant>, unblocks: u64) -> Looked {
        let mut mailbox = lock(&self.mailbox);
        if mailbox.closed {
            return Looked::Closed;
        }
        if let Some(tokens) = self.batch(&mut mailbox, max) {
            return Looked::Jobs(tokens);
        }
        if mailbox.unblocks != unblocks {
            return Looked::Unblocked;
        }
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return Looked::TimedOut;
        }
        mailbox.idle += 1;
        let mut mailbox = wait(&self.filled, mailbox, left);
        mailbox.idle -= 1;
        Looked::Empty
    }

    /// Looks for cancellations once, as [`look`](Self::look) does for jobs. Those that came before the end are still
    /// returned.
    pub fn listen(&self, max: usize, until: Option<Instant>, unblocks: u64) -> Told {
        let mut mailbox = lock(&self.mailbox);
        if !mailbox.cancels.is_empty() && max > 0 {
            let count = max.min(mailbox.cancels.len());
            return Told::Cancels(mailbox.cancels.drain(..count).collect());
        }
        if mailbox.closed {
            return Told::Closed;
        }
        if mailbox.unblocks != unblocks {
            return Told::Unblocked;
        }
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return Told::TimedOut;
        }
        drop(wait(&self.told, mailbox, left));
        Told::Empty
    }

    fn batch(&self, mailbox: &mut Mailbox, max: usize) -> Option<Vec<JobToken>> {
        if mailbox.queue.is_empty() || max == 0 {
            return None;
        }
        let count = match self.kind {
            LaneKind::Threads => self.pace.batch(mailbox.queue.len(), mailbox.idle + 1, max),
            LaneKind::EventLoop => max,
        };
        let count = count.min(mailbox.queue.len());
        Some(mailbox.queue.drain(..count).collect())
    }

    /// Lets one waiting thread look again.
    pub fn wake_one(&self) {
        self.filled.notify_one();
    }

    /// Changes the mailbox and rings when `change` says so and the bell is not ringing already; rings after the lock is gone.
    fn alert(&self, change: impl FnOnce(&mut Mailbox) -> bool) {
        let ring = {
            let mut mailbox = lock(&self.mailbox);
            change(&mut mailbox) && self.doorbell.get().is_some() && !std::mem::replace(&mut mailbox.rung, true)
        };
        if ring && let Some(doorbell) = self.doorbell.get() {
            doorbell.ring();
        }
    }
}
