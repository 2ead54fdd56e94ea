//! A transport written in the host language, for tests and for unusual networks: requests wait in a mailbox, a host
//! thread pulls them and gives the answers back. The core never calls into the host.
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use ojs::transport::{BoxFuture, Enqueued, Request, Response, Transport, TransportError, TransportErrorKind};
use tokio::sync::oneshot;

use crate::doorbell::Doorbell;
use crate::error::AbiError;
use crate::process::Owner;
use crate::sync::{lock, wait};

/// A request on its way to the host.
#[derive(Debug)]
pub struct HostRequest {
    /// The answer goes by this.
    pub ticket: u64,
    /// `GET`, `POST`, …
    pub method: String,
    /// Relative to `/ojs/v1`, or `/ojs/manifest`.
    pub path: String,
    /// JSON text.
    pub body: Option<Bytes>,
}

type Answer = Result<Response, TransportError>;

#[derive(Debug, Default)]
struct PendingRequests {
    requests: VecDeque<HostRequest>,
    answers: HashMap<u64, oneshot::Sender<Answer>>,
    next: u64,
    closed: bool,
}

/// The mailbox. Implements [`Transport`].
#[derive(Debug)]
pub struct HostTransport {
    owner: Owner,
    pending: Mutex<PendingRequests>,
    filled: Condvar,
    doorbell: Option<Box<dyn Doorbell>>,
    /// Signals to workers over this transport that jobs were enqueued.
    enqueued: Enqueued,
}

impl HostTransport {
    /// An empty mailbox, for threads that wait in [`pull`](Self::pull).
    #[must_use]
    pub fn new() -> Arc<Self> {
        Self::with(None)
    }

    /// An empty mailbox for an event loop: the bell is rung for every request.
    #[must_use]
    pub fn with_doorbell(doorbell: Box<dyn Doorbell>) -> Arc<Self> {
        Self::with(Some(doorbell))
    }

    fn with(doorbell: Option<Box<dyn Doorbell>>) -> Arc<Self> {
        Arc::new(Self {
            owner: Owner::current(),
            pending: Mutex::default(),
            filled: Condvar::new(),
            doorbell,
            enqueued: Enqueued::default(),
        })
    }

    /// The next request, `None` when none came in time.
    ///
    /// # Errors
    /// Closed or forked.
    pub fn pull(&self, limit: Duration) -> Result<Option<HostRequest>, AbiError> {
        self.owner.check("a transport")?;
        let until = Instant::now() + limit;
        let mut pending = lock(&self.pending);
        loop {
            if let Some(request) = pending.requests.pop_front() {
                return Ok(Some(request));
            }
            if pending.closed {
                return Err(AbiError::Closed("the transport"));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            pending = wait(&self.filled, pending, Some(left));
        }
    }

    /// Answers a request.
    pub fn reply(&self, ticket: u64, status: u16, body: Bytes) {
        self.answer(ticket, Ok(Response::new(status, body)));
    }

    /// Says that there was no answer; the message is for people.
    pub fn fail(&self, ticket: u64, message: String) {
        self.answer(ticket, Err(TransportError::new(TransportErrorKind::Connect, message)));
    }

    fn answer(&self, ticket: u64, answer: Answer) {
        let waiting = lock(&self.pending).answers.remove(&ticket);
        if let Some(waiting) = waiting {
            // The asker may have given up.
            let _ = waiting.send(answer);
        }
    }

    /// Fails everything that waits, and lets the host's threads go home.
    pub fn shut(&self) {
        let answers = {
            let mut pending = lock(&self.pending);
            pending.closed = true;
            pending.requests.clear();
            std::mem::take(&mut pending.answers)
        };
        self.filled.notify_all();
        for (_, waiting) in answers {
            let _ = waiting.send(Err(closed()));
        }
    }
}

fn closed() -> TransportError {
    TransportError::new(TransportErrorKind::Closed, "the transport is closed")
}

impl Transport for HostTransport {
    fn request(&self, request: Request) -> BoxFuture<'_, Answer> {
        let (sender, receiver) = oneshot::channel();
        let enqueues = request.enqueues();
        {
            let mut pending = lock(&self.pending);
            if !pending.closed {
                pending.next += 1; // 0 is no request
                let ticket = pending.next;
                pending.answers.insert(ticket, sender);
                let Request { method, path, body, .. } = request;
                pending.requests.push_back(HostRequest { ticket, method: method.to_string(), path: path.into_owned(), body });
            }
        }
        self.filled.notify_one();
        if let Some(doorbell) = &self.doorbell {
            doorbell.ring();
        }
        // A closed mailbox has dropped the sender.
        Box::pin(async move {
            let answer = receiver.await.unwrap_or_else(|_| Err(closed()));
            self.enqueued.observe(enqueues, &answer);
            answer
        })
    }

    fn enqueue_signal(&self) -> Option<&Enqueued> {
        Some(&self.enqueued)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.shut();
        Box::pin(async {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ojs::Client;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_host_thread_answers() {
        let transport = HostTransport::new();
        let host = Arc::clone(&transport);
        let thread = std::thread::spawn(move || {
            let request = host.pull(Duration::from_secs(60)).unwrap().unwrap();
            assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/jobs"));
            host.reply(request.ticket, 201, Bytes::from_static(b"{\"job\":{}}"));
            host.pull(Duration::from_secs(60)).map(|_| ())
        });
        let client = Client::new(Arc::clone(&transport) as Arc<dyn Transport>);
        let answer = client.enqueue_raw(Bytes::from_static(b"{\"type\":\"a\",\"args\":[]}")).await.unwrap();
        assert_eq!(answer.as_ref(), b"{\"job\":{}}");
        client.close().await;
        assert!(matches!(thread.join().unwrap(), Err(AbiError::Closed(_))));
        assert!(client.enqueue_raw(Bytes::from_static(b"{}")).await.is_err());
    }
}
