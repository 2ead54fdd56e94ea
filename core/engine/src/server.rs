//! A listener in front of the router: limits on connections and on slow clients, and an orderly end.
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::Access;
use crate::engine::Engine;
use crate::seats::Peer;

/// Connections served at a time; further ones wait in the backlog of the operating system.
const MAX_CONNECTIONS: usize = 10_000;
/// A client gets this long to send its request line and headers.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Request line and headers of one request.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// How long requests under way may take once the server stops (protocol section 5.8: all within 30 s).
const DRAIN_TIMEOUT: Duration = Duration::from_secs(25);

/// What to do about an address that cannot be listened on, in words that follow a semicolon.
///
/// ```
/// let error = std::io::Error::from(std::io::ErrorKind::AddrInUse);
/// assert!(ojs_engine::listening_advice(&error).contains("another port"));
/// ```
#[must_use]
pub fn listening_advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "another process listens there: stop it, or choose another port (port 0 takes any free one)",
        io::ErrorKind::PermissionDenied => "ports below 1024 need privileges: choose a higher one, or put a proxy in front",
        io::ErrorKind::AddrNotAvailable => {
            "no interface of this machine has that address: 127.0.0.1 always works, 0.0.0.0 means all"
        }
        _ => "use ADDRESS:PORT, for example 127.0.0.1:8080 or [::1]:8080",
    }
}

/// The engine behind a TCP socket.
#[derive(Debug)]
pub struct Server {
    engine: Engine,
    listener: TcpListener,
    address: SocketAddr,
    access: Option<Arc<Access>>,
}

impl Server {
    /// Binds an address; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address is taken or not ours.
    pub async fn bind(engine: Engine, address: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { engine, listener, address, access: None })
    }

    /// The address it listens on, with the real port.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Asks everybody for a key.
    #[must_use]
    pub fn with_access(mut self, access: Arc<Access>) -> Self {
        self.access = Some(access);
        self
    }

    /// Serves until `shutdown` resolves; then stops accepting, answers requests under way, and closes the engine.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let router = match self.access {
            Some(access) => self.engine.guarded_router(access),
            None => self.engine.router(),
        };
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
            match accepted {
                Ok((stream, address)) => {
                    let serving = serve(stream, Peer(address.ip()), router.clone(), stop.clone());
                    tasks.spawn(async move {
                        serving.await;
                        drop(permit);
                    });
                }
                // Out of file descriptors, or the client is gone already: the next one may do better.
                Err(error) => {
                    tracing::warn!(%error, "accept failed");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
        }
        // Requests under way end soon, and further ones are refused, before new connections are.
        self.engine.stop_waiting();
        stop.cancel();
        drop(self.listener);
        tasks.close();
        if tokio::time::timeout(DRAIN_TIMEOUT, tasks.wait()).await.is_err() {
            tracing::warn!(connections = tasks.len(), "connections still busy after the drain time were cut");
        }
        self.engine.close().await;
    }
}

async fn serve(stream: TcpStream, peer: Peer, router: axum::Router, stop: CancellationToken) {
    // Answers are small and somebody waits for each.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "set_nodelay");
    }
    let speaks = tokio::select! {
        speaks = tokio::time::timeout(HEADER_TIMEOUT, speaks(&stream)) => speaks == Ok(true),
        () = stop.cancelled() => false,
    };
    if !speaks {
        return;
    }
    let mut builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT).max_buf_size(MAX_HEAD_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(20))
        .max_header_list_size(MAX_HEAD_BYTES as u32);
    let service = tower::util::MapRequest::new(router, move |mut request: http::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer);
        request
    });
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended");
    }
}

/// Waits until the client has said enough to tell HTTP/1 from HTTP/2: hyper's own clock starts only after that. False if it hung up.
async fn speaks(stream: &TcpStream) -> bool {
    const HTTP2: &[u8] = b"PRI ";
    /// Between two looks at a client that sends the preface byte by byte: nobody honest does.
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
