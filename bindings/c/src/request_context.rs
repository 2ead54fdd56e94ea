//! What the request hands on that a thread works on.
use std::cell::RefCell;

thread_local! {
    /// A JSON object; empty outside of a request.
    static CURRENT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// That of this thread; empty outside of a request.
pub(crate) fn current() -> String {
    CURRENT.with_borrow(Clone::clone)
}

/// Runs something with the context of another thread, or of a job.
pub(crate) fn scoped<T>(context: String, inside: impl FnOnce() -> T) -> T {
    struct Before(String);
    impl Drop for Before {
        fn drop(&mut self) {
            CURRENT.with_borrow_mut(|current| std::mem::swap(current, &mut self.0));
        }
    }
    let _before = Before(CURRENT.replace(context));
    inside()
}

/// Replaces it.
pub(crate) fn set(context: String) {
    CURRENT.set(context);
}
