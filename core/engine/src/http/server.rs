//! The engine behind a listening socket.
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::Request;
use tower::ServiceExt;

use crate::engine::Engine;
use crate::http::access::Access;
use crate::http::hosts::Hosts;
use crate::http::listener::{Limits, Listener};
use crate::http::router;

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
    listener: Listener,
    access: Option<Arc<Access>>,
    hosts: Hosts,
    pages: axum::Router,
}

impl Server {
    /// Binds an address; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address is taken or not ours.
    pub async fn bind(engine: Engine, address: &str) -> io::Result<Self> {
        let listener = Listener::bind(address).await?;
        Ok(Self { engine, listener, access: None, hosts: Hosts::default(), pages: axum::Router::new() })
    }

    /// The address it listens on, with the real port.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.listener.local_addr()
    }

    /// Asks every caller for a key.
    #[must_use]
    pub fn with_access(mut self, access: Arc<Access>) -> Self {
        self.access = Some(access);
        self
    }

    /// Answers to these names as well; see [`Hosts`].
    #[must_use]
    pub fn with_hosts(mut self, hosts: Hosts) -> Self {
        self.hosts = hosts;
        self
    }

    /// Serves further routes, beside those of the API. They must not be below `/ojs`.
    #[must_use]
    pub fn with_pages(mut self, pages: axum::Router) -> Self {
        self.pages = pages;
        self
    }

    /// Other limits than the default ones.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.engine.waiting().limit(limits.waiting, limits.waiting_per_client);
        self.listener = self.listener.with_limits(limits);
        self
    }

    /// Serves until `shutdown` resolves; then stops accepting, answers requests under way, and closes the engine.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let hosts = Arc::new(self.hosts);
        let wrong = router::wrong_methods(self.engine.clone(), Some(Arc::clone(&hosts)));
        let pages = self.pages.method_not_allowed_fallback(move |request: Request| wrong.clone().oneshot(request));
        let router = router::router(self.engine.clone(), self.access, Some(hosts));
        self.listener.run(router.merge(pages), shutdown, || self.engine.stop_waiting()).await;
        self.engine.close().await;
    }
}
