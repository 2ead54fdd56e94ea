//! Transports written in Ruby.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use magnus::{Error, RArray, RString, Ruby};
use ojs_abi::host_transport::HostTransport as Core;

use crate::gate;
use crate::text;

/// How often a waiting thread looks whether Ruby wants it back.
const SLICE: Duration = Duration::from_millis(50);

/// Requests of the core wait here for a Ruby thread.
#[magnus::wrap(class = "OJS::Native::HostTransport", free_immediately)]
pub struct HostTransport {
    pub core: Arc<Core>,
}

impl HostTransport {
    pub fn new() -> Self {
        Self { core: Core::new() }
    }

    /// `[ticket, method, path, body]`, or nil when nothing came in time; ClosedError at the end.
    pub fn pull(ruby: &Ruby, this: &Self, wait_ms: u64) -> Result<Option<RArray>, Error> {
        let interrupted = AtomicBool::new(false);
        let unblock = || interrupted.store(true, Ordering::Release);
        let ends = Instant::now() + Duration::from_millis(wait_ms);
        let request = gate::released(ruby, "HostTransport.pull", unblock, || {
            loop {
                let request = this.core.pull(SLICE)?;
                if request.is_some() || Instant::now() >= ends {
                    return Ok(Some(request));
                }
                if interrupted.swap(false, Ordering::AcqRel) {
                    return Ok(None);
                }
            }
        })?;
        let Some(request) = request else { return Ok(None) };
        let array = ruby.ary_new_capa(4);
        array.push(request.ticket)?;
        array.push(request.method)?;
        array.push(request.path)?;
        array.push(request.body.map(|body| text::utf8(ruby, &body)))?;
        Ok(Some(array))
    }

    /// Answers a request.
    pub fn reply(&self, ticket: u64, status: u16, body: RString) {
        self.core.reply(ticket, status, text::bytes(body));
    }

    /// Says that there is no answer.
    pub fn fail(&self, ticket: u64, message: String) {
        self.core.fail(ticket, message);
    }

    /// Ends it.
    pub fn close(&self) {
        self.core.shut();
    }
}
