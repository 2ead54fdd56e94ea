//! A worker with Rust handlers, from its settings to its end.
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ojs_model::redact::SecretUrl;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::JobContext;
use super::driver::WorkerDriver;
use super::handle::WorkerHandle;
use super::handlers::Handlers;
use super::options::WorkerOptions;
use super::result::{HandlerError, HandlerResult, written};
use super::versions::Transforms;
use crate::client::Client;
use crate::environment::Environment;
use crate::error::Error;
use crate::middleware::{Chain, Innermost, Middleware};
use crate::options::defaults::{self, JobOptions};
use crate::transport::{ConnectOptions, Transport, connect};

/// Runs jobs with handlers registered by type.
///
/// ```
/// # #[cfg(feature = "embedded")]
/// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
/// use ojs::{Client, Worker};
///
/// let client = Client::connect("memory:").await?;
/// let worker = Worker::for_client(&client);
/// let (done, mut result) = tokio::sync::mpsc::unbounded_channel();
/// worker.register("math.add", move |ctx| {
///     let done = done.clone();
///     async move {
///         let (a, b): (i64, i64) = ctx.args()?;
///         done.send(a + b)?;
///         Ok(a + b)
///     }
/// })?;
/// let handle = worker.start();
/// client.enqueue("math.add", (2, 3)).await?;
/// assert_eq!(result.recv().await, Some(5));
/// handle.shutdown(None).await;
/// # Ok(()) }
/// # #[cfg(not(feature = "embedded"))] fn main() {}
/// ```
pub struct Worker {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) options: WorkerOptions,
    pub(super) handlers: Mutex<HashMap<String, Innermost>>,
    pub(super) transforms: Mutex<Transforms>,
    pub(super) middleware: Chain<dyn Middleware>,
}

impl Worker {
    /// A worker over a transport.
    pub fn new(transport: Arc<dyn Transport>, options: WorkerOptions) -> Self {
        Self { transport, options, handlers: Mutex::default(), transforms: Mutex::default(), middleware: Chain::default() }
    }

    /// A worker with default options on a client's connection.
    #[must_use]
    pub fn for_client(client: &Client) -> Self {
        Self::new(Arc::clone(client.transport()), WorkerOptions::default())
    }

    /// Settings step by step; what is not set comes from the environment, then from the defaults.
    pub fn builder() -> WorkerBuilder {
        WorkerBuilder::default()
    }

