//! How a lane tells its host that there is work, without calling into the host.
use std::fmt;

/// Rung on the edge from empty to non-empty, from any thread, never with a lock held. Must not block.
pub trait Doorbell: Send + Sync + fmt::Debug {
    /// Rings once.
    fn ring(&self);
    /// Makes it silent again, before the mailbox is looked at.
    fn quiet(&self) {}
}

impl<T: Doorbell + ?Sized> Doorbell for std::sync::Arc<T> {
    fn ring(&self) {
        (**self).ring();
    }

    fn quiet(&self) {
        (**self).quiet();
    }
}

/// A doorbell that makes a file descriptor readable: what an event loop can wait for.
///
/// A socket pair and not an eventfd, because the standard library has it on every Unix and without unsafe code.
#[cfg(unix)]
#[derive(Debug)]
pub struct SocketDoorbell {
    near: std::os::unix::net::UnixStream,
    far: std::os::unix::net::UnixStream,
}

#[cfg(unix)]
impl SocketDoorbell {
    /// # Errors
    /// When the process is out of file descriptors.
    pub fn new() -> std::io::Result<Self> {
        let (near, far) = std::os::unix::net::UnixStream::pair()?;
        near.set_nonblocking(true)?;
        far.set_nonblocking(true)?;
        Ok(Self { near, far })
    }

    /// The descriptor that becomes readable. The host must not close it.
    #[must_use]
    pub fn fd(&self) -> std::os::fd::RawFd {
        use std::os::fd::AsRawFd;
        self.far.as_raw_fd()
    }
}

#[cfg(unix)]
impl Doorbell for SocketDoorbell {
    fn ring(&self) {
        use std::io::Write;
        // A full buffer means that it rings already.
        let _ = (&self.near).write(&[1]);
    }

    fn quiet(&self) {
        use std::io::Read;
        let mut sink = [0_u8; 64];
        while matches!((&self.far).read(&mut sink), Ok(n) if n == sink.len()) {}
    }
}
