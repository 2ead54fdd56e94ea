//! Calls to a server or embedded engine.
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ojs_abi::connection::Connection;
use ojs_abi::outbox;
use ojs_abi::settings::ClientSettings;

use crate::error::{CoreError, call, enter};
use crate::transport::{HostTransport, Over};

/// A connection to a server, or to an engine in this process. It connects with its first call.
#[derive(Debug, uniffi::Object)]
pub struct CoreClient {
    pub(crate) link: Arc<Connection>,
}

#[uniffi::export]
impl CoreClient {
    /// For `http://host:8080`, `https://…`, `sqlite:jobs.db`, `memory:` or `memory:name`. `settings` is a JSON object
    /// by the names of `xtask/schema.toml`, lengths of time in seconds.
    ///
    /// # Errors
    /// A URL that leads nowhere, a setting that does not exist or cannot be.
    #[uniffi::constructor]
    pub fn new(url: &str, settings: &str) -> Result<Self, CoreError> {
        enter("client", || Ok(Self { link: Connection::to_url(url, ClientSettings::read(settings)?.options()?)? }))
    }

    /// Over a transport of the host's own.
    #[uniffi::constructor]
    pub fn over(transport: Arc<dyn HostTransport>) -> Self {
        Self { link: Connection::over(Arc::new(Over(transport))) }
    }

    /// A client on the same connection, with the requests of one tenant. Closing it leaves the connection open.
    ///
    /// # Errors
    /// What is no id of a tenant.
    pub fn of_tenant(&self, tenant: &str) -> Result<Arc<Self>, CoreError> {
        enter("client_of_tenant", || Ok(Arc::new(Self { link: self.link.of_tenant(tenant)? })))
    }

    /// Any call of the protocol: `path` is relative to `/ojs/v1` (or is `/ojs/manifest`), `body` is JSON. The answer is
    /// the body of a 2xx. `wait_ms` is how long the server may hold the answer back: there is that much more time, and
    /// the call is sent once.
    ///
    /// # Errors
    /// A refusal, or no answer.
    pub async fn call(
        &self,
        method: String,
        path: String,
        body: Option<Vec<u8>>,
        wait_ms: Option<u64>,
    ) -> Result<Vec<u8>, CoreError> {
        let link = Arc::clone(&self.link);
        let body = body.map(Bytes::from);
        let answer = async move {
            match wait_ms {
                Some(ms) => link.call_waiting(&method, &path, body, Duration::from_millis(ms)).await,
                None => link.call(&method, &path, body).await,
            }
        };
        // The answer is often the only holder of its bytes: then this copies nothing.
        Ok(call("client_call", answer).await?.into())
    }

    /// The same call, made on the calling thread, which waits for its end.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn call_blocking(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Result<Vec<u8>, CoreError> {
        enter("client_call", || {
            let answer = ojs_abi::runtime::handle()?.block_on(self.link.call(method, path, body.map(Bytes::from)))?;
            Ok(answer.into())
        })
    }

    /// A delivered job, as JSON, with its arguments in the clear.
    ///
    /// # Errors
    /// Arguments that the keys of this client do not read.
    pub fn decrypted(&self, job: &[u8]) -> Result<Vec<u8>, CoreError> {
        enter("client_decrypted", || Ok(self.link.decrypted(job)?.into_owned()))
    }

    /// An enqueue request as the row of an outbox shall hold it: with the arguments encrypted, where this client does
    /// so.
    ///
    /// # Errors
    /// There is no current key.
    pub fn encrypted(&self, request: &[u8]) -> Result<Vec<u8>, CoreError> {
        enter("outbox_encrypted", || Ok(outbox::encrypted(&self.link, request)?.into_owned()))
    }

    /// Releases the connection; an embedded engine is flushed. Later calls fail.
    ///
    /// # Errors
    /// The operating system gives no threads.
    pub async fn close(&self) -> Result<(), CoreError> {
        let link = Arc::clone(&self.link);
        call("client_close", async move {
            link.close().await;
            Ok(())
        })
        .await
    }
}

impl Drop for CoreClient {
    fn drop(&mut self) {
        Connection::let_go("client_free", Arc::clone(&self.link));
    }
}
