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
    /// Opens `store` and listens on `listen` (`ADDRESS:PORT`, port 0 takes a free one). Call it on the runtime.
    ///
    /// # Errors
    /// The store cannot be opened, or the address not be bound.
    pub async fn start(store: &str, listen: &str, test_mode: bool) -> Result<Self, AbiError> {
        let mut options = EngineOptions::new(store.parse().map_err(|e| AbiError::invalid(format!("{e}")))?);
        options.test_mode = test_mode;
        let engine = Engine::open(options).await.map_err(|e| AbiError::System(format!("cannot open {store}: {e}")))?;
        let listener = Listener::bind(engine, listen).await;
        let listener = listener.map_err(|e| AbiError::System(format!("cannot listen on {listen}: {e}")))?;
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
