//! Wakes waiting fetches when jobs become available: as many as there are jobs, the longest waiting first.
//!
//! A fetch registers *before* it looks, so that a job that arrives between look and wait is not missed.
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use ojs_model::JobId;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;

use crate::kernel::ending::Endings;

/// Prefix of the names of [`Signal::Room`]. Names of queues contain no colon.
const ROOM: &str = "room:";
/// Prefix of the names of [`Signal::Quiet`].
const QUIET: &str = "quiet:";
/// The name of [`Signal::Deliveries`].
const DELIVERIES: &str = "deliveries:";
/// The name of [`Signal::Endpoints`].
const ENDPOINTS: &str = "endpoints:";
/// The name of [`Signal::Operations`].
const OPERATIONS: &str = "operations:";
/// Prefix of the names of [`Signal::Operation`].
const OPERATION: &str = "operation:";
/// Prefix of the names of [`Signal::Session`].
const SESSION: &str = "session:";

/// Signals that wake waiting requests, besides new jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// The queue of this name has room again: waiting enqueues try again.
    Room(String),
    /// The worker of this id takes no more jobs: its fetch is answered.
    Quiet(String),
    /// Webhook deliveries are due, or will be.
    Deliveries,
    /// Endpoints of push delivery have changed.
    Endpoints,
    /// Bulk operations can continue.
    Operations,
    /// The bulk operation of this id has changed its state.
    Operation(JobId),
    /// The session of this id has ended: its streams are closed.
    Session(String),
}

impl Signal {
    /// The name under which requests wait for the signal; the same list has the names of queues. Names are sent to
    /// other nodes as text with commas and equals signs between them, so both are replaced in a name. Two workers may
    /// then share a name, which is harmless: a signal only makes a fetch look again.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Room(queue) => format!("{ROOM}{queue}"),
            Self::Quiet(worker) => format!("{QUIET}{}", worker.replace([',', '='], "_")),
            Self::Deliveries => DELIVERIES.to_owned(),
            Self::Endpoints => ENDPOINTS.to_owned(),
            Self::Operations => OPERATIONS.to_owned(),
            Self::Operation(id) => format!("{OPERATION}{id}"),
            Self::Session(id) => format!("{SESSION}{id}"),
        }
    }
}

/// A queue, and the number of its new jobs.
pub type ReadyQueue = (Arc<str>, usize);

/// Fetches that wait, by queue.
#[derive(Debug, Default)]
pub struct Wakeups {
    queues: Mutex<HashMap<String, Vec<Arc<Waiter>>>>,
    waiting: AtomicUsize,
    /// The fetches that want only some jobs of their queues.
    picky: AtomicUsize,
    /// Requests that wait for the end of a job.
    pub endings: Arc<Endings>,
    committed: Notify,
    /// Rung by [`Signal::Deliveries`]. The sender of this process waits for it as long as the engine is open, so it is
    /// not counted among the requests that wait.
    deliveries: Notify,
    /// The same for [`Signal::Endpoints`].
    endpoints: Notify,
    /// The same for [`Signal::Operations`].
    operations: Notify,
    /// Rung for each queue that gets jobs, while `watches_queues` says so.
    any_queue: Notify,
    watches_queues: AtomicBool,
    /// Whether the event log is being followed.
    followed: AtomicBool,
    /// An application has inserted jobs by plain SQL.
    inserted: AtomicBool,
    /// Sends signals to other nodes.
    others: OnceLock<UnboundedSender<ReadyQueue>>,
}

#[derive(Debug)]
struct Waiter {
    notify: Notify,
    /// Most jobs that it takes; 0 when it may want none of them: then it is woken in addition to others.
    want: usize,
    /// It was woken and has not looked yet: the next jobs wake another fetch.
    called: AtomicBool,
}

/// A registered fetch; dropping it removes it from the list.
#[derive(Debug)]
pub struct Registration {
    wakeups: Arc<Wakeups>,
    queues: Vec<String>,
    waiter: Arc<Waiter>,
}

impl Wakeups {
    /// Registers a fetch that wants up to `want` jobs of these queues.
    #[must_use]
    pub fn register(self: &Arc<Self>, queues: &[String], want: usize) -> Registration {
        self.add(queues, want.max(1))
    }

