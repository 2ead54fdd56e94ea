//! A value of a `static` that is made when it is first used, without a lock.
use std::ops::Deref;

use once_cell::race::OnceBox;

/// Like [`LazyLock`](std::sync::LazyLock), for processes that fork. Threads that use it first at the same time each
/// make the value, and the first one stays. With a lock, a child that was forked while another thread of its parent
/// made the value would wait for ever.
///
/// ```
/// static GREETING: ojs_model::lazy::Lazy<String> = ojs_model::lazy::Lazy::new(|| "hello".repeat(2));
/// assert_eq!(*GREETING, "hellohello");
/// ```
#[derive(Debug)]
pub struct Lazy<T> {
    value: OnceBox<T>,
    make: fn() -> T,
}

impl<T> Lazy<T> {
    /// `make` may run more than once, so it only makes the value.
    #[must_use]
    pub const fn new(make: fn() -> T) -> Self {
        Self { value: OnceBox::new(), make }
    }
}

impl<T> Deref for Lazy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.get_or_init(|| Box::new((self.make)()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::sync::{Mutex, MutexGuard};

    use super::*;

    static FIRST: AtomicBool = AtomicBool::new(true);
    static STARTED: Mutex<Option<Sender<()>>> = Mutex::new(None);
    static GO_ON: Mutex<Option<Receiver<()>>> = Mutex::new(None);
    /// The first thread that makes it waits until the test lets it go on. For the second one it is a thread that does
    /// not come back, as in a forked child.
    static VALUE: Lazy<u32> = Lazy::new(|| {
        if !FIRST.swap(false, Ordering::Relaxed) {
            return 2;
        }
        take(&STARTED).send(()).unwrap();
        take(&GO_ON).recv().unwrap();
        1
    });

    fn take<T>(place: &Mutex<Option<T>>) -> T {
        let mut place: MutexGuard<'_, Option<T>> = place.lock().unwrap();
        place.take().unwrap()
    }

    #[test]
    fn a_thread_that_does_not_finish_stops_no_other() {
        let (started, has_started) = channel();
        let (go_on, may_go_on) = channel();
        *STARTED.lock().unwrap() = Some(started);
        *GO_ON.lock().unwrap() = Some(may_go_on);
        let slow = std::thread::spawn(|| *VALUE);
        has_started.recv().unwrap();
        assert_eq!(*VALUE, 2);
        go_on.send(()).unwrap();
        assert_eq!(slow.join().unwrap(), 2, "the first value stays");
    }
}
