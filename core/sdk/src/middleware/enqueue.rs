//! Layers around enqueueing.
use std::future::Future;
use std::sync::Arc;

use super::chain::{IntoLayer, Layers};
use crate::error::Error;
use crate::job::Job;
use crate::request::JobRequest;
use crate::transport::BoxFuture;

/// A layer around enqueueing, run once per job, in batches too.
///
/// Not calling `next` drops the job: it is not sent, and `Ok(None)` says so to the caller. A closure will do:
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), ojs::Error> {
/// # use ojs::{Client, JobRequest, middleware::EnqueueNext, transport::{self, Response}};
/// # let client = Client::new(transport::from_fn(|request| async move {
/// #     assert!(String::from_utf8_lossy(&request.body.unwrap()).contains("trace_id"));
/// #     Ok(Response::new(201, r#"{"job":{"id":"1"}}"#))
/// # }));
/// client.middleware().add("trace", |mut request: JobRequest, next: EnqueueNext| async move {
///     request.meta.insert("trace_id".into(), "4bf92f35".into());
///     next.run(request).await
/// })?;
/// client.enqueue("email.send", "a@example.com").await?;
/// # Ok(()) }
/// ```
pub trait EnqueueMiddleware: Send + Sync + 'static {
    /// Passes the job on, changed or not, or drops it.
    fn handle<'a>(&'a self, request: JobRequest, next: EnqueueNext) -> BoxFuture<'a, Result<Option<Job>, Error>>;
}

impl<F, Fut> EnqueueMiddleware for F
where
    F: Fn(JobRequest, EnqueueNext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Option<Job>, Error>> + Send + 'static,
{
    fn handle<'a>(&'a self, request: JobRequest, next: EnqueueNext) -> BoxFuture<'a, Result<Option<Job>, Error>> {
        Box::pin(self(request, next))
    }
}

impl<T: EnqueueMiddleware> IntoLayer<dyn EnqueueMiddleware> for T {
    fn into_layer(self) -> Arc<dyn EnqueueMiddleware> {
        Arc::new(self)
    }
}

/// What the innermost layer calls.
pub(crate) type Terminal = Arc<dyn Fn(JobRequest) -> BoxFuture<'static, Result<Option<Job>, Error>> + Send + Sync>;

/// The rest of the chain, and behind it the request to the server.
pub struct EnqueueNext {
    layers: Layers<dyn EnqueueMiddleware>,
    index: usize,
    id: Option<String>,
    terminal: Terminal,
}

impl EnqueueNext {
    pub(crate) fn new(layers: Layers<dyn EnqueueMiddleware>, id: Option<String>, terminal: Terminal) -> Self {
        Self { layers, index: 0, id, terminal }
    }

    /// Passes the job on. `None`: an inner layer has dropped it.
    pub fn run(mut self, mut request: JobRequest) -> BoxFuture<'static, Result<Option<Job>, Error>> {
        // A layer may have built a new request: it is still the same job.
        request.id.clone_from(&self.id);
        match self.layers.get(self.index).cloned() {
            None => (self.terminal)(request),
            Some(layer) => {
                self.index += 1;
                Box::pin(async move { layer.handle(request, self).await })
            }
        }
    }
}

impl std::fmt::Debug for EnqueueNext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EnqueueNext").field("layers_left", &self.layers.len().saturating_sub(self.index)).finish()
    }
}
