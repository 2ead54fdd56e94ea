//! The loop of a worker without the handlers: a [`Dispatch`] runs those.
use std::sync::Arc;

use super::handle::WorkerHandle;
use super::heartbeat;
use super::options::WorkerOptions;
use super::shared::Shared;
use super::worker_loop::WorkerLoop;
use crate::dispatch::Dispatch;
use crate::transport::Transport;

/// Fetches jobs, hands them to a [`Dispatch`], and reports outcomes. Language bindings use it directly; Rust programs
/// use [`Worker`](crate::Worker).
#[derive(Debug)]
pub struct WorkerDriver;

impl WorkerDriver {
    /// Starts a worker on the current tokio runtime and returns at once.
    pub fn start(transport: Arc<dyn Transport>, options: WorkerOptions, dispatch: Arc<dyn Dispatch>) -> WorkerHandle {
        let handle = Self::prepare(transport, options, dispatch);
        Self::begin(&handle);
        handle
    }

    /// Prepares a worker that fetches nothing before [`begin`](Self::begin), so that its handle can be stored before a
    /// job comes.
    #[must_use]
    pub fn prepare(transport: Arc<dyn Transport>, options: WorkerOptions, dispatch: Arc<dyn Dispatch>) -> WorkerHandle {
        WorkerHandle { shared: Arc::new(Shared::new(transport, options, dispatch)) }
    }

    /// Starts a prepared worker on the current tokio runtime. Call it once.
    pub fn begin(handle: &WorkerHandle) {
        let beats = Arc::clone(&handle.shared);
        tokio::spawn(async move { heartbeat::supervise(&beats).await });
        tokio::spawn(WorkerLoop::new(Arc::clone(&handle.shared)).supervise());
    }
}
