//! What goes on on a connection: requests under way, answers that wait to be read, silence. A connection that has been silent for too
//! long ends, whatever its protocol: HTTP/2 has pings that keep one open for ever.
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::time::Instant;

/// Bytes of an answer that are handed to HTTP/2 at a time: what it has taken it keeps until the client wants it.
const PIECE: usize = 64 * 1024;

/// How long a connection may be what.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Without a request.
    pub idle: Duration,
    /// With an answer that is not read.
    pub write: Duration,
    /// Altogether; requests under way are completed.
    pub age: Duration,
}

/// What becomes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Take no more requests, end with the last.
    Retire,
    /// End now.
    Cut,
}

/// One connection.
#[derive(Debug)]
pub struct Activity {
    patience: Patience,
    born: Instant,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Requests that are not answered in full.
    open: usize,
    /// When there was last one.
    quiet_since: Instant,
    retired: Option<Instant>,
    /// Answers of which a part is not taken, since when.
    unread: HashMap<u64, Instant>,
    next: u64,
}

impl Activity {
    pub fn new(patience: Patience) -> Arc<Self> {
        let now = Instant::now();
        let state = State { open: 0, quiet_since: now, retired: None, unread: HashMap::new(), next: 0 };
        Arc::new(Self { patience, born: now, state: Mutex::new(state) })
    }

    /// Waits until something must be done.
    pub async fn watch(&self) -> Verdict {
        loop {
            match self.judge(Instant::now()) {
                Ok(verdict) => return verdict,
                Err(until) => tokio::time::sleep_until(until).await,
            }
        }
    }

    /// What must be done, or when to look again.
    fn judge(&self, now: Instant) -> Result<Verdict, Instant> {
        let Patience { idle, write, age } = self.patience;
        let mut state = self.lock();
        if state.unread.values().any(|since| now >= *since + write) {
            return Ok(Verdict::Cut);
        }
        // An answer may become unread at any time from now on.
        let mut until = state.unread.values().min().map_or(now, |since| *since) + write;
        match state.retired {
            Some(since) if state.open == 0 => {
                // HTTP/2 may hold answers that were handed over and are not read.
                let end = since.max(state.quiet_since) + write;
                if now >= end {
                    return Ok(Verdict::Cut);
                }
                until = until.min(end);
            }
            Some(_) => {}
            None => {
                let quiet = (state.open == 0).then(|| state.quiet_since + idle);
                let end = quiet.map_or(self.born + age, |quiet| quiet.min(self.born + age));
                if now >= end {
                    state.retired = Some(now);
                    return Ok(Verdict::Retire);
                }
                until = until.min(end);
            }
        }
        Err(until)
    }

    /// A request has come.
    fn begin(self: &Arc<Self>) -> Serving {
        self.lock().open += 1;
        Serving(Arc::clone(self))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request, until its answer has been handed over.
#[derive(Debug)]
struct Serving(Arc<Activity>);

impl Drop for Serving {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.open -= 1;
        state.quiet_since = Instant::now();
    }
}

/// A router whose requests count as activity of a connection.
#[derive(Debug, Clone)]
pub struct Watched {
    router: axum::Router,
    activity: Arc<Activity>,
}

impl Watched {
    pub fn new(router: axum::Router, activity: Arc<Activity>) -> Self {
        Self { router, activity }
    }
}

impl tower::Service<http::Request<Incoming>> for Watched {
    type Response = http::Response<Answer>;
    type Error = std::convert::Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Incoming>) -> Self::Future {
        let serving = self.activity.begin();
        let in_pieces = request.version() == http::Version::HTTP_2;
        let answering = self.router.call(request);
        Box::pin(async move {
            let answer = answering.await?;
            Ok(answer.map(|body| {
                let mut answer = Answer { body, rest: Bytes::new(), in_pieces, unread: None, serving };
                answer.handed_over();
                answer
            }))
        })
    }
}

/// The body of an answer.
#[derive(Debug)]
pub struct Answer {
    body: axum::body::Body,
    /// What does not fit into a piece.
    rest: Bytes,
    in_pieces: bool,
    /// Its number among those of which a part is not taken.
    unread: Option<u64>,
    serving: Serving,
}

impl Answer {
    /// HTTP asks for more: what it had is on its way.
    fn taken(&mut self) {
        if let Some(number) = self.unread.take() {
            self.serving.0.lock().unread.remove(&number);
        }
    }

    /// HTTP/2 asks for more when the client has taken what there was. HTTP/1 stops at its socket, which has a limit of its own.
    fn handed_over(&mut self) {
        if !self.in_pieces || hyper::body::Body::is_end_stream(self) {
            return;
        }
        let mut state = self.serving.0.lock();
        state.next += 1;
        let number = state.next;
        state.unread.insert(number, Instant::now());
        drop(state);
        self.unread = Some(number);
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.taken();
    }
}

impl hyper::body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.taken();
        let mut data = std::mem::take(&mut self.rest);
        if data.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => data = bytes,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                end => return Poll::Ready(end),
            }
        }
        if self.in_pieces && data.len() > PIECE {
            self.rest = data.split_off(PIECE);
        }
        self.handed_over();
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut all = SizeHint::new();
        all.set_lower(hint.lower() + rest);
        if let Some(upper) = hint.upper() {
            all.set_upper(upper + rest);
        }
        all
    }
}
