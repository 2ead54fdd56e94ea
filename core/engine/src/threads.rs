//! Ends of threads, in processes that fork.
//!
//! The standard library takes a lock of the process for a moment when a thread ends. A child that is forked at this
//! moment inherits the lock held, and each thread of the child would wait for it at its end. So each thread of the core
//! says when it ends, and a fork waits until such threads are gone.
use std::cell::RefCell;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

/// How many threads are ending.
static ENDING: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

thread_local! {
    /// What a thread keeps is dropped after the standard library has released its lock.
    static END: RefCell<Option<End>> = const { RefCell::new(None) };
    static HELD: RefCell<Option<MutexGuard<'static, usize>>> = const { RefCell::new(None) };
}

struct End;

impl End {
    fn begin() -> Self {
        *ending() += 1;
        Self
    }
}

impl Drop for End {
    fn drop(&mut self) {
        *ending() -= 1;
        ENDED.notify_all();
    }
}

/// Says when it is dropped that its thread ends.
#[derive(Debug)]
pub struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        ends();
    }
}

/// Starts a thread of the core.
///
/// # Errors
/// When the operating system gives no thread.
pub fn spawn<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.to_owned()).spawn(move || {
        let _end = AtEnd;
        work()
    })
}

/// The calling thread ends: it does nothing more that takes time.
pub fn ends() {
    let _ = END.try_with(|end| {
        end.borrow_mut().get_or_insert_with(End::begin);
    });
}

/// Waits until no thread is ending, and lets none begin to end until [`let_go`].
pub fn hold() {
    let mut held = ending();
    while *held > 0 {
        held = ENDED.wait(held).unwrap_or_else(PoisonError::into_inner);
    }
    // A thread that is itself ending cannot keep the lock, so another thread may end during its fork.
    let _ = HELD.try_with(|place| *place.borrow_mut() = Some(held));
}

/// After [`hold`], in the parent and in the child.
pub fn let_go() {
    let _ = HELD.try_with(|held| held.borrow_mut().take());
}

fn ending() -> MutexGuard<'static, usize> {
    ENDING.lock().unwrap_or_else(PoisonError::into_inner)
}
