//! Calls to a server or embedded engine.
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use napi::bindgen_prelude::*;
use napi_derive::napi;
use ojs::transport::{ConnectOptions, ResendPolicy};
use ojs_abi::connection::{Connection as Core, encryption};
use ojs_abi::error::AbiError;

use crate::gate;
use crate::replies::{Answer, Replies};
use crate::transport::HostTransport;

/// How to connect; lengths of time are milliseconds.
#[napi(object)]
pub struct ConnectionOptions {
    /// Bearer token.
    pub auth: Option<String>,
    /// Name, value, name, value …
    pub headers: Option<Vec<String>>,
    /// For a whole call.
    pub timeout: Option<f64>,
    /// For connecting.
    pub connect_timeout: Option<f64>,
    /// How often a request is sent at most.
    pub max_sends: Option<u32>,
    /// Certificates to trust.
    pub ca_file: Option<String>,
    /// Certificate of the client.
    pub cert_file: Option<String>,
    /// Its key.
    pub key_file: Option<String>,
    /// Keys that encrypt arguments: `name:key,name:key`.
    pub encryption_keys: Option<String>,
}

/// A connection, opened by its first call.
#[napi]
pub struct Connection {
    pub(crate) core: Arc<Core>,
}

#[napi]
impl Connection {
    /// By URL.
    #[napi(constructor)]
    pub fn new(url: String, options: ConnectionOptions) -> Result<Self> {
        gate::enter("Connection", || Ok(Self { core: Core::to_url(&url, connect_options(options)?) }))
    }

    /// Over a transport written in JavaScript.
    #[napi(factory)]
    pub fn over(transport: &HostTransport) -> Self {
        Self { core: Core::over(transport.core.clone()) }
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

fn connect_options(given: ConnectionOptions) -> std::result::Result<ConnectOptions, AbiError> {
    let mut options = ConnectOptions::default();
    options.auth_token = given.auth;
    let headers = given.headers.unwrap_or_default();
    options.headers = headers.chunks_exact(2).filter_map(|pair| Some((pair.first()?.clone(), pair.get(1)?.clone()))).collect();
    options.timeout = millis("timeout", given.timeout)?.unwrap_or(options.timeout);
    options.connect_timeout = millis("connectTimeout", given.connect_timeout)?.unwrap_or(options.connect_timeout);
    options.resend = ResendPolicy { max_sends: given.max_sends.unwrap_or(options.resend.max_sends).max(1), ..options.resend };
    options.encryption = encryption(given.encryption_keys.as_deref())?;
    options.tls_ca_file = given.ca_file.map(Into::into);
    options.tls_client_cert = given.cert_file.zip(given.key_file).map(|(cert, key)| (cert.into(), key.into()));
    Ok(options)
}

/// A length of time in milliseconds.
pub fn millis(name: &str, millis: Option<f64>) -> std::result::Result<Option<Duration>, AbiError> {
    let parse = |millis: f64| {
        Duration::try_from_secs_f64(millis / 1000.0)
            .map_err(|_| AbiError::invalid(format!("{name} must be zero or more milliseconds, got {millis}")))
    };
    millis.map(parse).transpose()
}
