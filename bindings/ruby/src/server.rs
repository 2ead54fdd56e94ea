//! An OJS server in this process.
use std::sync::Mutex;

use magnus::{Error, Ruby};
use ojs_abi::command;
use ojs_abi::error::AbiError;
use ojs_abi::process::Owner;
use ojs_abi::server::{Admission, Server as Core};

use crate::gate;

/// A running server.
#[magnus::wrap(class = "OJS::Native::Server", free_immediately)]
pub struct Server {
    owner: Owner,
    core: Mutex<Option<Core>>,
    url: String,
}

impl Server {
    /// Opens the store and listens on `ADDRESS:PORT`; port 0 takes a free one. With `keys`, a file, everybody is asked for one; without
    /// it and `insecure`, only loopback will do.
    pub fn new(
        ruby: &Ruby,
        store: String,
        listen: String,
        test_mode: bool,
        keys: Option<String>,
        insecure: bool,
    ) -> Result<Self, Error> {
        let admission = Admission::of(keys, insecure);
        let core = gate::wait(ruby, "Server.new", Core::start(&store, &listen, test_mode, admission))?;
        let url = core.url().to_owned();
        Ok(Self { owner: Owner::current(), core: Mutex::new(Some(core)), url })
    }

    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Stops listening, answers requests under way, closes the store. A second call does nothing.
    pub fn stop(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        let core = this.core.lock().map(|mut core| core.take()).unwrap_or_default();
        match core {
            Some(core) => gate::wait(ruby, "Server.stop", async move { core.stop().await.map_err(AbiError::System) }),
            None => Ok(()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.owner.is_current() {
            // In a forked child nothing of the parent's is taken down, nor woken: its locks may have been inherited locked.
            std::mem::forget(self.core.get_mut().map(Option::take));
        }
    }
}

/// What the command line and the environment of the gem's `ojs` say, both JSON.
pub fn read_command(ruby: &Ruby, invocation: String) -> Result<String, Error> {
    gate::held(ruby, "read_command", || command::read(&invocation))
}