    /// Registers the handler of a job type.
    ///
    /// # Errors
    /// [`Error::DuplicateHandler`] when the type has one.
    pub fn register<F, Fut, R>(&self, job_type: impl Into<String>, handler: F) -> Result<(), Error>
    where
        F: Fn(JobContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, HandlerError>> + Send + 'static,
        R: Serialize,
    {
        let handler: Innermost = Arc::new(move |ctx| {
            let run = handler(ctx);
            Box::pin(async move { written(&run.await?) })
        });
        self.insert(job_type.into(), handler)
    }

    /// Registers the handler of a job type, and sets the options that jobs of the type get in this process unless their enqueue says
    /// otherwise ([`defaults`]).
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// use ojs::{Client, JobContext, JobOptions, Worker};
    /// let client = Client::connect("memory:").await?;
    /// let worker = Worker::for_client(&client);
    /// worker.register_with("report.build", JobOptions::new().queue("slow"), |_: JobContext| async { Ok(()) })?;
    /// assert_eq!(client.enqueue("report.build", ()).await?.queue, "slow");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// [`Error::DuplicateHandler`] when the type has one, [`Error::Validation`] for a wrong option.
    pub fn register_with<F, Fut, R>(&self, job_type: impl Into<String>, options: JobOptions, handler: F) -> Result<(), Error>
    where
        F: Fn(JobContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, HandlerError>> + Send + 'static,
        R: Serialize,
    {
        let job_type = job_type.into();
        self.register(job_type.clone(), handler)?;
        defaults::set(&job_type, options)
    }

    /// Registers a handler that gets its arguments read: a tuple by position, or a struct. Arguments that do not fit
    /// end the job.
    ///
    /// # Errors
    /// [`Error::DuplicateHandler`] when the type has one.
    pub fn register_typed<A, F, Fut, R>(&self, job_type: impl Into<String>, handler: F) -> Result<(), Error>
    where
        A: DeserializeOwned + Send + 'static,
        F: Fn(A, JobContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, HandlerError>> + Send + 'static,
        R: Serialize,
    {
        let handler: Innermost = Arc::new(move |ctx: JobContext| match ctx.args::<A>() {
            Ok(args) => {
                let run = handler(args, ctx);
                Box::pin(async move { written(&run.await?) })
            }
            Err(error) => Box::pin(std::future::ready(misfit(&error))),
        });
        self.insert(job_type.into(), handler)
    }

    fn insert(&self, job_type: String, handler: Innermost) -> Result<(), Error> {
        let mut handlers = self.handlers.lock().unwrap_or_else(PoisonError::into_inner);
        if handlers.contains_key(&job_type) {
            return Err(Error::DuplicateHandler(job_type));
        }
        handlers.insert(job_type, handler);
        Ok(())
    }

    /// Says for which version of its arguments the handler of a job type is written. It runs every version with the
    /// same first number. A server with job versioning gives the worker these versions only, and those from which
    /// [transforms](Self::register_transform) lead to them.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let worker = ojs::Worker::for_client(&ojs::Client::connect("memory:").await?);
    /// worker.register_version("email.send", "2.1")?;
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// [`Error::Validation`] for what is no version.
    pub fn register_version(&self, job_type: &str, version: &str) -> Result<(), Error> {
        self.transforms.lock().unwrap_or_else(PoisonError::into_inner).versions.handler(job_type, version)
    }

    /// Registers how arguments of one version of a job type become those of another, before the middleware and the
    /// handler see the job. Changes are made one after the other as long as there is one for the version that the
    /// arguments have then. A job without a version, or with one that no change begins at, stays as it is.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// use ojs::{Client, JobRequest, Worker};
    /// use serde_json::json;
    ///
    /// let client = Client::connect("memory:").await?;
    /// let worker = Worker::for_client(&client);
    /// // Version 1 had a name, version 2 has an object.
    /// worker.register_transform("user.welcome", "1", "2", |args| Ok(json!([{"name": args[0]}])))?;
    /// let (done, mut result) = tokio::sync::mpsc::unbounded_channel();
    /// worker.register_typed("user.welcome", move |(user,): (serde_json::Value,), _| {
    ///     let done = done.clone();
    ///     async move { Ok(done.send(user)?) }
    /// })?;
    /// let handle = worker.start();
    /// client.enqueue_request(JobRequest::new("user.welcome", "Ada").version("1")).await?;
    /// assert_eq!(result.recv().await, Some(json!({"name": "Ada"})));
    /// handle.shutdown(None).await;
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// [`Error::Validation`] for what is no version, and when the version `from` has a change already. A change that
    /// fails ends the job with the code `version_transform`.
    pub fn register_transform<F>(&self, job_type: impl Into<String>, from: &str, to: &str, change: F) -> Result<(), Error>
    where
        F: Fn(serde_json::Value) -> Result<serde_json::Value, String> + Send + Sync + 'static,
    {
        let mut transforms = self.transforms.lock().unwrap_or_else(PoisonError::into_inner);
        transforms.add(&job_type.into(), from, to, Arc::new(change))
    }

    /// The layers around every handler; frozen at the start.
    #[must_use]
    pub fn middleware(&self) -> &Chain<dyn Middleware> {
        &self.middleware
    }

    /// Adds a layer around every handler, inside those added before.
    ///
    /// # Errors
    /// [`Error::DuplicateMiddleware`] when the name is taken.
    pub fn use_middleware(&self, name: impl Into<String>, layer: impl Middleware) -> Result<(), Error> {
        self.middleware.add(name, layer)
    }

    /// Starts on the current tokio runtime and returns at once.
    pub fn start(mut self) -> WorkerHandle {
        let table = self.handlers.into_inner().unwrap_or_else(PoisonError::into_inner);
        let transforms = self.transforms.into_inner().unwrap_or_else(PoisonError::into_inner);
        transforms.declare(&mut self.options.versions);
        let handlers = Handlers::new(
            table,
            transforms,
            Arc::clone(self.middleware.freeze()),
            self.options.concurrency,
            self.options.prefetch,
        );
        let handle =
            WorkerDriver::start(self.transport, self.options, Arc::clone(&handlers) as Arc<dyn crate::dispatch::Dispatch>);
        // It is set only here.
        let _ = handlers.worker.set(Arc::downgrade(&handle.shared));
        handle
    }

    /// Starts, and runs until the server asks the worker to terminate.
    pub async fn run(self) {
        self.start().wait().await;
    }

    /// Starts, and stops gracefully when `shutdown` resolves, such as `tokio::signal::ctrl_c()`.
    pub async fn run_until(self, shutdown: impl Future) {
        let handle = self.start();
        tokio::select! {
            _ = shutdown => handle.stop(None),
            () = handle.wait() => {}
        }
        handle.wait().await;
    }
}

fn misfit(error: &Error) -> HandlerResult {
    Err(HandlerError::non_retryable(error.to_string()).with_code("invalid_args").with_kind("InvalidArgs"))
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let handlers = self.handlers.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Worker")
            .field("handlers", &handlers.keys().collect::<Vec<_>>())
            .field("middleware", &self.middleware)
            .finish_non_exhaustive()
    }
}

/// Settings of a [`Worker`]: code before environment before default (protocol section 5.10).
///
/// | variable | setting |
/// |---|---|
/// | `OJS_URL`, `OJS_BACKEND_URL` | url |
/// | `OJS_QUEUE` | queues, separated by commas |
/// | `OJS_CONCURRENCY` | concurrency |
/// | `OJS_SHUTDOWN_TIMEOUT`, `OJS_SHUTDOWN_GRACE_PERIOD` | grace period: seconds, or `PT25S` |
/// | `OJS_AUTH_TOKEN`, `OJS_TLS_CA_FILE`, `OJS_TLS_CERT_FILE`, `OJS_TLS_KEY_FILE` | as for the client |
#[derive(Debug, Default)]
#[must_use]
pub struct WorkerBuilder {
    url: Option<SecretUrl>,
    transport: Option<Shown>,
    connection: Option<ConnectOptions>,
    queues: Option<Vec<String>>,
    concurrency: Option<usize>,
    grace_period: Option<Duration>,
    options: WorkerOptions,
}

/// A transport that prints as such.
struct Shown(Arc<dyn Transport>);

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Transport")
    }
}

