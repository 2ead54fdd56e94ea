//! An OJS server in this process.
use std::sync::{Arc, Mutex, PoisonError};

use napi_derive::napi;
use ojs_abi::command;
use ojs_abi::error::AbiError;
use ojs_abi::server::{Admission, Server as Core};

use crate::gate;
use crate::replies::{Answer, Replies};

/// A server: not started, running, or over.
#[napi]
#[derive(Default)]
pub struct Server {
    core: Arc<Mutex<Option<Core>>>,
}

#[napi]
impl Server {
    /// A server that does not run yet.
    #[napi(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the store and listens on `ADDRESS:PORT`; the answer is the URL. With `keys`, a file, everybody is asked for one; without it
    /// and `insecure`, only loopback will do.
    #[napi]
    #[allow(clippy::too_many_arguments, reason = "the settings of a server, each by its name in JavaScript")]
    pub fn start(
        &self,
        replies: &Replies,
        ticket: f64,
        store: String,
        listen: String,
        test_mode: bool,
        keys: Option<String>,
        insecure: bool,
    ) -> napi::Result<()> {
        let admission = Admission::of(keys, insecure);
        let place = Arc::clone(&self.core);
        replies.submit("Server.start", ticket, async move {
            let core = Core::start(&store, &listen, test_mode, admission).await?;
            let url = core.url().to_owned();
            place.lock().unwrap_or_else(PoisonError::into_inner).replace(core);
            Ok(Answer::Text(url))
        })
    }

    /// Stops listening, answers requests under way, closes the store. A second call does nothing.
    #[napi]
    pub fn stop(&self, replies: &Replies, ticket: f64) -> napi::Result<()> {
        let core = self.core.lock().unwrap_or_else(PoisonError::into_inner).take();
        replies.submit("Server.stop", ticket, async move {
            if let Some(core) = core {
                core.stop().await.map_err(AbiError::System)?;
            }
            Ok(Answer::Number(None))
        })
    }
}

/// What the command line and the environment of `npx ojs` say, both JSON.
#[napi]
pub fn read_command(invocation: String) -> napi::Result<String> {
    gate::enter("readCommand", || command::read(&invocation))
}
