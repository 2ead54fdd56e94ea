//! A listening socket in front of a router: connections within limits, slow and silent clients cut, an orderly end.
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::UPGRADE;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::http::activity::{Activity, Patience, Verdict, Watched};
use crate::http::client_limit::{ClientLimit, Guest, MAX_WAITING, MAX_WAITING_PER_CLIENT, Peer, Slot};
use crate::http::unread::Unread;

/// Request line and headers of one request.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// How long requests under way may take once the server stops (protocol section 5.8: all within 30 s).
const DRAIN_TIMEOUT: Duration = Duration::from_secs(25);
/// Pause after an accept that failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);
/// Connections that are turned away are logged once in so long.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// What clients may take of a server. The defaults are the tuned values.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Connections served at a time; further ones wait in the backlog of the operating system.
    pub connections: usize,
    /// Connections of one client address; further ones are closed at once.
    pub connections_per_client: usize,
    /// Requests that wait for jobs, results or events, in all.
    pub waiting: usize,
    /// The same for one client address, and for one key.
    pub waiting_per_client: usize,
    /// A client gets this long to send its request line and headers.
    pub header_timeout: Duration,
    /// A connection without a request ends after this time.
    pub idle_timeout: Duration,
    /// A connection ends when an answer is not read for this time.
    pub write_timeout: Duration,
    /// A connection takes no more requests after this time; those under way are completed.
    pub connection_age: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            connections_per_client: 5_000,
            waiting: MAX_WAITING,
            waiting_per_client: MAX_WAITING_PER_CLIENT,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(30),
            connection_age: Duration::from_secs(3600),
        }
    }
}

/// A bound address.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
    limits: Limits,
}

impl Listener {
    /// Binds an address; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address is taken or not ours.
    pub async fn bind(address: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, limits: Limits::default() })
    }

    /// Other limits than the default ones.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The address it listens on, with the real port.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` resolves; then calls `stopping`, stops accepting, and answers requests under way.
    pub async fn run(self, router: axum::Router, shutdown: impl Future<Output = ()>, stopping: impl FnOnce()) {
        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        let permits = Arc::new(Semaphore::new(self.limits.connections));
        let client_limit = Arc::new(ClientLimit::new(usize::MAX, self.limits.connections_per_client));
        let limits = Arc::new(self.limits);
        let mut told: Option<Instant> = None;
        tokio::pin!(shutdown);
        loop {
            let permit = tokio::select! {
                () = &mut shutdown => break,
                permit = Arc::clone(&permits).acquire_owned() => permit,
            };
            let accepted = tokio::select! {
                () = &mut shutdown => break,
                accepted = self.listener.accept() => accepted,
            };
            let (stream, address) = match accepted {
                Ok(accepted) => accepted,
                // Out of file descriptors, or the client is gone already: the next one may do better.
                Err(error) => {
                    tracing::warn!(%error, "accept failed");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let peer = Peer::of(address.ip());
            let Ok(slot) = client_limit.take(&Guest { peer: Some(peer), key: None }) else {
                if told.is_none_or(|at| at.elapsed() > TELL_EVERY) {
                    tracing::warn!(client = %peer.0, most = limits.connections_per_client, "a client has too many connections");
                    told = Some(Instant::now());
                }
                continue;
            };
            let held = Held(Arc::new((permit.ok(), slot, tasks.token())));
            tasks.spawn(serve(stream, peer, router.clone(), stop.clone(), Arc::clone(&limits), held));
        }
        // Requests under way end soon, and further ones are refused, before new connections are.
        stopping();
        stop.cancel();
        drop(self.listener);
        tasks.close();
        if tokio::time::timeout(DRAIN_TIMEOUT, tasks.wait()).await.is_err() {
            tracing::warn!(connections = tasks.len(), "connections still busy after the drain time were cut");
        }
    }
}

/// What a connection holds until it ends: its place in the server, that of its client, and what a stopping server waits
/// for. A request that becomes a WebSocket keeps it.
#[derive(Debug, Clone)]
pub struct Held(#[allow(dead_code, reason = "it is dropped")] Arc<(Option<OwnedSemaphorePermit>, Slot, TaskTrackerToken)>);

async fn serve(stream: TcpStream, peer: Peer, router: axum::Router, stop: CancellationToken, limits: Arc<Limits>, held: Held) {
    // Answers are small, and a client waits for each.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "set_nodelay");
    }
    let speaks = tokio::select! {
        speaks = tokio::time::timeout(limits.header_timeout, speaks(&stream)) => speaks == Ok(true),
        () = stop.cancelled() => false,
    };
    if !speaks {
        return;
    }
    let mut builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.header_timeout).max_buf_size(MAX_HEAD_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(20))
        .max_header_list_size(MAX_HEAD_BYTES as u32);
    let (idle, write, age) = (limits.idle_timeout, limits.write_timeout, limits.connection_age);
    let activity = Activity::new(Patience { idle, write, age });
    let watched = Watched::new(router, Arc::clone(&activity));
    let service = tower::util::MapRequest::new(watched, move |mut request: http::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer);
        if request.headers().contains_key(UPGRADE) {
            request.extensions_mut().insert(held.clone());
        }
        request
    });
    let stream = TokioIo::new(Unread::new(stream, limits.write_timeout));
    let connection = builder.serve_connection_with_upgrades(stream, TowerToHyperService::new(service));
    let (mut stopped, watching) = (false, activity.watch());
    tokio::pin!(connection, watching);
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "connection ended");
                }
                return;
            }
            () = stop.cancelled(), if !stopped => {
                stopped = true;
                connection.as_mut().graceful_shutdown();
            }
            verdict = watching.as_mut() => match verdict {
                Verdict::Retire => {
                    connection.as_mut().graceful_shutdown();
                    watching.set(activity.watch());
                }
                Verdict::Cut => {
                    tracing::debug!(client = %peer.0, "a connection was cut: its client does not read");
                    return;
                }
            },
        }
    }
}

/// Waits until the client has said enough to tell HTTP/1 from HTTP/2: hyper's own clock starts only after that. False if it hung up.
async fn speaks(stream: &TcpStream) -> bool {
    const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    /// Between two looks at a client that sends the preface byte by byte: an honest client does not.
    const PAUSE: Duration = Duration::from_millis(50);
    let mut head = [0; HTTP2.len()];
    loop {
        match stream.peek(&mut head).await {
            Ok(0) | Err(_) => return false,
            Ok(n) if n < HTTP2.len() && head.get(..n) == HTTP2.get(..n) => tokio::time::sleep(PAUSE).await,
            Ok(_) => return true,
        }
    }
}
