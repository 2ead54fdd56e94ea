//! One tokio runtime per process, made on first use.
//!
//! After a fork the child finds a runtime that has no threads. It is left alone (dropping it would wait for threads that
//! do not exist) and a new one takes its place. No lock is taken on the way: it might have been inherited locked.
use std::mem::ManuallyDrop;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::error::AbiError;
use crate::process::Owner;

/// Worker threads: fetches, heartbeats and an embedded engine need little processor time.
const THREADS: usize = 2;

struct Slot {
    owner: Owner,
    runtime: ManuallyDrop<Runtime>,
}

static AT_THREAD_START: OnceLock<fn()> = OnceLock::new();

/// What every thread of the runtime does first. Said before the runtime is made; the first word counts.
pub fn at_thread_start(run: fn()) {
    let _ = AT_THREAD_START.set(run);
}

static CURRENT: ArcSwapOption<Slot> = ArcSwapOption::const_empty();

/// The runtime of this process.
///
/// # Errors
/// When the operating system gives no threads.
pub fn handle() -> Result<Handle, AbiError> {
    loop {
        let current = CURRENT.load();
        if let Some(slot) = current.as_ref().filter(|slot| slot.owner.is_current()) {
            return Ok(slot.runtime.handle().clone());
        }
        let fresh = Arc::new(Slot { owner: Owner::current(), runtime: ManuallyDrop::new(build()?) });
        let before = CURRENT.compare_and_swap(&current, Some(Arc::clone(&fresh)));
        if same(before.as_ref(), current.as_ref()) {
            return Ok(fresh.runtime.handle().clone());
        }
        // Another thread was faster: ours has not been used yet and may go.
        if let Ok(slot) = Arc::try_unwrap(fresh) {
            ManuallyDrop::into_inner(slot.runtime).shutdown_background();
        }
    }
}

fn build() -> Result<Runtime, AbiError> {
    // Before the first thread that may open a file.
    #[cfg(unix)]
    crate::fork::guard();
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(THREADS).thread_name("ojs").enable_all().on_thread_stop(ojs_engine::threads::ends);
    if let Some(run) = AT_THREAD_START.get() {
        builder.on_thread_start(run);
    }
    builder.build().map_err(|e| AbiError::System(format!("cannot start threads: {e}")))
}

fn same(a: Option<&Arc<Slot>>, b: Option<&Arc<Slot>>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

/// Runs `future` on the runtime and waits for it, at most `limit`; for the end of a process.
pub fn finish_within<F: Future<Output = ()> + Send + 'static>(limit: Duration, future: F) {
    let Ok(handle) = handle() else { return };
    let (done, ended) = std::sync::mpsc::channel();
    handle.spawn(async move {
        future.await;
        let _ = done.send(());
    });
    let _ = ended.recv_timeout(limit);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_get_the_same_runtime() {
        let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(|| handle().unwrap().id())).collect();
        let ids: std::collections::HashSet<_> = threads.into_iter().map(|t| t.join().unwrap().to_string()).collect();
        assert_eq!(ids.len(), 1);
    }
}
