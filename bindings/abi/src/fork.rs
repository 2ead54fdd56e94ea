//! Locks that must be free when a process forks: SQLite's own locks, and that of the log records.
//!
//! SQLite guards its list of open files, its memory counters and a few other things with locks of the process. A thread that opens or closes a file
//! at the moment of a fork holds one; the child has the lock and not the thread, so it would wait for ever when it opens a store of its own.
//! So the thread that forks takes them all first, and both sides let go of them. The same is true of the log records that wait for the host.
//! And it waits until no thread is ending, because the standard library takes a lock then.
#![expect(unsafe_code, reason = "SQLite's locks and pthread_atfork have no safe form")]

use std::sync::atomic::{AtomicBool, Ordering};

use ojs_engine::threads;
use rusqlite::ffi;

/// In the order in which SQLite takes one while it holds another.
const LOCKS: [i32; 6] = [
    ffi::SQLITE_MUTEX_STATIC_MAIN,
    // The list of open files.
    ffi::SQLITE_MUTEX_STATIC_VFS1,
    ffi::SQLITE_MUTEX_STATIC_LRU,
    ffi::SQLITE_MUTEX_STATIC_PMEM,
    ffi::SQLITE_MUTEX_STATIC_PRNG,
    ffi::SQLITE_MUTEX_STATIC_MEM,
];

/// Makes forks of this process wait until no thread holds a lock of SQLite. Cheap after the first call.
pub fn guard() {
    // No `Once`: a child that is forked meanwhile would wait for the thread that has begun.
    static BEGUN: AtomicBool = AtomicBool::new(false);
    if BEGUN.swap(true, Ordering::AcqRel) {
        return;
    }
    // SAFETY: after it has succeeded the static locks exist for as long as the process. The handlers are functions without state.
    let refused = unsafe {
        let started = ffi::sqlite3_initialize();
        if started == ffi::SQLITE_OK { libc::pthread_atfork(Some(before), Some(after), Some(after)) } else { started }
    };
    if refused != 0 {
        tracing::warn!(code = refused, "a fork while another thread opens a file or logs may leave a child that waits for ever");
    }
}

unsafe extern "C" fn before() {
    // First: a thread that ends may still need the other locks, and no thread ends while it holds one of them.
    threads::hold();
    for lock in LOCKS {
        // SAFETY: a static lock is not made here but looked up, and SQLite takes null for none.
        unsafe { ffi::sqlite3_mutex_enter(ffi::sqlite3_mutex_alloc(lock)) };
    }
    // Last: a thread that holds one of SQLite's may log, and one that logs takes no other.
    crate::logs::hold();
}

/// In the parent and in the child: each has the thread that took them.
unsafe extern "C" fn after() {
    crate::logs::let_go();
    for lock in LOCKS.into_iter().rev() {
        // SAFETY: as above, and this thread took them in `before`.
        unsafe { ffi::sqlite3_mutex_leave(ffi::sqlite3_mutex_alloc(lock)) };
    }
    threads::let_go();
}
