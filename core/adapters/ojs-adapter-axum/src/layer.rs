//! Around each request: its context, and the way to reach [`Ojs`].
use std::convert::Infallible;
use std::task::{Context, Poll};

use axum::extract::{FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use ojs::request_context::RequestContext;
use tower::{Layer, Service};

use crate::enqueue::Ojs;

type BoxFuture<T> = std::pin::Pin<Box<dyn Future<Output = T> + Send>>;

/// A layer for `Router::layer`.
#[derive(Debug, Clone)]
pub struct OjsLayer {
    ojs: Ojs,
}

impl OjsLayer {
    pub(crate) const fn new(ojs: Ojs) -> Self {
        Self { ojs }
    }
}

impl<S> Layer<S> for OjsLayer {
    type Service = OjsService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        OjsService { ojs: self.ojs.clone(), inner }
    }
}

/// What the layer makes of a service.
#[derive(Debug, Clone)]
pub struct OjsService<S> {
    ojs: Ojs,
    inner: S,
}

impl<S> Service<Request> for OjsService<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<Result<Response, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let headers = request.headers();
        let context = RequestContext::from_headers(|name| Some(headers.get(name)?.to_str().ok()?.to_owned()));
        request.extensions_mut().insert(self.ojs.clone());
        // The one that was ready is used; its clone may not be.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        Box::pin(async move { context.scope(inner.call(request)).await })
    }
}

/// A handler asks for [`Ojs`], and no [`OjsLayer`] is around it.
#[derive(Debug, thiserror::Error)]
#[error("put Ojs::layer() around the router")]
pub struct OjsMissing;

impl IntoResponse for OjsMissing {
    fn into_response(self) -> Response {
        (StatusCode::INTERNAL_SERVER_ERROR, self.to_string()).into_response()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Ojs {
    type Rejection = OjsMissing;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, OjsMissing> {
        parts.extensions.get::<Self>().cloned().ok_or(OjsMissing)
    }
}