impl WorkerBuilder {
    /// The server, or the store of an embedded engine.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(SecretUrl::from(url.into()));
        self
    }

    /// A transport of your own, in place of a URL.
    pub fn transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.transport = Some(Shown(transport));
        self
    }

    /// Token, headers, time-outs, TLS of the connection.
    pub fn connection(mut self, options: ConnectOptions) -> Self {
        self.connection = Some(options);
        self
    }

    /// Queues in order of preference.
    pub fn queues<Q: Into<String>>(mut self, queues: impl IntoIterator<Item = Q>) -> Self {
        self.queues = Some(queues.into_iter().map(Into::into).collect());
        self
    }

    /// How many handlers run at a time.
    pub fn concurrency(mut self, slots: usize) -> Self {
        self.concurrency = Some(slots);
        self
    }

    /// How long handlers may finish after a stop.
    pub fn grace_period(mut self, grace: Duration) -> Self {
        self.grace_period = Some(grace);
        self
    }

    /// Changes any other option.
    pub fn options(mut self, change: impl FnOnce(WorkerOptions) -> WorkerOptions) -> Self {
        self.options = change(self.options);
        self
    }

    /// Connects.
    ///
    /// # Errors
    /// [`Error::Validation`] for a setting out of range, [`Error::Transport`] when the URL cannot be used.
    pub async fn build(self) -> Result<Worker, Error> {
        let env = Environment::of_process()?;
        let options = self.settle(&env)?;
        let transport = match self.transport {
            Some(Shown(transport)) => transport,
            None => {
                let connection = self.connection.map_or_else(|| env.connection(), Ok)?;
                connect(self.url.as_ref().map_or_else(|| env.url(), SecretUrl::expose), connection).await?
            }
        };
        Ok(Worker::new(transport, options))
    }

    fn settle(&self, env: &Environment) -> Result<WorkerOptions, Error> {
        let mut options = self.options.clone();
        if let Some(queues) = self.queues.clone().or_else(|| env.queues()) {
            options.queues = queues;
        }
        options.concurrency = self.concurrency.or_else(|| env.concurrency()).unwrap_or(options.concurrency);
        options.grace_period = self.grace_period.or_else(|| env.grace_period()).unwrap_or(options.grace_period);
        options.check()?;
        Ok(options)
    }
}
