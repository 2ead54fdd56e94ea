//! The seam between the engine and whatever keeps jobs.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use futures_util::future::BoxFuture;

use crate::error::{Applied, StoreError};
use crate::kernel::typed::{Asked, Command, Query, Submission, Submitted};

/// Keeps jobs. Grouping of commands into transactions is the store's own business (decision record 3).
pub trait Store: Send + Sync + 'static {
    /// Applies a command; says so after it is as durable as it asked to be.
    fn submit(&self, command: Arc<dyn Submitted>) -> BoxFuture<'_, Applied<()>>;
    /// Answers a query from a snapshot that holds every command confirmed before.
    fn ask(&self, query: Arc<dyn Asked>) -> BoxFuture<'_, Applied<()>>;
    /// Does now what time has made due: promotion, lease expiry, time-outs, pruning. Stores do it on their own as well; tests that
    /// move the clock do not want to wait for that.
    fn sweep(&self) -> BoxFuture<'_, Applied<()>>;
    /// Whether what writes is alive and may confirm changes; an error says why not. Asked at most once a second, whatever the number of
    /// callers.
    fn probe(&self) -> BoxFuture<'_, Result<(), StoreError>>;
    /// The look through the file that began when the store was opened after an unclean end, if there was one.
    fn checkup(&self) -> Option<Arc<Checkup>> {
        None
    }
    /// Finishes what was accepted, then releases files. Later calls answer [`StoreError::Closed`].
    fn close(&self) -> BoxFuture<'_, ()>;
    /// `memory`, `sqlite`: for manifest and health.
    fn name(&self) -> &'static str;
}

impl dyn Store + '_ {
    /// Carries out a command. It is on its way when this returns; the future waits for the reply.
    pub fn execute<C: Command>(&self, command: C) -> impl Future<Output = Applied<C::Reply>> + Send {
        let submission = Arc::new(Submission::new(command));
        let done = self.submit(Arc::clone(&submission) as Arc<dyn Submitted>);
        async move {
            done.await?;
            submission.take()
        }
    }

    /// Answers a query. It is on its way when this returns; the future waits for the reply.
    pub fn query<Q: Query>(&self, query: Q) -> impl Future<Output = Applied<Q::Reply>> + Send {
        let submission = Arc::new(Submission::new(query));
        let done = self.ask(Arc::clone(&submission) as Arc<dyn Asked>);
        async move {
            done.await?;
            submission.take()
        }
    }
}

/// What a look through a file has found so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Finding {
    /// It goes on.
    #[default]
    Running,
    /// Nothing is wrong.
    Sound,
    /// The file is damaged: what and where.
    Damaged(String),
    /// It could not be finished: why.
    Unfinished(String),
}

/// Checks a file in the background after an unclean end. No command waits for it.
#[derive(Debug, Default)]
pub struct Checkup {
    finding: Mutex<Finding>,
    stopped: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Checkup {
    /// What it has found so far.
    #[must_use]
    pub fn finding(&self) -> Finding {
        self.finding.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes the outcome.
    pub(crate) fn found(&self, finding: Finding) {
        *self.finding.lock().unwrap_or_else(PoisonError::into_inner) = finding;
    }

    /// Lets it end early: the store is being closed.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Lets it end early, and waits for that.
    pub(crate) fn end(&self) {
        self.stop();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A panic in it was printed; there is nothing to hand on.
        let _ = thread.map(JoinHandle::join);
    }

    /// The thread that looks.
    pub(crate) fn runs_in(&self, thread: JoinHandle<()>) {
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
    }

    /// Whether it is to end early.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}
