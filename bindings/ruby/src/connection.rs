//! Calls to a server or embedded engine.
use std::sync::Arc;

use magnus::{Error, RString, Ruby};
use ojs_abi::connection::Connection as Core;
pub use ojs_abi::settings::length;
use ojs_abi::settings::{self, ClientSettings};
use ojs_abi::{follower, outbox};

use crate::gate;
use crate::text;
use crate::transport::HostTransport;

/// A connection, opened by its first call.
#[magnus::wrap(class = "OJS::Native::Connection", free_immediately)]
pub struct Connection {
    pub core: Arc<Core>,
}

impl Connection {
    /// By URL; the settings are JSON.
    pub fn new(ruby: &Ruby, url: String, settings: String) -> Result<Self, Error> {
        gate::held(ruby, "Connection.new", || Ok(Self { core: Core::to_url(&url, ClientSettings::read(&settings)?.options()?)? }))
    }

    /// Over a transport written in Ruby.
    pub fn over(transport: &HostTransport) -> Self {
        Self { core: Core::over(transport.core.clone()) }
    }

    /// Requests of a tenant over this connection.
    pub fn of_tenant(ruby: &Ruby, this: &Self, tenant: String) -> Result<Self, Error> {
        Ok(Self { core: gate::held(ruby, "Connection.of_tenant", || this.core.of_tenant(&tenant))? })
    }

    /// An enqueue request as a row of an outbox shall hold it: encrypted where this connection does so.
    pub fn encrypted(ruby: &Ruby, this: &Self, request: RString) -> Result<RString, Error> {
        let request = text::bytes(request);
        let text = gate::held(ruby, "Connection.encrypted", || outbox::encrypted(&this.core, &request))?;
        Ok(text::utf8(ruby, &text))
    }

    /// A delivered job with its arguments in the clear, as a worker's handler gets it.
    pub fn decrypted(ruby: &Ruby, this: &Self, job: RString) -> Result<RString, Error> {
        let job = text::bytes(job);
        let text = gate::held(ruby, "Connection.decrypted", || this.core.decrypted(&job))?;
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

/// What the variables of the environment say, both JSON.
pub fn environment(ruby: &Ruby, variables: String) -> Result<String, Error> {
    gate::held(ruby, "environment", || settings::environment(&variables))
}

/// The next request of a reader of events, both JSON.
pub fn follow_events(ruby: &Ruby, said: String) -> Result<String, Error> {
    gate::held(ruby, "follow_events", || follower::follow(&said))
}
