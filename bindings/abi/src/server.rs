//! An OJS server inside the host process, for tests and for `python -m openjobspec server` and its like.
use std::path::PathBuf;
use std::sync::Arc;

use ojs::transport::{TransportError, TransportErrorKind};
use ojs_engine::access::Access;
use ojs_engine::{Engine, EngineOptions, Hosts, Server as Listener, listening_advice};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::error::AbiError;
use crate::process::Owner;

/// Who may use a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// Any client that reaches the address.
    Anyone,
    /// The same, but it listens on no address that another machine could reach.
    Loopback,
    /// Those who have a key of this file.
    Keys(PathBuf),
}

impl Admission {
    /// By the settings of a command: `--keys FILE`, `--insecure`.
    #[must_use]
    pub fn of(keys: Option<String>, insecure: bool) -> Self {
        match keys.filter(|path| !path.is_empty()) {
            Some(path) => Self::Keys(path.into()),
            None if insecure => Self::Anyone,
            None => Self::Loopback,
        }
    }
}

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
    /// The store cannot be opened, the address not be bound, the keys not be read.
    pub async fn start(store: &str, listen: &str, test_mode: bool, admission: Admission) -> Result<Self, AbiError> {
        let access = match &admission {
            Admission::Keys(path) => Some(Arc::new(Access::open(path).map_err(|e| AbiError::invalid(e.to_string()))?)),
            Admission::Loopback | Admission::Anyone => None,
        };
        let mut options = EngineOptions::new(store.parse().map_err(|e| AbiError::invalid(format!("{e}")))?);
        options.test_mode = test_mode;
        // The class of a client that cannot open it.
        let engine = Engine::open(options)
            .await
            .map_err(|e| ojs::Error::from(TransportError::new(TransportErrorKind::Open, e.to_string())))?;
        let listener = Listener::bind(engine, listen).await;
        let listener =
            listener.map_err(|e| AbiError::invalid(format!("cannot listen on {listen}: {e}; {}", listening_advice(&e))))?;
        let allowed = std::env::var("OJS_ALLOW_HOSTS").unwrap_or_default();
        let listener = listener.with_hosts(Hosts::new(allowed.split(',')));
        let address = listener.local_addr();
        if admission == Admission::Loopback && !address.ip().is_loopback() {
            return Err(AbiError::invalid(format!(
                "{address} can be reached from other machines, and no keys are asked for: make keys with `ojs keys add` and give the \
                 file to --keys, or say --insecure if a proxy guards it"
            )));
        }
        let url = format!("http://{address}");
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async move {
            // A dropped sender stops it as well.
            let _ = stopped.await;
        };
        let serving = match access {
            None => tokio::spawn(listener.run(stopped)),
            Some(access) => {
                let listener = listener.with_access(Arc::clone(&access));
                tokio::spawn(async move {
                    // This signal never comes: signals are handled by the host.
                    let never = Notify::new();
                    tokio::select! {
                        () = listener.run(stopped) => {}
                        () = access.follow(&never) => {}
                    }
                })
            }
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_loopback_is_open_to_everybody_unless_somebody_says_so() {
        let refused = Server::start("memory:", "0.0.0.0:0", false, Admission::of(None, false)).await.unwrap_err();
        assert!(refused.to_string().contains("--keys") && refused.to_string().contains("--insecure"), "{refused}");
        for (listen, admission) in [("127.0.0.1:0", Admission::of(None, false)), ("0.0.0.0:0", Admission::of(None, true))] {
            Server::start("memory:", listen, false, admission).await.unwrap().stop().await.unwrap();
        }
    }

    #[tokio::test]
    async fn with_a_file_of_keys_everybody_is_asked_and_changes_count() {
        let path = std::env::temp_dir().join(format!("ojs-keys-{}-{:p}.json", std::process::id(), &()));
        let mut file = ojs_engine::access::KeyFile::default();
        let now = ojs_engine::clock::Clock::now(&ojs_engine::clock::SystemClock);
        let secret = file.add("shop", vec![ojs_engine::access::Role::Producer], now).unwrap();
        file.write(&path).unwrap();
        let keys = Some(path.display().to_string());
        let server = Server::start("memory:", "0.0.0.0:0", false, Admission::of(keys, false)).await.unwrap();
        let url = server.url().replace("0.0.0.0", "127.0.0.1");
        let stranger = ojs::Client::connect(&url).await.unwrap();
        assert_eq!(stranger.enqueue("a", ()).await.unwrap_err().status(), Some(401));
        let client = ojs::Client::builder().url(&url).auth_token(&secret).connect().await.unwrap();
        client.enqueue("a", ()).await.unwrap();
        file.revoke("shop").unwrap();
        file.write(&path).unwrap();
        let revoked = async { while client.enqueue("a", ()).await.is_ok() {} };
        tokio::time::timeout(std::time::Duration::from_secs(60), revoked).await.expect("noticed");
        server.stop().await.unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(Server::start("memory:", "127.0.0.1:0", false, Admission::Keys(path)).await.is_err());
    }
}
