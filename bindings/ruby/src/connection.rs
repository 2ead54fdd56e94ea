//! Calls to a server or embedded engine.
use std::sync::Arc;
use std::time::Duration;

use magnus::{Error, RString, Ruby};
use ojs::transport::{ConnectOptions, ResendPolicy};
use ojs_abi::connection::{Connection as Core, encryption};
use ojs_abi::error::AbiError;
use ojs_abi::outbox;
use serde::Deserialize;

use crate::gate;
use crate::text;
use crate::transport::HostTransport;

/// A connection, opened by its first call.
#[magnus::wrap(class = "OJS::Native::Connection", free_immediately)]
pub struct Connection {
    pub core: Arc<Core>,
}

/// How to connect; lengths of time are seconds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    auth_token: Option<String>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    timeout: Option<f64>,
    connect_timeout: Option<f64>,
    max_sends: Option<u32>,
    ca_file: Option<String>,
    client_cert: Option<(String, String)>,
    encryption_keys: Option<String>,
}

impl Connection {
    /// By URL; the settings are JSON.
    pub fn new(ruby: &Ruby, url: String, settings: String) -> Result<Self, Error> {
        gate::held(ruby, "Connection.new", || {
            let given: Settings = text::settings(&settings)?;
            let mut options = ConnectOptions::default();
            options.auth_token = given.auth_token;
            options.headers = given.headers;
            options.timeout = length("timeout", given.timeout)?.unwrap_or(options.timeout);
            options.connect_timeout = length("connect_timeout", given.connect_timeout)?.unwrap_or(options.connect_timeout);
            options.resend =
                ResendPolicy { max_sends: given.max_sends.unwrap_or(options.resend.max_sends).max(1), ..options.resend };
            options.tls_ca_file = given.ca_file.map(Into::into);
            options.tls_client_cert = given.client_cert.map(|(cert, key)| (cert.into(), key.into()));
            options.encryption = encryption(given.encryption_keys.as_deref())?;
            Ok(Self { core: Core::to_url(&url, options) })
        })
    }

    /// Over a transport written in Ruby.
    pub fn over(transport: &HostTransport) -> Self {
        Self { core: Core::over(transport.core.clone()) }
    }

    /// An enqueue request as a row of an outbox shall hold it: encrypted where this connection does so.
    pub fn encrypted(ruby: &Ruby, this: &Self, request: RString) -> Result<RString, Error> {
        let request = text::bytes(request);
        let text = gate::held(ruby, "Connection.encrypted", || outbox::encrypted(&this.core, &request))?;
        Ok(text::utf8(ruby, &text))
    }

    /// One call; returns the body of a 2xx answer. With `wait` the server may hold its answer back for so many seconds, and the
    /// call is sent once.
    pub fn call(
        ruby: &Ruby,
        this: &Self,
        method: String,
        path: String,
        body: Option<RString>,
        wait: Option<f64>,
    ) -> Result<RString, Error> {
        let body = body.map(text::bytes);
        let answer = gate::wait(ruby, "Connection.call", async {
            match length("wait", wait)? {
                Some(wait) => this.core.call_waiting(&method, &path, body, wait).await,
                None => this.core.call(&method, &path, body).await,
            }
        })?;
        Ok(text::utf8(ruby, &answer))
    }

    /// Closes, waiting for an embedded engine to flush.
    pub fn close(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        gate::wait(ruby, "Connection.close", async {
            this.core.close().await;
            Ok(())
        })
    }

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

/// A length of time in seconds.
pub fn length(name: &str, seconds: Option<f64>) -> Result<Option<Duration>, AbiError> {
    let parse = |seconds: f64| {
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| AbiError::invalid(format!("{name} must be zero or more seconds, got {seconds}")))
    };
    seconds.map(parse).transpose()
}