    /// Registers a request that waits for a signal.
    #[must_use]
    pub fn register_signal(self: &Arc<Self>, signal: &Signal) -> Registration {
        self.add(&[signal.name()], 1)
    }

    /// Registers a fetch that wants only some of the jobs of these queues. A wake-up does not say which job has come,
    /// so this fetch is woken for every job, in addition to the fetches that would be woken without it.
    #[must_use]
    pub fn register_picky(self: &Arc<Self>, queues: &[String]) -> Registration {
        self.picky.fetch_add(1, Ordering::SeqCst);
        self.add(queues, 0)
    }

    fn add(self: &Arc<Self>, queues: &[String], want: usize) -> Registration {
        let waiter = Arc::new(Waiter { notify: Notify::new(), want, called: AtomicBool::new(false) });
        let mut map = self.lock();
        for queue in queues {
            map.entry(queue.clone()).or_default().push(Arc::clone(&waiter));
        }
        drop(map);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        Registration { wakeups: Arc::clone(self), queues: queues.to_vec(), waiter }
    }

    /// Sets the notifier of the other nodes. Only the first call has an effect.
    pub fn notify_others(&self, sender: UnboundedSender<ReadyQueue>) {
        let _ = self.others.set(sender);
    }

    /// `jobs` jobs became available in a queue, stored by this process.
    pub fn ready(&self, queue: &Arc<str>, jobs: usize) {
        if let Some(others) = self.others.get() {
            // A missing receiver belongs to an engine that is closing.
            let _ = others.send((Arc::clone(queue), jobs));
        }
        self.heard(queue, jobs);
    }

    /// `jobs` jobs became available in a queue.
    pub fn heard(&self, queue: &str, jobs: usize) {
        if queue == DELIVERIES {
            return self.look_for_deliveries();
        }
        if queue == ENDPOINTS {
            return self.endpoints.notify_one();
        }
        if queue == OPERATIONS {
            return self.operations.notify_one();
        }
        if self.watches_queues.load(Ordering::SeqCst) {
            self.any_queue.notify_one();
        }
        if !self.has_waiters() {
            return;
        }
        let map = self.lock();
        let picky = self.picky.load(Ordering::SeqCst) > 0;
        let mut left = jobs;
        for waiter in map.get(queue).into_iter().flatten() {
            if left == 0 && waiter.want > 0 || waiter.called.swap(true, Ordering::SeqCst) {
                continue;
            }
            waiter.notify.notify_one();
            left = left.saturating_sub(waiter.want);
            if left == 0 && !picky {
                break;
            }
        }
    }

    /// Something was committed: the event log may have grown.
    pub fn committed(&self) {
        if self.is_followed() {
            // One follower per engine; a signal that comes while it reads is kept.
            self.committed.notify_one();
        }
    }

    /// Resolves after the next commit, or at once when there was one since the last call.
    pub async fn commit(&self) {
        self.committed.notified().await;
    }

    /// Resolves after the next [`Signal::Deliveries`], or at once when there was one since the last call.
    pub async fn deliveries(&self) {
        self.deliveries.notified().await;
    }

    /// Wakes the sender of this process, which looks for deliveries that are due.
    fn look_for_deliveries(&self) {
        self.deliveries.notify_one();
    }

    /// Resolves after the next [`Signal::Endpoints`], or at once when there was one since the last call.
    pub async fn endpoints(&self) {
        self.endpoints.notified().await;
    }

    /// Resolves after the next [`Signal::Operations`], or at once when there was one since the last call.
    pub async fn operations(&self) {
        self.operations.notified().await;
    }

    /// Sets whether [`any_queue`](Self::any_queue) resolves.
    pub fn watch_queues(&self, watches: bool) {
        self.watches_queues.store(watches, Ordering::SeqCst);
    }

    /// Resolves after jobs have become available in some queue.
    pub async fn any_queue(&self) {
        self.any_queue.notified().await;
    }

    /// Wakes the senders of this process because the time may have moved: they look for what is due.
    pub fn time_moved(&self) {
        self.look_for_deliveries();
        self.endpoints.notify_one();
        self.operations.notify_one();
    }

