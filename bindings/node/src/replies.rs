//! Answers to calls.
use std::sync::Arc;

use bytes::Bytes;
use napi::bindgen_prelude::*;
use napi_derive::napi;
use ojs_abi::error::AbiError;
use ojs_abi::replies::Replies as Core;
use ojs_abi::runtime;

use crate::bell::Bell;
use crate::gate;

/// What an answer is.
pub enum Answer {
    /// The body of a 2xx.
    Body(Bytes),
    /// A number, or none: a verdict of a heartbeat.
    Number(Option<u8>),
    /// An address.
    Text(String),
}

type Done = std::result::Result<Answer, AbiError>;

/// An answer, for JavaScript.
#[napi(object)]
pub struct Reply {
    /// Of the call.
    pub ticket: f64,
    /// False: `text` is an error.
    pub ok: bool,
    /// JSON text, or an address.
    pub text: Option<String>,
    /// A verdict.
    pub number: Option<u32>,
}

/// Answers wait here for one thread of JavaScript.
#[napi]
pub struct Replies {
    core: Arc<Core<Done>>,
}

#[napi]
impl Replies {
    /// `ring` is called when there are some.
    #[napi(constructor)]
    pub fn new(ring: Function<'_, (), ()>) -> Result<Self> {
        Ok(Self { core: Core::new(Box::new(Bell::new(&ring)?)) })
    }

    /// All that are there.
    #[napi]
    pub fn take(&self) -> Result<Vec<Reply>> {
        let answers = gate::enter("Replies.take", || self.core.take())?;
        Ok(answers.into_iter().map(|(ticket, done)| reply(ticket, done)).collect())
    }
}

impl Replies {
    /// Runs `work` and puts its answer in.
    pub fn submit<F>(&self, export: &'static str, ticket: f64, work: F) -> Result<()>
    where
        F: Future<Output = Done> + Send + 'static,
    {
        let core = Arc::clone(&self.core);
        gate::enter(export, || {
            let handle = runtime::handle()?;
            let work = handle.spawn(work);
            handle.spawn(async move {
                // A panic is an answer too, so that no caller waits for ever.
                let done = work.await.unwrap_or_else(|error| Err(AbiError::Panicked { export, message: error.to_string() }));
                core.put(number(ticket), done);
            });
            Ok(())
        })
    }
}

/// Tickets are counted up from one: a float holds them exactly.
pub fn number(ticket: f64) -> u64 {
    ticket as u64
}
fn reply(ticket: u64, done: Done) -> Reply {
    let (ok, text, number) = match done {
        Ok(Answer::Body(body)) => (true, Some(String::from_utf8_lossy(&body).into_owned()), None),
        Ok(Answer::Number(number)) => (true, None, number.map(u32::from)),
        Ok(Answer::Text(text)) => (true, Some(text), None),
        Err(error) => (false, Some(gate::describe(&error)), None),
    };
    Reply { ticket: ticket as f64, ok, text, number }
}
