//! A client that connects on first use and follows a fork where that is possible.
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use ojs::Client;
use ojs::encryption::Codec;
use ojs::transport::{ConnectOptions, Method, Transport, check_url, connect};
use ojs_model::envelope::check_tenant;
use serde_json::value::RawValue;
use tokio::sync::OnceCell;

use crate::error::AbiError;
use crate::guard::guard;
use crate::process::Owner;
use crate::runtime;

/// The target of a connection.
enum Target {
    Url(String, Box<ConnectOptions>),
    Transport(Arc<dyn Transport>),
    /// Requests of a tenant over another connection.
    Tenant(Arc<Connection>, String),
}

/// The state of a connection in one process.
struct Slot {
    owner: Owner,
    client: OnceCell<Client>,
}

/// A connection to a server or embedded engine. Making one does nothing: no thread, no socket, no file.
///
/// In a forked child an HTTP connection is made anew (the parent's sockets are neither used nor closed). An embedded
/// engine that the parent has opened cannot be used: SQLite forbids it, and memory is not shared.
pub struct Connection {
    target: Target,
    slot: ArcSwapOption<Slot>,
    closed: AtomicBool,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Connection {
    /// By URL: see [`ojs::transport::connect`]. The URL is checked, nothing is opened.
    ///
    /// # Errors
    /// A URL without a known scheme; the message says what to write instead.
    pub fn to_url(url: &str, options: ConnectOptions) -> Result<Arc<Self>, AbiError> {
        check_url(url).map_err(ojs::Error::from)?;
        Ok(Self::new(Target::Url(url.to_owned(), Box::new(options))))
    }

    /// Over a transport of the host's own.
    #[must_use]
    pub fn over(transport: Arc<dyn Transport>) -> Arc<Self> {
        Self::new(Target::Transport(transport))
    }

    /// Requests of one tenant over this connection. Closing it leaves this one open.
    ///
    /// # Errors
    /// An invalid id of a tenant.
    pub fn of_tenant(self: &Arc<Self>, tenant: &str) -> Result<Arc<Self>, AbiError> {
        check_tenant("tenant", tenant).map_err(|error| AbiError::invalid(error.message))?;
        Ok(Self::new(Target::Tenant(Arc::clone(self), tenant.to_owned())))
    }

    fn new(target: Target) -> Arc<Self> {
        Arc::new(Self { target, slot: ArcSwapOption::empty(), closed: AtomicBool::new(false) })
    }

    /// The client, connected on the first call in this process.
    ///
    /// # Errors
    /// Closed, forked, or the connection cannot be made; a later call tries again.
    pub async fn client(&self) -> Result<Client, AbiError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(AbiError::Closed("the client"));
        }
        let slot = self.current()?;
        let client = slot.client.get_or_try_init(|| self.connect()).await?;
        Ok(client.clone())
    }

    /// The codec that encrypts arguments on this connection, if there is one.
    #[must_use]
    pub fn codec(&self) -> Option<&Codec> {
        match &self.target {
            Target::Url(_, options) => options.encryption.as_ref(),
            Target::Transport(transport) => transport.codec(),
            Target::Tenant(connection, _) => connection.codec(),
        }
    }

    /// A delivered job with its arguments in the clear, as a worker on this connection hands it to its handler. A job
    /// that is not encrypted comes back as it is.
    ///
    /// # Errors
    /// The job is encrypted, and its arguments cannot be read with the keys of this connection.
    pub fn decrypted<'a>(&self, job: &'a [u8]) -> Result<Cow<'a, [u8]>, AbiError> {
        let (Some(codec), Ok(text)) = (self.codec(), std::str::from_utf8(job)) else { return Ok(Cow::Borrowed(job)) };
        let clear = codec.decode(text).map_err(ojs::Error::from)?;
        Ok(clear.map_or(Cow::Borrowed(job), |text| Cow::Owned(text.into_bytes())))
    }

    /// Any call of the protocol: `path` is relative to `/ojs/v1`, or `/ojs/manifest`; the answer is the body of a 2xx.
    /// New jobs go the way that makes sending them twice harmless.
    ///
    /// # Errors
    /// As [`client`](Self::client), an unknown method, a refusal, or no answer.
    pub async fn call(&self, method: &str, path: &str, body: Option<Bytes>) -> Result<Bytes, AbiError> {
        let client = self.client().await?;
        let answer = match (method, path, body) {
            ("POST", "/jobs", Some(job)) => client.enqueue_raw(job).await?,
            ("POST", "/jobs/batch", Some(batch)) => client.enqueue_batch_raw(jobs_of(&batch)?).await?,
            ("POST", path, Some(body)) if path.starts_with("/jobs/bulk") => client.bulk_raw(path, body).await?,
            ("POST", "/workflows", Some(definition)) => client.workflow_raw(definition).await?,
            ("POST", "/cron", Some(cron)) => client.register_cron_raw(cron).await?,
            (method, path, body) => client.call(method_of(method)?, path, body).await?,
        };
        Ok(answer)
    }

    /// A call that the server may answer after waiting up to this time; it is sent once.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn call_waiting(&self, method: &str, path: &str, body: Option<Bytes>, wait: Duration) -> Result<Bytes, AbiError> {
        let client = self.client().await?;
        Ok(client.call_waiting(method_of(method)?, path, body, wait).await?)
    }

    async fn connect(&self) -> Result<Client, AbiError> {
        match &self.target {
            Target::Url(url, options) => Ok(Client::new(connect(url, (**options).clone()).await.map_err(ojs::Error::from)?)),
            Target::Transport(transport) => Ok(Client::new(Arc::clone(transport))),
            Target::Tenant(connection, tenant) => Ok(Box::pin(connection.client()).await?.of_tenant(tenant)?),
        }
    }

    fn current(&self) -> Result<Arc<Slot>, AbiError> {
        loop {
            let current = self.slot.load_full();
            if let Some(slot) = &current {
                if slot.owner.is_current() {
                    return Ok(Arc::clone(slot));
                }
                if slot.client.initialized() && !self.follows_fork() {
                    return slot.owner.check("an embedded engine").map(|()| Arc::clone(slot));
                }
            }
            let fresh = Arc::new(Slot { owner: Owner::current(), client: OnceCell::new() });
            let before = self.slot.compare_and_swap(&current, Some(fresh));
            if before.as_ref().map(Arc::as_ptr) == current.as_ref().map(Arc::as_ptr) {
                // The parent's client is leaked: only the parent may close its sockets or join its tasks.
                std::mem::forget(current);
            }
        }
    }

    fn follows_fork(&self) -> bool {
        match &self.target {
            Target::Url(url, _) => url.starts_with("http://") || url.starts_with("https://"),
            Target::Transport(_) => false,
            Target::Tenant(connection, _) => connection.follows_fork(),
        }
    }

    /// Releases the connection; calls from now on fail. In a forked child only the mark is set.
    pub async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // The connection below belongs to its own client.
        let slot = self.slot.load_full().filter(|_| !matches!(self.target, Target::Tenant(..)));
        if let Some(slot) = slot.filter(|slot| slot.owner.is_current())
            && let Some(client) = slot.client.get()
        {
            client.close().await;
        }
    }

    /// Connected in this process: it holds sockets or files.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.slot.load().as_ref().is_some_and(|slot| slot.owner.is_current() && slot.client.initialized())
    }

    /// Drops an owner's share on the runtime: the last one lets sockets and files go, which can wait, and the caller may hold a lock of
    /// its host.
    pub fn let_go(export: &'static str, share: Arc<Self>) {
        if share.is_open() {
            // Without a runtime there is nothing to wait for.
            let _ = guard(export, || {
                runtime::handle()?.spawn(async move { drop(share) });
                Ok(())
            });
        }
    }

    /// Closed by [`close`](Self::close).
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

fn method_of(word: &str) -> Result<Method, AbiError> {
    Method::from_bytes(word.as_bytes()).map_err(|_| AbiError::invalid(format!("'{word}' is no method")))
}

/// The array in `{"jobs": […]}`.
fn jobs_of(batch: &Bytes) -> Result<Bytes, AbiError> {
    #[derive(serde::Deserialize)]
    struct Batch<'a> {
        #[serde(borrow)]
        jobs: &'a RawValue,
    }
    let batch_of: Batch<'_> =
        serde_json::from_slice(batch).map_err(|e| AbiError::invalid(format!("a batch must be {{\"jobs\": […]}}: {e}")))?;
    Ok(batch.slice_ref(batch_of.jobs.get().as_bytes()))
}

impl Drop for Connection {
    fn drop(&mut self) {
        let slot = self.slot.load_full();
        if slot.as_ref().is_some_and(|slot| !slot.owner.is_current()) {
            // As above: in a forked child nothing of the parent's is taken down.
            std::mem::forget(slot);
        }
    }
}
