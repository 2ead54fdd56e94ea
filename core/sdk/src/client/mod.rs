//! The producer's side: enqueue, look up, cancel, administer.
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::error::Error;
use crate::middleware::{Chain, ENQUEUE_ORDER, EnqueueMiddleware};
use crate::transport::{ConnectOptions, MANIFEST_PATH, Method, OfTenant, Request, Response, Transport, connect};

mod admin;
mod answer;
mod builder;
mod bulk;
mod enqueue;
mod events;
pub mod follower;
pub(crate) mod forms;
mod identity;
pub mod operations;
mod operators;
mod pages;
mod path;
mod results;

pub use builder::ClientBuilder;
use identity::Source;
pub(crate) use path::segment;

pub use bulk::{BulkItem, BulkOptions, BulkResult, BulkTarget, JobFilter};
pub use enqueue::Enqueue;
pub use events::{Event, EventFilter, Events};
pub use operators::DeleteQueue;
pub use results::{DeadLetterFilter, JobResult};

/// Talks to an OJS server, or to an engine in this process. Cheap to clone; share one per program.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    transport: Arc<dyn Transport>,
    middleware: Arc<Chain<dyn EnqueueMiddleware>>,
}

impl Client {
    /// A client over a transport of your own.
    pub fn new(transport: Arc<dyn Transport>) -> Self {
        Self { inner: Arc::new(Inner { transport, middleware: Arc::new(Chain::ordered(ENQUEUE_ORDER)) }) }
    }

    /// The same client for one tenant: its requests see and change only what belongs to the tenant, and its jobs belong
    /// to the tenant. It shares connection and middleware.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// let client = ojs::Client::connect("memory:").await?;
    /// let job = client.of_tenant("acme")?.enqueue("email.send", ()).await?;
    /// assert_eq!(job.tenant().as_deref(), Some("acme"));
    /// assert!(client.of_tenant("globex")?.get_job(&job.id).await.is_err(), "not found");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// [`Error::Transport`] when `tenant` is not a valid id.
    pub fn of_tenant(&self, id: &str) -> Result<Self, Error> {
        let transport = OfTenant::over(Arc::clone(&self.inner.transport), id)?;
        Ok(Self { inner: Arc::new(Inner { transport, middleware: Arc::clone(&self.inner.middleware) }) })
    }

    /// Connects by URL: `http://host:8080`, `https://…`, and with the feature `embedded` `sqlite:jobs.db` or `memory:`.
    ///
    /// # Errors
    /// [`Error::Transport`] when the URL cannot be used or the store cannot be opened. An HTTP server is first
    /// contacted by the first call.
    pub async fn connect(url: &str) -> Result<Self, Error> {
        Ok(Self::new(connect(url, ConnectOptions::default()).await?))
    }

    /// Settings step by step; what is not set comes from the environment, then from the defaults.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// The layers around enqueueing; frozen by the first enqueue.
    #[must_use]
    pub fn middleware(&self) -> &Chain<dyn EnqueueMiddleware> {
        &self.inner.middleware
    }

    /// Adds a layer around enqueueing, inside those added before.
    ///
    /// # Errors
    /// [`Error::Frozen`] after the first enqueue, [`Error::DuplicateMiddleware`] when the name is taken.
    pub fn use_middleware(&self, name: impl Into<String>, layer: impl EnqueueMiddleware) -> Result<(), Error> {
        self.inner.middleware.add(name, layer)
    }

    /// The transport, for a worker on the same connection.
    #[must_use]
    pub fn transport(&self) -> &Arc<dyn Transport> {
        &self.inner.transport
    }

    /// Releases the connection; an embedded engine that has no other user is flushed and closed.
    pub async fn close(&self) {
        self.inner.transport.close().await;
    }

    // --- raw calls: JSON text in, JSON text out, no value tree between ---

    /// Any call of the protocol: `path` is relative to `/ojs/v1`. Returns the body of a 2xx answer.
    ///
    /// A list comes in pages. With `pages=all` in the query of a `GET` the client reads all of them; when there are
    /// several, the answer is an object with the whole list and without `pagination`.
    ///
    /// # Errors
    /// [`Error::Ojs`] for an answer that is not 2xx, [`Error::Transport`] when there was none.
    pub async fn call(&self, method: Method, path: &str, body: Option<Bytes>) -> Result<Bytes, Error> {
        match pages::without_wish(path) {
            Some(path) if method == Method::GET => self.all_pages(&path).await,
            _ => self.call_once(method, path, body).await,
        }
    }

    async fn call_once(&self, method: Method, path: &str, body: Option<Bytes>) -> Result<Bytes, Error> {
        let mut request = Request::new(method, path.to_owned());
        request.body = body;
        Ok(self.send(request).await?.body)
    }

