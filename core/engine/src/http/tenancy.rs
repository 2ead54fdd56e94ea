//! The tenant of a request, and the engine as that tenant sees it (extensions section 10).
//!
//! The tenant is found once, in front of the handler, and the handler gets an engine that shows what belongs to the
//! tenant and nothing else. So a handler cannot forget to ask. A route that does not say `of_tenants` is for operators:
//! it is refused to each caller of a tenant, whether what it names exists or not.
use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use axum::response::{IntoResponse, Response};
use axum::routing::future::RouteFuture;
use axum::routing::{MethodRouter, Route};
use futures_util::future::{BoxFuture, Either};
use ojs_model::envelope::{DEFAULT_TENANT, check_tenant};
use ojs_model::{ErrorCode, NewJob, OjsError, Timestamp};
use serde_json::json;
use tower::Service;
use tower::layer::layer_fn;

use crate::engine::Engine;
use crate::http::guard::Caller;
use crate::http::header::TENANT;
use crate::http::reply::Failure;
use crate::options::MissingTenant;

/// The header as messages show it.
const SHOWN: &str = "X-OJS-Tenant";

/// A route whose handler gets the engine as the caller sees it; `open`: callers of tenants may call it.
pub fn of_caller(engine: &Engine, open: bool, handler: MethodRouter<Engine>) -> MethodRouter<Engine> {
    let tenants = Arc::new(OfTenants { engine: engine.clone(), handler: handler.clone(), open });
    handler.route_layer(layer_fn(move |plain: Route| OfCaller { plain, tenants: Arc::clone(&tenants) }))
}

/// A handler for callers of tenants.
struct OfTenants {
    engine: Engine,
    handler: MethodRouter<Engine>,
    /// Whether callers of tenants may call it.
    open: bool,
}

/// See [`of_caller`]. It is cloned for every request, so what only tenants need is shared.
#[derive(Clone)]
struct OfCaller {
    /// The handler for callers without a tenant.
    plain: Route,
    tenants: Arc<OfTenants>,
}

impl Service<Request> for OfCaller {
    type Response = Response;
    type Error = Infallible;
    type Future = Either<RouteFuture<Infallible>, BoxFuture<'static, Result<Response, Infallible>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        match tenant_of(&request) {
            Ok(None) => Either::Left(self.plain.call(request)),
            Ok(Some(tenant)) if self.tenants.open => {
                let own = self.tenants.handler.clone().with_state(self.tenants.engine.of_tenant(tenant));
                Either::Right(Box::pin(answer(own, request)))
            }
            Ok(Some(tenant)) => refuse(for_operators(&tenant)),
            Err(error) => refuse(error),
        }
    }
}

fn refuse(error: OjsError) -> <OfCaller as Service<Request>>::Future {
    Either::Right(Box::pin(std::future::ready(Ok(Failure::from(error).into_response()))))
}

async fn answer(mut handler: MethodRouter, request: Request) -> Result<Response, Infallible> {
    let mut response = handler.call(request).await?;
    if response.extensions().get::<Failure>().is_some() {
        // Its body is written later: the length that the handler's router has noted is that of an empty one.
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    Ok(response)
}

/// The tenant of a request: the one that its key is bound to, else the one that its header names.
fn tenant_of(request: &Request) -> Result<Option<Arc<str>>, OjsError> {
    let named = named(request.headers())?;
    let bound = request.extensions().get::<Caller>().and_then(|Caller(holder)| holder.tenant());
    match (named, bound) {
        (Some(named), Some(bound)) if named != &**bound => {
            let message = format!("The key of the request belongs to another tenant than '{named}'.");
            Err(OjsError::new(ErrorCode::PermissionDenied, message).with_details(json!({"field": SHOWN, "tenant_id": named})))
        }
        (_, Some(bound)) => Ok(Some(Arc::clone(bound))),
        (named, None) => Ok(named.map(Arc::from)),
    }
}

/// The tenant that the header names, under all its spellings.
fn named(headers: &HeaderMap) -> Result<Option<&str>, OjsError> {
    let mut found = None;
    for value in TENANT.iter().flat_map(|name| headers.get_all(name)) {
        let id = value.to_str().map_err(|_| OjsError::invalid_field(SHOWN, format!("{SHOWN} must be plain text.")))?.trim();
        check_tenant(SHOWN, id)?;
        if found.is_some_and(|other| other != id) {
            return Err(OjsError::invalid_field(SHOWN, format!("{SHOWN} is there twice, with different tenants.")));
        }
        found = Some(id);
    }
    Ok(found)
}

fn for_operators(tenant: &str) -> OjsError {
    let message = format!("This concerns all tenants of the server: it is not for a caller of tenant '{tenant}'.");
    OjsError::new(ErrorCode::PermissionDenied, message)
        .with_details(json!({"tenant_id": tenant, "reason": "operators_only"}))
        .with_hint("Send it without X-OJS-Tenant, with a key that is bound to no tenant.")
}

impl Engine {
    /// Reads an enqueue request of the caller of this engine.
    ///
    /// # Errors
    /// As `NewJob::parse_of`; 422 when it names no tenant and the server wants one.
    pub(crate) fn parse_job(&self, text: &str, now: Timestamp, request_id: Option<&str>) -> Result<NewJob, OjsError> {
        let job = NewJob::parse_of(text, now, request_id, self.tenant().map(|tenant| &**tenant))?;
        self.check_has_tenant(|| job.tenant.is_some())?;
        Ok(job)
    }

    /// Refuses what belongs to no tenant, where the server wants one. `named`: the request names one in its body.
    ///
    /// # Errors
    /// 422.
    pub(crate) fn check_has_tenant(&self, named: impl FnOnce() -> bool) -> Result<(), OjsError> {
        if self.tenant().is_some() || self.options().missing_tenant == MissingTenant::Default || named() {
            return Ok(());
        }
        let message = "This server wants to know the tenant of each job, and the request names none.";
        let mut error = OjsError::new(ErrorCode::ValidationError, message).with_details(json!({"field": "meta.tenant_id"}));
        error.status = 422;
        Err(error.with_hint("Send the header X-OJS-Tenant, or meta.tenant_id."))
    }

    /// The id of a worker as stores keep it: workers of two tenants are never the same.
    pub(crate) fn worker_id(&self, id: &str) -> String {
        match self.tenant().filter(|tenant| &***tenant != DEFAULT_TENANT) {
            Some(tenant) => format!("{tenant}/{id}"),
            None => id.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_two_spellings_and_one_value() {
        let headers = |pairs: &[(&'static str, &'static str)]| {
            pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect::<HeaderMap>()
        };
        assert_eq!(named(&headers(&[])).unwrap(), None);
        assert_eq!(named(&headers(&[("x-ojs-tenant-id", " acme ")])).unwrap(), Some("acme"));
        assert_eq!(named(&headers(&[("x-ojs-tenant", "acme"), ("x-ojs-tenant-id", "acme")])).unwrap(), Some("acme"));
        for wrong in
            [&[("x-ojs-tenant", "acme"), ("x-ojs-tenant-id", "blog")][..], &[("x-ojs-tenant", "a/b")], &[("x-ojs-tenant", "")]]
        {
            let error = named(&headers(wrong)).unwrap_err();
            assert_eq!((error.status, error.details.unwrap()["field"].as_str()), (400, Some("X-OJS-Tenant")));
        }
    }
}