    /// Sets whether the event log is being followed.
    pub fn follow(&self, followed: bool) {
        self.followed.store(followed, Ordering::SeqCst);
    }

    /// An application has inserted jobs by plain SQL: the maintenance thread imports them before its next tick.
    pub fn rows_inserted(&self) {
        self.inserted.store(true, Ordering::SeqCst);
    }

    /// Whether [`rows_inserted`](Self::rows_inserted) was called since the last call of this function.
    pub fn take_inserted(&self) -> bool {
        self.inserted.swap(false, Ordering::SeqCst)
    }

    /// Whether the event log is being followed.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.followed.load(Ordering::SeqCst)
    }

    /// Wakes every waiter because something unknown has changed. Requests that wait for a worker to become quiet are
    /// not woken, because that wake-up is an answer by itself.
    pub fn all(&self) {
        self.endings.notify_all();
        self.time_moved();
        for waiter in self.lock().iter().filter(|(name, _)| !name.starts_with(QUIET)).flat_map(|(_, waiters)| waiters) {
            waiter.called.store(true, Ordering::SeqCst);
            waiter.notify.notify_one();
        }
    }

    /// Whether any fetch waits.
    #[must_use]
    pub fn has_waiters(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0 || self.endings.is_watched()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<Arc<Waiter>>>> {
        // The map is valid after every statement: a panic elsewhere cannot have left it half changed.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registration {
    /// Resolves when the fetch should look again.
    pub async fn woken(&self) {
        self.waiter.notify.notified().await;
        self.waiter.called.store(false, Ordering::SeqCst);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut map = self.wakeups.lock();
        for queue in &self.queues {
            if let Some(waiters) = map.get_mut(queue) {
                waiters.retain(|waiter| !Arc::ptr_eq(waiter, &self.waiter));
                if waiters.is_empty() {
                    map.remove(queue);
                }
            }
        }
        drop(map);
        self.wakeups.waiting.fetch_sub(1, Ordering::SeqCst);
        if self.waiter.want == 0 {
            self.wakeups.picky.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        // Woken but gone before it looked (timed out, disconnected): another fetch is woken instead.
        if self.waiter.called.load(Ordering::SeqCst) {
            for queue in &self.queues {
                self.wakeups.heard(queue, self.waiter.want);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn queues() -> Vec<String> {
        vec!["q".to_owned()]
    }

    #[tokio::test]
    async fn two_jobs_wake_two_waiters() {
        let wakeups = Arc::new(Wakeups::default());
        let (first, second) = (wakeups.register(&queues(), 1), wakeups.register(&queues(), 1));
        wakeups.heard("q", 1);
        wakeups.heard("q", 1);
        first.woken().await;
        second.woken().await;
    }

    #[tokio::test]
    async fn a_call_to_all_is_no_word_of_a_worker() {
        let wakeups = Arc::new(Wakeups::default());
        let (fetch, quiet) = (wakeups.register(&queues(), 1), wakeups.register_signal(&Signal::Quiet("w".to_owned())));
        wakeups.all();
        fetch.woken().await;
        assert!(quiet.woken().now_or_never().is_none());
        wakeups.heard("quiet:w", 1);
        quiet.woken().await;
    }

    #[tokio::test]
    async fn a_waiter_that_wants_some_jobs_only_takes_no_call_from_others() {
        let wakeups = Arc::new(Wakeups::default());
        let (picky, other, late) =
            (wakeups.register_picky(&queues()), wakeups.register(&queues(), 1), wakeups.register_picky(&queues()));
        wakeups.heard("q", 1);
        picky.woken().await;
        other.woken().await;
        late.woken().await;
    }

    #[tokio::test]
    async fn one_job_wakes_one_waiter_and_a_call_is_handed_on() {
        let wakeups = Arc::new(Wakeups::default());
        let (first, second) = (wakeups.register(&queues(), 1), wakeups.register(&queues(), 1));
        wakeups.heard("q", 1);
        assert!(second.woken().now_or_never().is_none());
        drop(first);
        second.woken().await;
        drop(second);
        assert!(!wakeups.has_waiters());
    }
}
