//! A connection whose other end must read: what is written and not taken in time ends it.
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// Slowest reader that is waited for, bytes a second: below it, a connection is held open for its own sake.
const SLOWEST: u64 = 1024;

/// A stream that gives up writing to a client that does not read.
#[derive(Debug)]
pub struct Unread<S> {
    stream: S,
    patience: Duration,
    /// Runs while something is left to write.
    timer: Option<Pin<Box<Sleep>>>,
    /// Since the timer was set.
    written: u64,
}

impl<S> Unread<S> {
    /// Gives up when nothing, or next to nothing, is taken for so long.
    pub fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, timer: None, written: 0 }
    }

    /// What a write that cannot go on amounts to.
    fn blocked(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let until = Instant::now() + self.patience;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(until)));
        while timer.as_mut().poll(context).is_ready() {
            if self.written < (self.patience.as_secs() * SLOWEST).max(1) {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read its answer")));
            }
            self.written = 0;
            timer.as_mut().reset(until);
        }
        Poll::Pending
    }

    fn wrote(&mut self, context: &mut Context<'_>, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match wrote {
            Poll::Pending => self.blocked(context),
            Poll::Ready(wrote) => {
                self.written += wrote.as_ref().map_or(0, |bytes| *bytes as u64);
                Poll::Ready(wrote)
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Unread<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Unread<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(context, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.wrote(context, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// HTTP flushes when it has written all there is: the client has read, or the system holds it.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        (self.timer, self.written) = (None, 0);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_is_given_up_and_who_reads_slowly_is_not() {
        let (ours, theirs) = tokio::io::duplex(1024);
        let mut ours = Unread::new(ours, Duration::from_secs(30));
        let error = ours.write_all(&[0; 4096]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(theirs);

        let (ours, mut theirs) = tokio::io::duplex(1024);
        let mut ours = Unread::new(ours, Duration::from_secs(30));
        let reader = tokio::spawn(async move {
            let (mut all, mut buffer) = (0, [0; 1024]);
            while all < 256 * 1024 {
                tokio::time::sleep(Duration::from_millis(500)).await;
                all += theirs.read(&mut buffer).await.unwrap();
            }
        });
        ours.write_all(&vec![0; 256 * 1024]).await.unwrap();
        reader.await.unwrap();
    }
}
