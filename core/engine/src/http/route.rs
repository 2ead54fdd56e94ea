//! One route below `/ojs/v1`. The kernel lists its routes in `routes`, and each feature in its `mod.rs`.
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{self, MethodRouter};

use crate::engine::Engine;
use crate::http::access::Permission;
use crate::http::operations::OPERATIONS;

/// One method of one path.
#[derive(Debug)]
pub struct Route {
    /// The method.
    #[cfg_attr(not(test), expect(dead_code, reason = "the handler knows it; the test of the router compares it"))]
    pub method: Method,
    /// Relative to `/ojs/v1`.
    pub path: &'static str,
    /// What a key must allow.
    pub needs: Permission,
    /// Whether callers of a tenant may call it. All other routes are for operators.
    pub is_of_tenants: bool,
    /// Who answers.
    pub handler: MethodRouter<Engine>,
}

impl Route {
    /// A route with the permission that its operation declares. A route without an operation is for administrators
    /// only; a test names it.
    fn at(method: Method, path: &'static str, handler: MethodRouter<Engine>) -> Self {
        let declared = OPERATIONS.iter().find(|operation| operation.path == path && operation.method == method.as_str());
        let needs = declared.map_or(Permission::Administer, |operation| operation.permission);
        Self { method, path, needs, is_of_tenants: false, handler }
    }

    /// Callers of a tenant may call it: it shows and changes what belongs to that tenant, or nothing of any tenant.
    #[must_use]
    pub fn of_tenants(self) -> Self {
        Self { is_of_tenants: true, ..self }
    }

    /// A `GET` route.
    pub fn get<T: 'static>(path: &'static str, handler: impl Handler<T, Engine>) -> Self {
        Self::at(Method::GET, path, routing::get(handler))
    }

    /// A `POST` route.
    pub fn post<T: 'static>(path: &'static str, handler: impl Handler<T, Engine>) -> Self {
        Self::at(Method::POST, path, routing::post(handler))
    }

    /// A `PUT` route.
    pub fn put<T: 'static>(path: &'static str, handler: impl Handler<T, Engine>) -> Self {
        Self::at(Method::PUT, path, routing::put(handler))
    }

    /// A `PATCH` route.
    pub fn patch<T: 'static>(path: &'static str, handler: impl Handler<T, Engine>) -> Self {
        Self::at(Method::PATCH, path, routing::patch(handler))
    }

    /// A `DELETE` route.
    pub fn delete<T: 'static>(path: &'static str, handler: impl Handler<T, Engine>) -> Self {
        Self::at(Method::DELETE, path, routing::delete(handler))
    }
}
