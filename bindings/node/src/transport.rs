//! Transports written in JavaScript.
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use napi::bindgen_prelude::*;
use napi_derive::napi;
use ojs_abi::host_transport::HostTransport as Core;

use crate::bell::Bell;
use crate::gate;
use crate::replies::number;

/// A request of the core.
#[napi(object)]
pub struct HostRequest {
    /// The answer goes by this.
    pub ticket: f64,
    /// `GET`, `POST`, …
    pub method: String,
    /// Relative to `/ojs/v1`, or `/ojs/manifest`.
    pub path: String,
    /// JSON text.
    pub body: Option<String>,
}

/// Requests of the core wait here for one thread of JavaScript.
#[napi]
pub struct HostTransport {
    pub(crate) core: Arc<Core>,
}

#[napi]
impl HostTransport {
    /// `ring` is called for every request.
    #[napi(constructor)]
    pub fn new(ring: Function<'_, (), ()>) -> Result<Self> {
        Ok(Self { core: Core::with_doorbell(Box::new(Bell::new(&ring)?)) })
    }

    /// The next request, if there is one.
    #[napi]
    pub fn next(&self) -> Result<Option<HostRequest>> {
        let request = gate::enter("HostTransport.next", || self.core.pull(Duration::ZERO))?;
        Ok(request.map(|request| HostRequest {
            ticket: request.ticket as f64,
            method: request.method,
            path: request.path,
            body: request.body.map(|body| String::from_utf8_lossy(&body).into_owned()),
        }))
    }

    /// Answers a request.
    #[napi]
    pub fn reply(&self, ticket: f64, status: u16, body: String) {
        self.core.reply(number(ticket), status, Bytes::from(body));
    }

    /// Says that there is no answer.
    #[napi]
    pub fn fail(&self, ticket: f64, message: String) {
        self.core.fail(number(ticket), message);
    }

    /// Ends it.
    #[napi]
    pub fn close(&self) {
        self.core.shut();
    }
}
