//! A real server on a free port, with a fresh engine in memory.
use ojs_engine::{Engine, EngineOptions, Server, StoreUrl};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::error::Error;
use crate::transport::{TransportError, TransportErrorKind};

/// A real server for tests. Stops when dropped; [`stop`](Self::stop) waits for it.
///
/// ```
/// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
/// let server = ojs::testing::TestServer::start().await?;
/// # #[cfg(feature = "http")] {
/// let client = ojs::Client::connect(server.url()).await?;
/// client.enqueue("email.send", "a@example.com").await?;
/// # }
/// server.stop().await;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct TestServer {
    url: String,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl TestServer {
    /// Starts one.
    ///
    /// # Errors
    /// [`Error::Transport`] when no port is free.
    pub async fn start() -> Result<Self, Error> {
        let engine = Engine::open(EngineOptions::new(StoreUrl::Memory)).await;
        let engine = engine.map_err(|e| TransportError::new(TransportErrorKind::Open, e.to_string()))?;
        let server = Server::bind(engine, "127.0.0.1:0").await;
        let server =
            server.map_err(|e| TransportError::new(TransportErrorKind::Open, "cannot listen on a free port").with_source(e))?;
        let url = format!("http://{}", server.local_addr());
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(server.run(async {
            // Resolves when told, and when the handle is dropped.
            let _ = stopped.await;
        }));
        Ok(Self { url, stop, running })
    }

    /// Where it listens.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Stops it and waits until it is gone.
    pub async fn stop(self) {
        drop(self.stop);
        // A server that panicked is gone as well.
        let _ = self.running.await;
    }
}
