//! Jobs in requests of platforms that bring the messages of a queue over HTTP.
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{Method, StatusCode};

use super::answer::Answer;
use super::delivery::Delivery;
use super::push::PushHandler;
use super::runs::Settled;
use crate::error::Error;

/// The job in a request, and how often the queue has brought it.
pub(super) type Brought = (Vec<u8>, u32);

impl PushHandler {
    /// Answers a request of a platform: `done` when its queue may forget the message, 500 when it shall bring the
    /// message again.
    pub(super) async fn brought(
        &self,
        method: &Method,
        body: &[u8],
        read: impl FnOnce(&[u8]) -> Result<Brought, Error>,
        done: Answer,
    ) -> Answer {
        if let Some(refusal) = Answer::wrong_request(method, body, "the message of a queue") {
            return refusal;
        }
        let ended = match read(body) {
            Ok((job, count)) => self.settled(&job, count).await,
            Err(error) => Err(error),
        };
        match ended {
            Ok(()) => done,
            Err(error) => {
                tracing::error!(%error, "a message of a queue shall come again");
                Answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, error.code(), &error.to_string(), None)
            }
        }
    }

    /// Runs a job that a queue has brought, and reports its outcome.
    async fn settled(&self, job: &[u8], count: u32) -> Result<(), Error> {
        let delivery = Delivery::parse(job)?;
        if count > 1 && self.runs.is_stale(&delivery).await {
            tracing::info!(job = %delivery.id, "a job came again after the server moved on; it is not run");
            return Ok(());
        }
        match self.runs.settle(delivery, self.deadline()).await {
            Settled::Ran { taken: true, .. } | Settled::Gone => Ok(()),
            Settled::Ran { ended, .. } => Err(ended.again()),
            Settled::Unread(error) => Err(error),
        }
    }
}

/// The bytes that a platform has written as base64.
pub(super) fn decoded(text: &str, member: &'static str) -> Result<Vec<u8>, Error> {
    BASE64_STANDARD.decode(text).map_err(|_| Error::validation(member, format!("'{member}' is not base64")))
}
