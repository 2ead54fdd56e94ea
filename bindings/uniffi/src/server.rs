//! An OJS server inside the host's process: for tests, and for programs that are their own server.
use std::sync::Mutex;

use ojs_abi::error::AbiError;
use ojs_abi::server::{Admission, Server};

use crate::error::{CoreError, call};

/// A listening server.
#[derive(Debug, uniffi::Object)]
pub struct CoreServer {
    url: String,
    running: Mutex<Option<Server>>,
}

/// Opens `store` and listens on `listen` (`ADDRESS:PORT`, port 0 takes a free one). `keys` is a file of keys; without
/// it only addresses of this machine are listened on, unless `insecure` says otherwise.
///
/// # Errors
/// The store cannot be opened, the address not be bound, the keys not be read.
#[uniffi::export]
pub async fn start_server(
    store: String,
    listen: String,
    test_mode: bool,
    keys: Option<String>,
    insecure: bool,
) -> Result<std::sync::Arc<CoreServer>, CoreError> {
    let starting = async move { Server::start(&store, &listen, test_mode, Admission::of(keys, insecure)).await };
    let server = call("server_start", starting).await?;
    Ok(std::sync::Arc::new(CoreServer { url: server.url().to_owned(), running: Mutex::new(Some(server)) }))
}

#[uniffi::export]
impl CoreServer {
    /// Where it listens.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Answers requests under way, closes the store. A second stop does nothing.
    ///
    /// # Errors
    /// A fault of the server.
    pub async fn stop(&self) -> Result<(), CoreError> {
        let server = self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let Some(server) = server else { return Ok(()) };
        call("server_stop", async move { server.stop().await.map_err(AbiError::System) }).await
    }
}
