//! What a request hands on to the jobs it makes: user, request, trace, tenant, language ("Framework Adapters", section
//! 7.1).
//!
//! A web framework's adapter [scopes](RequestContext::scope) it around the request; jobs that pass [`carry`] meanwhile have it in their
//! metadata, and [`restore`], a worker's middleware, scopes it again around the handler, for the jobs that the handler makes.
use std::cell::RefCell;
use std::future::Future;

use serde_json::{Map, Value};

use crate::error::Error;
use crate::job::Job;
use crate::middleware::{EnqueueNext, Next};
use crate::request::JobRequest;
use crate::worker::{HandlerResult, JobContext};

const USER: &str = "ojs.context.user_id";
const REQUEST: &str = "ojs.context.request_id";
const TRACE: &str = "traceparent";
const TENANT: &str = "tenant_id";
const LOCALE: &str = "ojs.context.locale";
const KEYS: [&str; 5] = [USER, REQUEST, TRACE, TENANT, LOCALE];

tokio::task_local! {
    static CURRENT: RefCell<RequestContext>;
}

/// Metadata of a request, under the names that the specification gives them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestContext {
    meta: Map<String, Value>,
}

impl RequestContext {
    /// The names in metadata.
    pub const NAMES: [&'static str; 5] = KEYS;

    /// From a request's headers: `X-Request-ID`, `traceparent`, `X-OJS-Tenant` and the first language of `Accept-Language`.
    ///
    /// ```
    /// use ojs::request_context::RequestContext;
    /// let headers = |name: &str| (name == "Accept-Language").then(|| "de-DE,de;q=0.8".to_owned());
    /// let context = RequestContext::from_headers(headers).with_user_id("7");
    /// assert_eq!(context.meta()["ojs.context.locale"], "de-DE");
    /// ```
    #[must_use]
    pub fn from_headers(header: impl Fn(&str) -> Option<String>) -> Self {
        let locale = header("Accept-Language").unwrap_or_default();
        let locale = locale.split([',', ';']).next().unwrap_or_default().trim();
        Self::default()
            .with(REQUEST, header("X-Request-ID").unwrap_or_default())
            .with(TRACE, header("traceparent").unwrap_or_default())
            .with(TENANT, header("X-OJS-Tenant").unwrap_or_default())
            .with(LOCALE, if locale == "*" { "" } else { locale })
    }

    /// What authentication found out.
    #[must_use]
    pub fn with_user_id(self, id: impl Into<String>) -> Self {
        self.with(USER, id)
    }

    /// A tenant known from somewhere better than a header.
    #[must_use]
    pub fn with_tenant_id(self, id: impl Into<String>) -> Self {
        self.with(TENANT, id)
    }

    fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        let value: String = value.into();
        if !value.is_empty() {
            self.meta.insert(name.to_owned(), value.into());
        }
        self
    }

    /// The metadata that jobs get.
    #[must_use]
    pub const fn meta(&self) -> &Map<String, Value> {
        &self.meta
    }

    /// That of the present task; empty outside of a scope. A task that is spawned has none of its parent's.
    #[must_use]
    pub fn current() -> Self {
        CURRENT.try_with(|current| current.borrow().clone()).unwrap_or_default()
    }

    /// Jobs that are made inside carry it.
    pub async fn scope<F: Future>(self, inside: F) -> F::Output {
        CURRENT.scope(RefCell::new(self), inside).await
    }

    /// Adds to the present scope, once authentication is done. `false` outside of one.
    pub fn update(change: impl FnOnce(Self) -> Self) -> bool {
        CURRENT.try_with(|current| current.replace_with(|context| change(std::mem::take(context)))).is_ok()
    }

    /// Gives a job this metadata; what the job says itself stays.
    pub fn complete(&self, mut request: JobRequest) -> JobRequest {
        for (name, value) in &self.meta {
            request.meta.entry(name).or_insert_with(|| value.clone());
        }
        request
    }

    fn of_job(ctx: &JobContext) -> Self {
        let mut meta: Map<String, Value> = ctx.job().meta.parse().unwrap_or_default();
        meta.retain(|name, _| KEYS.contains(&name.as_str()));
        Self { meta }
    }
}

/// A layer around enqueueing: `client.use_middleware("request_context", carry)`.
///
/// # Errors
/// Those of the layers behind it.
pub async fn carry(request: JobRequest, next: EnqueueNext) -> Result<Option<Job>, Error> {
    next.run(RequestContext::current().complete(request)).await
}

/// A layer around handlers: `worker.middleware().add("request_context", restore)`.
///
/// # Errors
/// Those of the layers behind it, and of the handler.
pub async fn restore(ctx: JobContext, next: Next) -> HandlerResult {
    RequestContext::of_job(&ctx).scope(next.run(ctx)).await
}
