//! Calls to a server or embedded engine.
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use napi::bindgen_prelude::*;
use napi_derive::napi;
use ojs_abi::connection::Connection as Core;
use ojs_abi::error::AbiError;
use ojs_abi::follower;
use ojs_abi::settings::{self, ClientSettings};

use crate::gate;
use crate::replies::{Answer, Replies};
use crate::transport::HostTransport;

/// A connection, opened by its first call.
#[napi]
pub struct Connection {
    pub(crate) core: Arc<Core>,
}

#[napi]
impl Connection {
    /// By URL; the settings are JSON.
    #[napi(constructor)]
    pub fn new(url: String, settings: String) -> Result<Self> {
        gate::enter("Connection", || Ok(Self { core: Core::to_url(&url, ClientSettings::read(&settings)?.options()?)? }))
    }

    /// Over a transport written in JavaScript.
    #[napi(factory)]
    pub fn over(transport: &HostTransport) -> Self {
        Self { core: Core::over(transport.core.clone()) }
    }

    /// Requests of a tenant over this connection.
    #[napi]
    pub fn of_tenant(&self, tenant: String) -> Result<Connection> {
        Ok(Self { core: gate::enter("Connection.ofTenant", || self.core.of_tenant(&tenant))? })
    }

    /// One call; the answer goes to `replies` under `ticket`. With `wait` the server may hold its answer back for so many
    /// milliseconds, and the call is sent once.
    #[napi]
    pub fn submit(
        &self,
        replies: &Replies,
        ticket: f64,
        method: String,
        path: String,
        body: Option<String>,
        wait: Option<f64>,
    ) -> Result<()> {
        let core = Arc::clone(&self.core);
        let body = body.map(Bytes::from);
        let wait = gate::enter("Connection.submit", || millis("wait", wait))?;
        replies.submit("Connection.submit", ticket, async move {
            let answer = match wait {
                Some(wait) => core.call_waiting(&method, &path, body, wait).await,
                None => core.call(&method, &path, body).await,
            };
            answer.map(Answer::Body)
        })
    }

    /// Closes; an embedded engine is flushed.
    #[napi]
    pub fn close(&self, replies: &Replies, ticket: f64) -> Result<()> {
        let core = Arc::clone(&self.core);
        replies.submit("Connection.close", ticket, async move {
            core.close().await;
            Ok(Answer::Number(None))
        })
    }

    /// Whether it was closed.
    #[napi(getter)]
    pub fn closed(&self) -> bool {
        self.core.is_closed()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The garbage collector must not wait.
        Core::let_go("Connection.drop", Arc::clone(&self.core));
    }
}

/// What the variables of the environment say, both JSON.
#[napi]
pub fn environment(variables: String) -> Result<String> {
    gate::enter("environment", || settings::environment(&variables))
}

/// The next request of a reader of events, both JSON.
#[napi]
pub fn follow_events(said: String) -> Result<String> {
    gate::enter("followEvents", || follower::follow(&said))
}

/// A length of time in milliseconds.
pub fn millis(name: &str, millis: Option<f64>) -> std::result::Result<Option<Duration>, AbiError> {
    let parse = |millis: f64| {
        Duration::try_from_secs_f64(millis / 1000.0)
            .map_err(|_| AbiError::invalid(format!("{name} must be zero or more milliseconds, got {millis}")))
    };
    millis.map(parse).transpose()
}
