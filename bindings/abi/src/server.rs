//! An OJS server inside the host process, for tests and for `python -m openjobspec server` and its like.
use ojs_engine::{Engine, EngineOptions, Server as Listener};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::error::AbiError;
use crate::process::Owner;

/// A listening server on the runtime of this process.
#[derive(Debug)]
pub struct Server {
    owner: Owner,
    url: String,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Server {
    /// Opens `store` and listens on `host:port`; port 0 takes a free one. Call it on the runtime.
    ///
    /// # Errors
    /// The store cannot be opened, or the address not be bound.
    pub async fn start(store: &str, host: &str, port: u16) -> Result<Self, AbiError> {
        let store = store.parse().map_err(|e| AbiError::invalid(format!("{e}")))?;
        let engine = Engine::open(EngineOptions::new(store)).await.map_err(|e| AbiError::System(e.to_string()))?;
        let address = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let listener = Listener::bind(engine, &address).await.map_err(|e| AbiError::System(format!("cannot listen on {address}: {e}")))?;
        let url = format!("http://{}", listener.local_addr());
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(listener.run(async move {
            // A dropped sender stops it as well.
            let _ = stopped.await;
        }));
        Ok(Self { owner: Owner::current(), url, stop, serving })
    }

    /// Where it listens.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Answers requests under way, closes the store.
    ///
    /// # Errors
    /// The message of a panic in the server, or that this is a forked child.
    pub async fn stop(self) -> Result<(), String> {
        self.owner.check("a server").map_err(|e| e.to_string())?;
        let _ = self.stop.send(());
        self.serving.await.map_err(|e| e.to_string())
    }
}