    /// A call that the server may answer after waiting up to this time. It is sent once: the caller decides whether to
    /// ask again. The result of a job comes from the job itself where the server has no route for results.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn call_waiting(&self, method: Method, path: &str, body: Option<Bytes>, wait: Duration) -> Result<Bytes, Error> {
        let mut request = Request::new(method, path.to_owned()).with_resend(false).with_wait(wait);
        request.body = body;
        match self.send(request).await {
            Ok(response) => Ok(response.body),
            Err(error) => match results::without_route(path, &error) {
                Some(id) => self.result_of_job(id, wait, error).await,
                None => Err(error),
            },
        }
    }

    /// Enqueues a job given as the JSON text of an enqueue request; returns the answer, `{"job": …}`.
    /// Middleware does not run: the caller has its own. Retry and unique policies are completed with the spellings that
    /// other servers read.
    ///
    /// # Errors
    /// [`Error::Validation`] when the text is no JSON object, else as [`call`](Self::call).
    pub async fn enqueue_raw(&self, job: Bytes) -> Result<Bytes, Error> {
        let job = identity::job(job, self.inner.transport.resends(), Source::New)?;
        let request = Request::post("/jobs", job.text).with_resend(job.id.is_some());
        let response = self.inner.transport.request(request).await?;
        match (response.is_success(), job.id) {
            (true, _) => Ok(response.body),
            (false, Some(id)) if response.sends > 1 => self.own_job(&id, Error::from_response(&response)).await,
            (false, _) => Err(Error::from_response(&response)),
        }
    }

    /// Enqueues jobs given as the JSON text of an array of enqueue requests, all or none; returns the answer,
    /// `{"jobs": […], "count": n}`. Middleware does not run.
    ///
    /// # Errors
    /// As [`enqueue_raw`](Self::enqueue_raw); `details.index` names the job that was refused.
    pub async fn enqueue_batch_raw(&self, jobs: Bytes) -> Result<Bytes, Error> {
        let batch = identity::batch(&jobs, self.inner.transport.resends(), Source::New)?;
        let request = Request::post("/jobs/batch", batch.text).with_resend(batch.ids.is_some());
        let response = self.inner.transport.request(request).await?;
        match (response.is_success(), batch.ids) {
            (true, _) => Ok(response.body),
            (false, Some(ids)) if response.sends > 1 => self.own_batch(&ids, Error::from_response(&response)).await,
            (false, _) => Err(Error::from_response(&response)),
        }
    }

    /// Sends jobs that have their ids, once, and returns whatever is answered: the relay has its own rules for a second try.
    #[cfg(feature = "outbox")]
    pub(crate) async fn send_jobs(&self, jobs: &[&str]) -> Result<Response, Error> {
        let request = match jobs {
            [job] => Request::post("/jobs", identity::job(Bytes::copy_from_slice(job.as_bytes()), false, Source::Stored)?.text),
            _ => Request::post(
                "/jobs/batch",
                identity::batch(format!("[{}]", jobs.join(",")).as_bytes(), false, Source::Stored)?.text,
            ),
        };
        Ok(self.inner.transport.request(request.with_resend(false)).await?)
    }

    /// The server's manifest as JSON text.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn manifest_raw(&self) -> Result<Bytes, Error> {
        self.call(Method::GET, MANIFEST_PATH, None).await
    }

    async fn send(&self, request: Request) -> Result<Response, Error> {
        let response = self.inner.transport.request(request).await?;
        if response.is_success() { Ok(response) } else { Err(Error::from_response(&response)) }
    }

    /// A job that was sent twice and is refused as a duplicate of itself was stored by the first send.
    async fn own_job(&self, id: &str, refusal: Error) -> Result<Bytes, Error> {
        if !identity::may_be_own(&refusal, |existing| existing == id) {
            return Err(refusal);
        }
        match self.call(Method::GET, &format!("/jobs/{id}"), None).await {
            Ok(body) => Ok(body),
            Err(error) if error.is_not_found() => Err(refusal),
            Err(error) => Err(error),
        }
    }

    /// A batch is stored whole or not at all: when the refused duplicate is one of its own, the first send stored it.
    async fn own_batch(&self, ids: &[String], refusal: Error) -> Result<Bytes, Error> {
        if !identity::may_be_own(&refusal, |existing| ids.iter().any(|id| id == existing)) {
            return Err(refusal);
        }
        let mut jobs = Vec::with_capacity(ids.len());
        for id in ids {
            match self.call(Method::GET, &format!("/jobs/{id}"), None).await {
                Ok(body) => jobs.push(body),
                Err(error) if error.is_not_found() => return Err(refusal),
                Err(error) => return Err(error),
            }
        }
        identity::batch_answer(&jobs)
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
