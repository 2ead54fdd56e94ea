//! Locks that work after a panic: poisoning is ignored, because the data behind them is consistent after every
//! statement.
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Takes the lock. All locks of this crate are leaves: nothing is called out while one is held.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits at most `nap`; `None` waits for a notification.
pub(crate) fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>, nap: Option<Duration>) -> MutexGuard<'a, T> {
    match nap {
        None => condvar.wait(guard).unwrap_or_else(PoisonError::into_inner),
        Some(nap) => condvar.wait_timeout(guard, nap).unwrap_or_else(PoisonError::into_inner).0,
    }
}
