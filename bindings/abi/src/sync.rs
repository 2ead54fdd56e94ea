//! Locks that survive a panic: a poisoned lock is taken over, because the state behind it is whole after every statement.
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
