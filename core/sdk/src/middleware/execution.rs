//! Layers around the handler.
use std::future::Future;
use std::sync::Arc;

use super::chain::{IntoLayer, Layers};
use crate::transport::BoxFuture;
use crate::worker::{HandlerResult, JobContext};

/// A layer around the handler.
///
/// What it returns is the outcome: not calling `next` and returning `Ok` completes the job without its handler. An
/// error travels outward and fails the job. A closure will do:
///
/// ```
/// # use ojs::{JobContext, middleware::Next};
/// let logging = |ctx: JobContext, next: Next| async move {
///     let (id, started) = (ctx.id().to_owned(), std::time::Instant::now());
///     let result = next.run(ctx).await;
///     println!("{id} took {:?}", started.elapsed());
///     result
/// };
/// # let worker = ojs::Worker::new(ojs::transport::from_fn(|_| async { unreachable!() }), Default::default());
/// worker.middleware().add("logging", logging)?;
/// # Ok::<(), ojs::Error>(())
/// ```
pub trait Middleware: Send + Sync + 'static {
    /// Runs the rest of the chain, or not.
    fn handle<'a>(&'a self, ctx: JobContext, next: Next) -> BoxFuture<'a, HandlerResult>;
}

impl<F, Fut> Middleware for F
where
    F: Fn(JobContext, Next) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = HandlerResult> + Send + 'static,
{
    fn handle<'a>(&'a self, ctx: JobContext, next: Next) -> BoxFuture<'a, HandlerResult> {
        Box::pin(self(ctx, next))
    }
}

impl<T: Middleware> IntoLayer<dyn Middleware> for T {
    fn into_layer(self) -> Arc<dyn Middleware> {
        Arc::new(self)
    }
}

/// The handler, behind all layers.
pub(crate) type Innermost = Arc<dyn Fn(JobContext) -> BoxFuture<'static, HandlerResult> + Send + Sync>;

/// The rest of the chain, and behind it the handler.
pub struct Next {
    layers: Layers<dyn Middleware>,
    index: usize,
    handler: Innermost,
}

impl Next {
    pub(crate) fn new(layers: Layers<dyn Middleware>, handler: Innermost) -> Self {
        Self { layers, index: 0, handler }
    }

    /// Runs the rest.
    pub fn run(mut self, ctx: JobContext) -> BoxFuture<'static, HandlerResult> {
        match self.layers.get(self.index).cloned() {
            None => (self.handler)(ctx),
            Some(layer) => {
                self.index += 1;
                Box::pin(async move { layer.handle(ctx, self).await })
            }
        }
    }
}

impl std::fmt::Debug for Next {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Next").field("layers_left", &self.layers.len().saturating_sub(self.index)).finish()
    }
}
