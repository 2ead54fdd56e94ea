//! Runs single jobs, and reports the outcomes of those that a queue has brought.
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::deadline::Deadline;
use super::delivery::Delivery;
use crate::client::segment;
use crate::dispatch::HandlerFailure;
use crate::error::Error;
use crate::transport::{Request, Response, TransportError, TransportErrorKind};
use crate::worker::{Ended, Worker};

/// How often a call is sent while no answer comes. The server takes an outcome once.
const SENDS: usize = 2;
/// The longest that one call may take: all sends fit into the margin before the platform's limit.
const CALL: Duration = Duration::from_secs(2);

/// What became of a job that a queue has brought.
pub(super) enum Settled {
    /// It ran. `taken` says whether the server has the outcome; without a server, whether the job was completed.
    Ran { ended: Box<Ended>, taken: bool },
    /// The server does not have it any more.
    Gone,
    /// It could not be read.
    Unread(Error),
}

/// The worker whose handlers run, which is never started, and whether it has a server.
#[derive(Debug)]
pub(super) struct Runs {
    pub(super) worker: Worker,
    pub(super) has_server: bool,
}

impl Runs {
    /// Runs the handler of a job.
    pub(super) async fn run(&self, delivery: &Delivery, deadline: Deadline) -> Result<Ended, Error> {
        let worker_id = &delivery.worker_id;
        let ended = self.worker.run_delivered(delivery.envelope()?, worker_id, self.has_server, deadline.left()).await?;
        if let Some(failure) = ended.failure() {
            let (job, code, message) = (&delivery.id, &failure.code, &failure.message);
            tracing::warn!(%job, attempt = delivery.attempt, %code, %message, "a job in a function failed");
        }
        Ok(ended)
    }

    /// Runs a job that a queue has brought, and reports its outcome.
    pub(super) async fn settle(&self, delivery: Delivery, deadline: Deadline) -> Settled {
        let id = delivery.id.clone();
        let delivery = match self.whole(delivery).await {
            Ok(delivery) => delivery,
            Err(error) if status(&error) == Some(404) => return Settled::Gone,
            Err(error) => return Settled::Unread(error),
        };
        let ended = match self.run(&delivery, deadline).await {
            Ok(ended) => ended,
            Err(error) => return Settled::Unread(error),
        };
        let taken = if self.has_server { self.report(&id, &ended).await } else { ended.is_completed() };
        Settled::Ran { ended: Box::new(ended), taken }
    }

    /// Whether the server has moved on since a message was sent that a queue delivers again: the job has ended, or
    /// is at a later attempt. A server that does not answer has not moved on.
    pub(super) async fn is_stale(&self, delivery: &Delivery) -> bool {
        #[derive(Deserialize)]
        struct Now {
            state: String,
            #[serde(default)]
            attempt: u32,
        }
        if !self.has_server {
            return false;
        }
        let found = self
            .job(&delivery.id)
            .await
            .and_then(|job| serde_json::from_str::<Now>(job.get()).map_err(|error| Error::json("job of the server", error)));
        match found {
            Ok(now) => {
                let is_runnable = now.state == "active" || (now.state == "available" && !delivery.is_fenced);
                !is_runnable || now.attempt > delivery.attempt
            }
            Err(error) if status(&error) == Some(404) => true,
            Err(error) => {
                tracing::warn!(job = %delivery.id, %error, "a job came again, and the server cannot be asked about it");
                false
            }
        }
    }

    /// The delivery with the whole job, which is read from the server if the message refers to it.
    async fn whole(&self, delivery: Delivery) -> Result<Delivery, Error> {
        if delivery.is_whole() || !self.has_server {
            return Ok(delivery);
        }
        let job = self.job(&delivery.id).await?;
        let checkpoint = match delivery.refers_to_checkpoint() {
            true => self.checkpoint(&delivery.id).await?,
            false => None,
        };
        delivery.completed(job.get(), checkpoint.as_deref())
    }

    /// The checkpoint of a job that the server has; `None` when it keeps none for the job. Not every server keeps
    /// checkpoints: one without them answers 404, in a form of its own, and this does not say that the job is gone.
    async fn checkpoint(&self, id: &str) -> Result<Option<Bytes>, Error> {
        match self.read(format!("/jobs/{}/checkpoint", segment(id))).await {
            Ok(saved) => Ok(Some(saved)),
            Err(error) if error.status() == Some(404) => {
                tracing::warn!(job = %id, %error, "the server has no checkpoint of a job, which begins without it");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn job(&self, id: &str) -> Result<Box<RawValue>, Error> {
        #[derive(Deserialize)]
        struct Found {
            job: Box<RawValue>,
        }
        let answer = self.read(format!("/jobs/{}", segment(id))).await?;
        let found: Found = serde_json::from_slice(&answer).map_err(|error| Error::json("job of the server", error))?;
        Ok(found.job)
    }

    async fn read(&self, path: String) -> Result<Bytes, Error> {
        let answer = self.call(Request::get(path)).await?;
        if answer.is_success() { Ok(answer.body) } else { Err(Error::from_response(&answer)) }
    }

    /// Whether the server has the outcome. One that answers that the job is settled, or another worker's by now, has
    /// it.
    async fn report(&self, id: &str, ended: &Ended) -> bool {
        let refused = match self.send(ended).await {
            Ok(()) => return true,
            Err(error) => error,
        };
        match status(&refused) {
            Some(404 | 409) => {
                tracing::warn!(job = %id, error = %refused, "the outcome of a job was not taken");
                true
            }
            Some(400 | 413 | 422) if ended.is_completed() => {
                // The result is the reason: the same result would be refused again.
                let message = format!("The server refused the result: {refused}");
                let code = "serialization_error".to_owned();
                let failure = HandlerFailure { code, retryable: false, ..HandlerFailure::error("ResultRefused", message) };
                self.send(&ended.failed(failure)).await.is_ok()
            }
            _ => {
                tracing::error!(job = %id, error = %refused, "the outcome of a job did not reach the server");
                false
            }
        }
    }

    async fn send(&self, ended: &Ended) -> Result<(), Error> {
        let (path, body) = ended.call();
        let answer = self.call(Request::post(path, body)).await?;
        if answer.is_success() { Ok(()) } else { Err(Error::from_response(&answer)) }
    }

    async fn call(&self, request: Request) -> Result<Response, Error> {
        let late = || TransportError::new(TransportErrorKind::Timeout, format!("no answer within {} s", CALL.as_secs()));
        let mut failed = late();
        for _ in 0..SENDS {
            match timeout(CALL, self.worker.transport().request(request.clone())).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => failed = error,
                Err(_) => failed = late(),
            }
        }
        Err(failed.into())
    }
}

/// The status of a refusal in the form of the protocol: a 404 of a proxy does not say that a job is gone.
fn status(error: &Error) -> Option<u16> {
    error.ojs().map(|refusal| refusal.status)
}
