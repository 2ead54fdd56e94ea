//! Signals: the library installs no handlers, and its threads block SIGPIPE.

/// For threads of the library: writing to a connection whose other end is gone is an error there, and not SIGPIPE, which would end a
/// program that has no handler for it. (Most hosts ignore the signal; C programs and Go do not.)
#[cfg(unix)]
pub(crate) fn block_sigpipe() {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the first call fills the set, the others read it; the old mask is not wanted.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
    }
}

/// Elsewhere there is no such signal.
#[cfg(not(unix))]
pub(crate) fn block_sigpipe() {}
